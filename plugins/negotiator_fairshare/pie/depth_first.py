"""Depth first: a match stands for as many jobs of its request as the slot holds.

Source: HTCondor manual, NEGOTIATOR_DEPTH_FIRST; condor_negotiator 25.14.1, which counts Cpus and Memory only, as integers, of
static slots too. What is not a number, and a request below 1, counts as 1.
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
_MOST = 2**31


@attrs.frozen(eq=False)
class DepthFirst:
    """The slots of a cycle, each filled by one match."""

    slots: Table
    env: Environment

    def jobs_per_slot(self, queued: QueuedRequest) -> JobCounts:
        """Return how many jobs of a request each slot holds: 0 if it is smaller than what the job requests."""
        found = np.full(len(self.slots), _MOST, np.int64)
        for amount, requested in _RESOURCES:
            has = evaluate_table(amount, self.slots, env=self.env)
            needs = evaluate_table(requested, self.slots, queued.request.ad, side=Side.TARGET, env=self.env)
            holds = _integers(has.numbers(1.0)).clip(min=0) // _integers(needs.numbers(1.0)).clip(min=1)
            found = np.minimum(found, holds)
        return found


def _integers(values: NDArray[np.float64]) -> JobCounts:
    """Return numbers without their fractions; hostile ones are replaced by the nearest of 32 bits."""
    integers: JobCounts = np.nan_to_num(np.trunc(values)).clip(-_MOST, _MOST).astype(np.int64)
    return integers
