"""The order ``queues``: the queue tree decides whose turn it is, level by level; the policy of each leaf decides which job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import attrs
import numpy as np

from negotiator.plugin import (
    Feedback,
    OrderContext,
    OrderResult,
    QueuedRequest,
    RequestOrder,
    Resources,
    SlotAllowance,
    StopCause,
    Weights,
)
from negotiator_queue_order.leaf_jobs import Ints, LeafJobs
from negotiator_queue_order.machines import Machines
from negotiator_queue_order.queues import QueueNode, Queues
from negotiator_queue_order.settings import QueueOrderSettings, QueueTurns
from negotiator_queue_order.shares import add_amounts
from negotiator_queue_order.unserved import UnservedJobs

#: One turn may take 1/8 of the slots that its queue got, and of those left for it (QueueTurns.BATCHED).
_BATCH = 8


@attrs.frozen
class QueueRecord:
    """A queue with waiting jobs, after the cycle: ``share`` is the largest part of its guarantee that it uses."""

    path: str
    priority: int
    share_before: float
    share: float
    granted: int


@attrs.define(eq=False)
class _Leaf:
    """A leaf queue and its jobs. ``quota_refused`` are the requests of which quotas refused some jobs: a turn then offers all."""

    node: QueueNode
    jobs: LeafJobs
    share_before: float
    granted: int = 0
    quota_refused: set[int] = attrs.field(factory=set)


@attrs.frozen(eq=False)
class _Turn:
    leaf: _Leaf
    request: int  # its place among the requests of the leaf
    jobs: Ints  # their places in the leaf's jobs, (M,)
    most: int  # the number of jobs that may get slots


@attrs.define(eq=False)
class QueueOrder(RequestOrder):
    """Each turn goes to the first queue on each level, and there to the first job of the leaf."""

    queues: Queues
    leaves: Mapping[str, _Leaf]
    machines: Machines
    unserved: UnservedJobs
    amounts: Mapping[int, Resources]  # what one job of each request counts for, by its number
    settings: QueueOrderSettings
    _ones: Weights
    _turn: _Turn | None = None
    # At least so many slots are left for a request, by its number, when none of this cycle's were granted yet.
    _candidates: dict[int, int] = attrs.field(factory=dict)
    _granted: int = 0

    @classmethod
    def of(cls, context: OrderContext) -> Self:
        """Return the order of a cycle."""
        env = context.cycle.environment
        slots = context.slot_amounts()
        queues = Queues.of(context.queues, {name: int(own.sum()) for name, own in slots.items() if own.any()})
        amounts = _amounts(context.requests, slots)
        applications: dict[str, dict[str, int]] = {}
        for request in context.in_use:
            queues.count_usage(request.queue, request.resources, request.count)
            for name in request.applications:
                add_amounts(applications.setdefault(name, {}), request.resources)
        policy = context.partition.node_sort
        return cls(
            queues,
            _leaves(context, queues, amounts, applications),
            Machines.of(policy, context.slots, slots, env),
            UnservedJobs.of(context.requests, len(context.jobs)),
            amounts,
            context.settings or QueueOrderSettings(),
            np.ones(len(context.slots)),
        )

    def next(self) -> QueuedRequest | None:
        """Return the request of the next turn."""
        node = self.queues.root
        if not node.waiting:
            return None
        rivals = []
        while node.path not in self.leaves:
            node, rival = node.first_child()
            rivals.append((node, rival))
        leaf = self.leaves[node.path]
        place, most = leaf.jobs.next_run()
        queued = leaf.jobs.requests[place]
        for each, rival in rivals:
            most = each.copies_while_first(self.amounts[queued.number], most, rival)
        most = max(most, self._batch(leaf, queued))
        offers_all = place in leaf.quota_refused
        jobs = leaf.jobs.of_request(place) if offers_all else leaf.jobs.among_first(place, most)
        self._turn = _Turn(leaf, place, jobs, min(most, len(jobs)))
        turn = self.unserved.turn(queued, leaf.jobs.copy[jobs], self.machines.scores)
        return attrs.evolve(turn, slots=SlotAllowance(self._ones, most, most)) if offers_all else turn

    def feedback(self, feedback: Feedback) -> None:
        """Learn the outcome of a turn."""
        turn = self._turn
        if turn is None:  # no turn was given
            return
        leaf, granted = turn.leaf, len(feedback.copies)
        queued = leaf.jobs.requests[turn.request]
        self._candidates[queued.number] = feedback.candidates + self._granted
        self._granted += granted
        self.unserved.served(queued, leaf.jobs.copy[turn.jobs[feedback.copies]])
        leaf.jobs.served(turn.jobs[feedback.copies])
        if granted:
            leaf.granted += granted
            self.machines.take(feedback.slots)
            self._count(leaf, self.amounts[queued.number], granted)
        if granted < turn.most:
            self._refused(turn, feedback.cause, granted)
        if not len(leaf.jobs.left):
            for node in leaf.node.upwards():
                node.waiting -= 1

    def ended(self) -> OrderResult:
        """Return the shares of the queues."""
        records = tuple(
            QueueRecord(
                *(path, leaf.node.priority, leaf.share_before, leaf.node.share, leaf.granted),
            )
            for path, leaf in sorted(self.leaves.items())
        )
        return OrderResult(record=records)

    def _batch(self, leaf: _Leaf, queued: QueuedRequest) -> int:
        """Return how many jobs a turn may serve although others come first in between."""
        if self.settings.queue_turns is QueueTurns.EXACT:
            return 1
        left = self._candidates.get(queued.number, 0) - self._granted
        return max(1, min(leaf.granted, left // self.queues.root.waiting) // _BATCH)

    def _count(self, leaf: _Leaf, amounts: Resources, granted: int) -> None:
        """Count jobs that got slots in the leaf and the queues above it."""
        for node in leaf.node.upwards():
            add_amounts(node.used, amounts, granted)
            add_amounts(node.pending, amounts, -granted)
        _set_priority(leaf)

    @staticmethod
    def _refused(turn: _Turn, cause: StopCause, granted: int) -> None:
        """Withdraw the jobs that get no slot: all of the request, unless other applications may still fit the quotas."""
        jobs = turn.leaf.jobs
        if cause is StopCause.QUOTA and turn.request not in turn.leaf.quota_refused:
            turn.leaf.quota_refused.add(turn.request)
        elif cause is not StopCause.QUOTA or not granted:
            jobs.refused(jobs.of_request(turn.request))


def _amounts(requests: Sequence[QueuedRequest], slots: Mapping[str, Weights]) -> dict[int, Resources]:
    """Return what one job of each request counts for, by the number of the request.

    An amount that a job does not specify is that of the largest slot: nobody comes first by leaving it out.
    """
    largest = {name: int(own.max(initial=0)) for name, own in slots.items()}
    return {
        queued.number: {
            **queued.request.resources,
            **{name: largest.get(name, 0) for name in queued.request.unknown},
        }
        for queued in requests
    }


def _leaves(
    context: OrderContext,
    queues: Queues,
    amounts: Mapping[int, Resources],
    applications: Mapping[str, Resources],
) -> dict[str, _Leaf]:
    """Return the leaves with waiting jobs by path, and count these in the queues above them."""
    found: dict[str, list[QueuedRequest]] = {}
    for queued in context.requests:
        queues.node(queued.request.queue)
    for queued in context.requests:
        found.setdefault(queues.leaf(queued.request.queue).path, []).append(queued)
    leaves = {}
    for path, requests in found.items():
        node = queues.nodes[path]
        jobs = LeafJobs.of(*(requests, context.jobs, node.properties, node.guaranteed, amounts, applications))
        leaves[path] = _Leaf(node, jobs, node.share)
        for each in node.upwards():
            each.waiting += 1
            for queued in requests:
                add_amounts(each.pending, amounts[queued.number], queued.request.count)
        _set_priority(leaves[path])
    return leaves


def _set_priority(leaf: _Leaf) -> None:
    """Recompute the priorities of a leaf and the queues above it; their sort keys change."""
    highest = leaf.jobs.highest
    for node in leaf.node.upwards():
        node.priority = node.priority_for_parent(highest)
        node.reset_sort_key()
        if node.parent is not None:
            highest = max(child.priority for child in node.parent.children)
