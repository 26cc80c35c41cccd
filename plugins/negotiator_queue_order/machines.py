"""Which machines are filled first: the scores of slots under ``nodesortpolicy``.

Source: YuniKorn's documentation, "Node sorting"; its ``absResourceUsage``. The use of a machine is the part of each
resource that its claimed slots hold, averaged by weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import (
    Environment,
    Mask,
    NodeSortKind,
    NodeSortPolicy,
    Table,
    evaluate_table,
    parse,
)

Rows = NDArray[np.intp]
Numbers = NDArray[np.float64]

_IN_USE = parse('stringListIMember(MY.State, "Claimed,Matched,Preempting")')
_WEIGHTS: Mapping[str, float] = {"vcore": 1.0, "memory": 1.0}


@attrs.define(eq=False)
class Machines:
    """The machines of a pool and what is used of them, as slots are granted.

    ``scores`` (S,) are the largest for slots to be taken first. ``by_machine`` (S,) has the rows machine by machine, in
    the order of the pool; those of machine m begin at ``starts[m]``.
    """

    kind: NodeSortKind
    weights: Numbers  # (R,)
    amounts: Numbers  # (S, R) what each slot has
    machine: Rows  # (S,)
    by_machine: Rows
    starts: Rows  # (M + 1,)
    whole: Numbers  # (M, R) what each machine has
    used: Numbers  # (M, R)
    free: Mask  # (S,)
    scores: Numbers

    @classmethod
    def of(
        cls, policy: NodeSortPolicy, slots: Table, amounts: Mapping[str, Numbers], env: Environment
    ) -> Self:
        """Return the machines of a cycle.

        :param amounts: what each slot has of each resource, (S,).
        """
        weights = {name: weight for name, weight in (policy.weights or _WEIGHTS).items() if weight > 0}
        counted = [name for name in sorted(weights) if name in amounts]
        table = (
            np.stack([amounts[name] for name in counted], axis=1) if counted else np.zeros((len(slots), 0))
        )
        machine, first = slots.group(["Machine"])
        by_machine = np.argsort(machine, kind="stable")
        starts = np.searchsorted(machine[by_machine], np.arange(len(first) + 1))
        free = ~evaluate_table(_IN_USE, slots, env=env).is_true()
        whole, used = np.zeros((2, len(first), len(counted)))
        np.add.at(whole, machine, table)
        np.add.at(used, machine[~free], table[~free])
        own = np.array([weights[name] for name in counted])
        machines = cls(
            *(policy.kind, own, table, machine, by_machine, starts, whole, used, free),
            scores=np.zeros(len(slots)),
        )
        machines._score(np.arange(len(first)))
        return machines

    def take(self, rows: Rows) -> None:
        """Count slots as used."""
        np.add.at(self.used, self.machine[rows], self.amounts[rows])
        self.free[rows] = False
        self.scores = self.scores.copy()  # those of earlier turns may still be read
        self._score(np.unique(self.machine[rows]))

    def _score(self, machines: Rows) -> None:
        """Compute the scores of the free slots of some machines.

        Under ``fair``, the further free slots of a machine score as if those before them were used: so a turn that takes
        many slots spreads them.
        """
        counts = self.starts[machines + 1] - self.starts[machines]
        ends = np.cumsum(counts)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
            self.starts[machines] - (ends - counts), counts
        )
        rows = self.by_machine[places]
        rows, owner = rows[self.free[rows]], np.repeat(machines, counts)[self.free[rows]]
        used = self.used[owner]
        if self.kind is NodeSortKind.FAIR and len(rows):
            sums = np.cumsum(self.amounts[rows], axis=0) - self.amounts[rows]
            first = np.flatnonzero(np.diff(owner, prepend=-1))
            used = used + sums - np.repeat(sums[first], np.diff(np.append(first, len(owner))), axis=0)
        use = self._use(used, self.whole[owner])
        self.scores[rows] = use if self.kind is NodeSortKind.BINPACKING else -use

    def _use(self, used: Numbers, whole: Numbers) -> Numbers:
        """Return the part of machines that is used, (K,); resources that a machine does not have are left out."""
        weights = np.where(whole > 0, self.weights, 0.0)
        total = weights.sum(axis=1)
        parts = (used / np.where(whole > 0, whole, 1.0) * weights).sum(axis=1)
        use: Numbers = parts / np.where(total > 0, total, 1.0)
        return use
