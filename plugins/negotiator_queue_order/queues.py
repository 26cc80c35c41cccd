"""The queue tree of one cycle: priorities, how much of its share a queue or an application uses, and which child is served first.

Source: YuniKorn's documentation, "Sorting Policies" and "Priorities"; its ``sortQueues``, ``GetCurrentPriority``, ``getFairShare`` and
``CompUsageRatio``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import (
    MAX_PRIORITY,
    MAXIMA_MODE,
    MIN_PRIORITY,
    ROOT,
    Mode,
    PriorityPolicy,
    QueueSettings,
    QueueTree,
    Resources,
    effective_settings,
    parent_of,
    upwards,
)

#: (N, R) numbers by application and resource.
Matrix = NDArray[np.float64]
_DEFAULTS = QueueSettings()


def fair_share(used: Resources, guaranteed: Resources, fair_max: Resources) -> float:
    """Return the largest part of its guaranteed resources that a queue uses.

    The use of a resource without a guarantee is divided by ``fair_max``, the most that the queue could use; a resource
    without either does not count. If 0 is guaranteed, any use is the part 1.
    """
    share = 0.0
    for resource, amount in used.items():
        whole = guaranteed.get(resource, fair_max.get(resource))
        if whole is None or amount <= 0:
            continue
        share = max(share, amount / whole if whole > 0 else 1.0)
    return share


def usage_shares(usage: Matrix, guaranteed: Resources, resources: tuple[str, ...]) -> Matrix:
    """Return the parts of their queue's guarantee that applications use, (N, R), the largest of each first.

    The amount itself counts for a resource without a guarantee.
    """
    wholes = np.array([guaranteed.get(resource, 0) or 1 for resource in resources], np.float64)
    shares: Matrix = -np.sort(-(usage / wholes), axis=1)
    return shares


def add_amounts(amounts: dict[str, int], other: Mapping[str, int], times: int = 1) -> None:
    """Add ``times`` times other amounts to ``amounts``."""
    for resource, amount in other.items():
        amounts[resource] = amounts.get(resource, 0) + times * amount


#: Sorts the children of a queue, the least first.
SortKey: TypeAlias = tuple[float | tuple[int, ...] | str, ...]


@attrs.define(eq=False)
class QueueNode:
    """One queue.

    ``used`` and ``pending`` include the queues below it. ``priority`` is the highest of its waiting jobs, as its parent
    compares it. ``waiting`` is the number of leaves, itself or below it, that may still get slots.
    """

    path: str
    properties: QueueSettings
    guaranteed: Resources
    fair_max: Resources
    parent: QueueNode | None
    children: list[QueueNode] = attrs.field(factory=list)
    used: dict[str, int] = attrs.field(factory=dict)
    pending: dict[str, int] = attrs.field(factory=dict)
    priority: int = MIN_PRIORITY
    waiting: int = 0
    _sort_key: SortKey | None = None

    def upwards(self) -> Iterator[QueueNode]:
        """Yield the queue and those above it, the root last."""
        node: QueueNode | None = self
        while node is not None:
            yield node
            node = node.parent

    @property
    def share(self) -> float:
        """The largest part of its guaranteed resources that it uses."""
        return fair_share(self.used, self.guaranteed, self.fair_max)

    def sort_key(self) -> SortKey:
        """Return what sorts it among its siblings."""
        if self._sort_key is None:
            self._sort_key = self.sort_key_after({}, 0)
        return self._sort_key

    def sort_key_after(self, amounts: Resources, copies: int) -> SortKey:
        """Return the sort key that it has once this number of copies of a job with these amounts have slots."""
        used, pending = self.used, self.pending
        if copies:
            used, pending = dict(used), dict(pending)
            add_amounts(used, amounts, copies)
            add_amounts(pending, amounts, -copies)
        share = fair_share(used, self.guaranteed, self.fair_max)
        by_priority = self.parent is None or self.parent.properties.by_priority
        first = (-self.priority, share) if by_priority else (share, -self.priority)
        # The larger demand first. Not all demands are comparable: the resources decide in the order of their names.
        demand = tuple(-pending[resource] for resource in sorted(pending))
        return (*first, demand, self.path)

    def reset_sort_key(self) -> None:
        """Recompute the sort key when it is next needed."""
        self._sort_key = None

    def priority_for_parent(self, highest: int) -> int:
        """Return the priority that the parent compares, given the highest priority below."""
        if highest == MIN_PRIORITY:
            return highest
        if self.properties.priority is PriorityPolicy.FENCE:
            return self.properties.offset
        return max(MIN_PRIORITY, min(MAX_PRIORITY, highest + self.properties.offset))

    def first_child(self) -> tuple[QueueNode, SortKey | None]:
        """Return the first of the children with waiting leaves, and the sort key of the second, None without one."""
        waiting = [child for child in self.children if child.waiting]
        first = min(waiting, key=QueueNode.sort_key)
        rivals = [child.sort_key() for child in waiting if child is not first]
        return first, min(rivals, default=None)

    def copies_while_first(self, amounts: Resources, most: int, rival: SortKey | None) -> int:
        """Return how many copies of a job may get slots, one after the other, before another child is first."""
        if rival is None:
            return most
        return bisect_left(
            range(most), True, lo=1, key=lambda copies: self.sort_key_after(amounts, copies) > rival
        )


@attrs.frozen(eq=False)
class Queues:
    """All queues of one cycle by path."""

    nodes: dict[str, QueueNode]

    @classmethod
    def of(cls, tree: QueueTree, capacity: Resources) -> Queues:
        """Return the queues, without jobs.

        :param capacity: what the pool has of each resource.
        """
        properties = effective_settings(tree)
        nodes = {ROOT: QueueNode(ROOT, properties.get(ROOT, _DEFAULTS), {}, capacity, None)}
        queues = cls(nodes)
        for queue in tree:
            if queue.path != ROOT:
                own = properties[queue.path]
                enforced = tree.mode(queue.path, MAXIMA_MODE) is Mode.ENFORCE
                queues._add(queue.path, own, queue.config.guaranteed, queue.config.max if enforced else {})
        return queues

    @property
    def root(self) -> QueueNode:
        """The root queue."""
        return self.nodes[ROOT]

    @property
    def have_guarantees(self) -> bool:
        """True if any queue has guaranteed resources."""
        return any(node.guaranteed for node in self.nodes.values())

    def node(self, path: str) -> QueueNode:
        """Return a queue; one that is not in the tree gets default settings. Jobs without a queue are in ``root.default``."""
        path = path if path.startswith(f"{ROOT}.") else f"{ROOT}.default"
        for each in reversed(list(upwards(path))):
            if each not in self.nodes:
                self._add(each, _DEFAULTS, {}, {})
        return self.nodes[path]

    def leaf(self, path: str) -> QueueNode:
        """Return the leaf for the jobs of a path; jobs that a parent queue has itself are in a leaf below it."""
        node = self.node(path)
        if not node.children:
            return node
        own = f"{node.path}.@jobs"
        if own not in self.nodes:
            self._add(own, _DEFAULTS, {}, {})
        return self.nodes[own]

    def count_usage(self, path: str, amounts: Resources, jobs: int) -> None:
        """Count jobs that have slots."""
        for node in self.node(path).upwards():
            add_amounts(node.used, amounts, jobs)
            node.reset_sort_key()

    def _add(self, path: str, properties: QueueSettings, guaranteed: Resources, most: Resources) -> None:
        parent = self.nodes[parent_of(path)]
        fair_max = {**parent.fair_max, **most} if parent.fair_max else {}
        own = guaranteed if any(guaranteed.values()) else {}
        self.nodes[path] = QueueNode(path, properties, own, fair_max, parent)
        parent.children.append(self.nodes[path])
