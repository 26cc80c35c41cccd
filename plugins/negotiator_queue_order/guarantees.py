"""Who may end whose jobs: the guaranteed resources, the fences and the priorities of all queues, as arrays.

Source: YuniKorn's documentation, "Preemption" and "Priorities"; its ``findPreemptionFenceRoot``,
``findEligiblePreemptionVictims`` and ``GetRemainingGuaranteedResource``.

A queue and the queue of a job that it ends are compared below the nearest queue that is above both. On the way up to it,
each queue on the one side stays within its guaranteed resources, each queue on the other side keeps them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Self, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import Mask, PreemptionPolicy, PriorityPolicy, Resources
from negotiator_queue_order.queues import Matrix, QueueNode

#: The queues above a leaf whose other children it may take from, nearest first.
Levels: TypeAlias = tuple[QueueNode, ...]


@attrs.frozen(eq=False)
class Eligibility:
    """Of which queues a queue may end jobs, and how much of their resources, (Q,) and (Q, R).

    ``ahead`` is its priority less that of a job of priority 0 in the queue, -inf where it may take nothing; ``counts``
    is 1 where the priority of the job itself counts too, 0 below a fence. ``spare`` is what each queue and those above it have
    beyond their guarantees, ``own_spare`` what it has by itself.
    """

    ahead: NDArray[np.float64]
    counts: NDArray[np.float64]
    spare: Matrix
    own_spare: Matrix


@attrs.frozen(eq=False)
class Guarantees:
    """The queues as rows, each after the one above it, (Q,)."""

    rows: dict[str, int]
    levels: Sequence[NDArray[np.intp]]  # the rows of each depth below the root
    parent: NDArray[np.intp]
    offset: NDArray[np.float64]
    fenced: Mask
    resources: tuple[str, ...]
    guaranteed: Matrix  # (Q, R), -inf without a guarantee
    used: Matrix  # (Q, R)

    @classmethod
    def of(cls, nodes: Iterable[QueueNode], resources: Sequence[str]) -> Self:
        """Return the table of all queues."""
        nodes = sorted(nodes, key=_depth)
        rows = {node.path: row for row, node in enumerate(nodes)}
        depths = np.array([_depth(node) for node in nodes])
        return cls(
            rows,
            [np.flatnonzero(depths == depth) for depth in range(1, int(depths[-1]) + 1)],
            np.array([rows[node.parent.path] if node.parent else -1 for node in nodes], np.intp),
            np.array([node.properties.offset for node in nodes], np.float64),
            np.array([node.properties.priority is PriorityPolicy.FENCE for node in nodes], np.bool_),
            tuple(resources),
            _table([[node.guaranteed.get(name, -np.inf) for name in resources] for node in nodes]),
            _table([[node.used.get(name, 0) for name in resources] for node in nodes]),
        )

    def update(self, leaf: QueueNode) -> None:
        """Read the use of a queue, and of those above it, again."""
        for node in leaf.upwards():
            self.used[self.rows[node.path]] = [node.used.get(name, 0) for name in self.resources]

    def at_depths(self, rows: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
        """Yield the queue of each depth above some queues, (K,), or the queue itself where it lies higher; the deepest first."""
        for level in reversed(self.levels):
            yield rows
            rows = np.where(np.isin(rows, level), self.parent[rows], rows)

    def eligibility(self, leaf: QueueNode, levels: Levels, priority: int) -> Eligibility:
        """Return what a leaf may take for a job of this priority from the queues below some of those above it."""
        ahead, counts = np.full(len(self.rows), -np.inf), np.ones(len(self.rows))
        spare = self.used - self.guaranteed
        above = [self.rows[node.path] for node in leaf.upwards()]
        spare[above] = np.inf
        own_spare = spare.copy()
        own = np.full(len(above), -np.inf)
        for place, node in enumerate(leaf.upwards()):
            if node in levels:
                own[place] = priority
            priority = node.priority_for_parent(priority)
        ahead[above] = own
        for rows in self.levels:
            parents = self.parent[rows]
            free = counts[parents] > 0
            ahead[rows] = ahead[parents] - np.where(free, self.offset[rows], 0.0)
            counts[rows] = free & ~self.fenced[rows]
            ahead[above], counts[above] = own, 1.0
            spare[rows] = np.minimum(spare[rows], spare[parents])
            spare[above] = np.inf
        ahead[above] = -np.inf  # these are no queues of others
        return Eligibility(ahead, counts, spare, own_spare)


def levels_of(leaf: QueueNode, amounts: Resources) -> Levels:
    """Return the queues, nearest first, from whose other children a leaf may take slots for a job.

    A queue on the way has guaranteed some resource that the job requests, and all that have stay within their guarantees.
    None lies above a fence.
    """
    found, has_guarantee = [], False
    for node in leaf.upwards():
        if has_guarantee:
            found.append(node)
        if node.properties.preemption is PreemptionPolicy.FENCE:
            break
        for name, amount in amounts.items():
            if amount > 0 and name in node.guaranteed:
                has_guarantee = True
                if node.used.get(name, 0) + amount > node.guaranteed[name]:
                    return tuple(found)
    return tuple(found)


def guaranteeing(leaf: QueueNode, amounts: Resources) -> QueueNode:
    """Return the queue, the leaf or the nearest above it, that has guaranteed a resource that a job requests."""
    return next(
        (
            node
            for node in leaf.upwards()
            if any(amounts[name] > 0 and name in node.guaranteed for name in amounts)
        ),
        leaf,
    )


def _table(rows: list[list[float]]) -> Matrix:
    return np.array(rows, np.float64).reshape(len(rows), -1)


def _depth(node: QueueNode) -> int:
    return sum(1 for _ in node.upwards()) - 1
