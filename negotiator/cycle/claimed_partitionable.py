"""Claimed partitionable slots: a schedd holds one, and divides what is left of it among its own jobs.

Source: condor_negotiator 25.14.1, which keeps such a slot, and offers it to the jobs of the schedd in RemoteScheddName.
"""

from __future__ import annotations

from typing import Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Environment, Table, bind, evaluate_table, parse
from negotiator.cycle.jobs import names
from negotiator.hooks.records import Mask
from negotiator.ledger import Rows

_PARTITIONABLE = bind(parse('MY.PartitionableSlot =?= true && MY.State == "Claimed"'))


@attrs.frozen(eq=False)
class ClaimedPartitionable:
    """The rows of such slots, (P,), and the schedds that hold them, in lower case; empty if any may match one."""

    rows: Rows
    schedds: NDArray[np.object_]
    slots: int  # of the cycle

    @classmethod
    def of(cls, slots: Table, env: Environment) -> Self:
        """Find the claimed partitionable slots."""
        rows = np.flatnonzero(evaluate_table(_PARTITIONABLE, slots, env=env).is_true())
        return cls(rows, names(slots.take(rows), "RemoteScheddName"), len(slots))

    def of_others(self, schedd: str) -> Mask:
        """Return the slots that another schedd holds, (N,)."""
        found = np.zeros(self.slots, np.bool_)
        found[self.rows[(self.schedds != "") & (self.schedds != schedd.lower())]] = True
        return found
