"""Depth first: a match stands for as many jobs of its request as the slot holds.

Source: HTCondor manual, NEGOTIATOR_DEPTH_FIRST; condor_negotiator 25.14.1, which counts Cpus and Memory only, of static
slots too.
"""

from __future__ import annotations

from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import Environment, QueuedRequest, Side, Table, evaluate_table, parse

#: Numbers of jobs, one a slot, (S,).
JobCounts: TypeAlias = NDArray[np.int64]

_RESOURCES = tuple((parse(f"MY.{name}"), parse(f"MY.Request{name}")) for name in ("Cpus", "Memory"))
_MOST = 2.0**31


@attrs.frozen(eq=False)
class DepthFirst:
    """The slots of a cycle, each filled by one match."""

    slots: Table
    env: Environment

    def jobs_per_slot(self, queued: QueuedRequest) -> JobCounts:
        """Return how many jobs of a request each slot holds, at least 1."""
        found = np.full(len(self.slots), np.inf)
        for amount, requested in _RESOURCES:
            has = evaluate_table(amount, self.slots, env=self.env).numbers()
            needs = evaluate_table(
                requested, self.slots, queued.request.ad, side=Side.TARGET, env=self.env
            ).numbers()
            holds = np.floor_divide(has, needs, out=np.full(len(has), np.inf), where=needs > 0)
            found = np.fmin(found, holds)
        counts: JobCounts = np.where(np.isfinite(found), found, 1).clip(1, _MOST).astype(np.int64)
        return counts
