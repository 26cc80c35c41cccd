"""The order ``queues``: the queue tree decides whose turn it is, level by level; the policy of each leaf decides which job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import (
    ClaimedAllowance,
    Feedback,
    OrderContext,
    OrderResult,
    QueuedRequest,
    RequestOrder,
    Resources,
    ShareUse,
    SlotAllowance,
    SlotOffer,
    StopCause,
    Weights,
)
from negotiator_queue_order.leaf_jobs import JobColumns, LeafJobs, RunningJobs
from negotiator_queue_order.machines import Machines
from negotiator_queue_order.preemption import EligibleVictims, QueuePreemptor, rules_of
from negotiator_queue_order.queues import QueueNode, Queues, SortKey, add_amounts
from negotiator_queue_order.settings import QueueOrderSettings, QueueTurns
from negotiator_queue_order.state_rows import WaitingTimes, is_due, rows_after
from negotiator_queue_order.turns import Leaf, PreemptingTurns, Turn

Ints = NDArray[np.int64]
#: One turn may take 1/8 of the slots that its queue got, and of those left for it (QueueTurns.BATCHED).
_BATCH = 8


@attrs.define(eq=False)
class UnservedJobs:
    """How many jobs of each ad have no slot, (J,), by row of the table of jobs, and of each request, by number."""

    of_ad: Ints
    of_request: dict[int, int]

    @classmethod
    def of(cls, requests: Sequence[QueuedRequest], jobs: int) -> Self:
        """Return the jobs at the beginning."""
        of_ad = np.zeros(jobs, np.int64)
        for queued in requests:
            of_ad[queued.ads] = 1  # an ad beyond ``rows`` has at least one job
        for queued in requests:
            rows, counts = np.unique(queued.rows, return_counts=True)
            of_ad[rows] = counts
        return cls(of_ad, {queued.number: queued.request.count for queued in requests})

    def turn(self, queued: QueuedRequest, copies: Ints, scores: NDArray[np.float64] | None) -> QueuedRequest:
        """Return the request of a turn for some of its jobs.

        :param copies: the places of the jobs in ``queued.rows``, (M,).
        """
        names = queued.request.applications
        chosen = tuple(names[copy] for copy in copies.tolist())
        request = attrs.evolve(queued.request, applications=chosen, count=self.of_request[queued.number])
        rows = queued.rows[copies]
        own, counts = np.unique(rows, return_counts=True)
        # An ad with jobs beyond this turn's is not served by them: it has one row more.
        rows = np.concatenate([rows, own[self.of_ad[own] > counts]])
        ads = queued.ads[self.of_ad[queued.ads] > 0]
        return QueuedRequest(queued.number, request, rows, len(copies), ads, kind=queued.kind, scores=scores)

    def served(self, queued: QueuedRequest, copies: Ints) -> None:
        """Count jobs that got slots."""
        np.subtract.at(self.of_ad, queued.rows[copies], 1)
        self.of_request[queued.number] -= len(copies)


@attrs.frozen
class QueueRecord:
    """A queue with waiting jobs, after the cycle.

    ``share`` is the largest part of its guarantee that it uses. ``granted`` is the number of slots that it got; jobs were
    ended on ``ended`` of them.
    """

    path: str
    priority: int
    share_before: float
    share: float
    granted: int
    ended: int = 0

    @property
    def share_use(self) -> ShareUse:
        """What it was entitled to, its guarantee, and the part of it that it used."""
        return ShareUse(
            holder=self.path,
            entitled=1.0,
            used_before=self.share_before,
            used=self.share,
            granted=self.granted,
            priority=float(self.priority),
            unit="part of the guarantee",
        )


@attrs.define(eq=False)
class QueueOrder(RequestOrder):
    """Each turn goes to the first queue on each level, and there to the first job of the leaf.

    When all free slots are granted, queues below their guaranteed resources have turns that end running jobs.
    """

    queues: Queues
    leaves: Mapping[str, Leaf]
    machines: Machines
    unserved: UnservedJobs
    amounts: Mapping[int, Resources]  # what one job of each request counts for, by its number
    settings: QueueOrderSettings
    context: OrderContext
    running: RunningJobs | None  # None: no job is ended in this cycle
    waiting: WaitingTimes | None  # None: no job is ever ended under this bundle
    _ones: Weights
    _preempting: PreemptingTurns | None = None
    _checked: bool = False
    _turn: Turn | None = None
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
        for claims in context.in_use:
            request = claims.request
            queues.count_usage(request.queue, request.resources, request.count)
            for name in request.applications:
                add_amounts(applications.setdefault(name, {}), request.resources)
        policy = context.partition.node_sort
        settings = context.settings or QueueOrderSettings()
        leaves = _leaves(context, queues, amounts, applications)
        running, waiting = None, None
        if context.partition.preemption and queues.have_guarantees:
            waiting = WaitingTimes.of(context, {path: leaf.jobs.requests for path, leaf in leaves.items()})
            if is_due(context, settings.queue_preemption):
                running = RunningJobs.of(context.in_use, context.slots, env)
        return cls(
            queues,
            leaves,
            Machines.of(policy, context.slots, slots, env),
            UnservedJobs.of(context.requests, len(context.jobs)),
            amounts,
            settings,
            context,
            running,
            waiting,
            np.ones(len(context.slots)),
        )

    def offer(self) -> SlotOffer | None:
        """Return the slots, with those whose jobs may be ended."""
        rules = None if self.running is None else rules_of(self.running)
        return None if rules is None else SlotOffer(self.context.slots, preemption=rules)

    def next(self) -> QueuedRequest | None:
        """Return the request of the next turn."""
        if self._preempting is None:
            if self.queues.root.waiting:
                return self._turn_of_free_slots()
            if self.running is None or not len(self.running.slots):
                return None
            self._preempting = self._begin_preempting(self.running)
        while self.queues.root.waiting:
            leaf, _ = self._first_leaf()
            self._turn = self._preempting.turn(leaf)
            if self._turn is not None and self._turn.eligible is not None:
                return self._preempting_request(self._turn, self._turn.eligible)
            self._end_turns(leaf)
        return None

    def _first_leaf(self) -> tuple[Leaf, list[tuple[QueueNode, SortKey | None]]]:
        """Return the first leaf, and the queues on the way to it, each with the sort key of its first rival."""
        node, rivals = self.queues.root, []
        while node.path not in self.leaves:
            node, rival = node.first_child()
            rivals.append((node, rival))
        return self.leaves[node.path], rivals

    def _turn_of_free_slots(self) -> QueuedRequest:
        leaf, rivals = self._first_leaf()
        place, most = leaf.jobs.next_run()
        queued = leaf.jobs.requests[place]
        for each, rival in rivals:
            most = each.copies_while_first(self.amounts[queued.number], most, rival)
        most = max(most, self._batch(leaf, queued))
        offers_all = place in leaf.quota_refused
        jobs = leaf.jobs.of_request(place) if offers_all else leaf.jobs.among_first(place, most)
        self._turn = Turn(leaf, place, jobs, min(most, len(jobs)))
        turn = self.unserved.turn(queued, leaf.jobs.copy[jobs], self.machines.scores)
        return attrs.evolve(turn, slots=SlotAllowance(self._ones, most, most)) if offers_all else turn

    def _begin_preempting(self, running: RunningJobs) -> PreemptingTurns:
        """Offer the jobs without slots again, if enough of the pool is in use."""
        root, now = self.queues.root, self.context.cycle.now
        is_used = root.share >= self.settings.queue_preemption.threshold
        sources = {queue.path: queue.source for queue in self.context.partition.root.walk()}
        turns = PreemptingTurns(QueuePreemptor.of(self.queues, running, root.fair_max, sources), self.amounts)
        if is_used and self.waiting is not None:
            self._checked = turns.offer_again(self.leaves.values(), self.waiting.since, now)
        return turns

    def _preempting_request(self, turn: Turn, eligible: EligibleVictims) -> QueuedRequest:
        """Return the request of a turn that ends running jobs for one of its own."""
        queued = turn.leaf.jobs.requests[turn.request]
        request = self.unserved.turn(queued, turn.leaf.jobs.copy[turn.jobs], eligible.scores)
        claimed = ClaimedAllowance(1.0, victims=eligible.victims)
        return attrs.evolve(request, slots=SlotAllowance(self._ones, 1.0, 1.0, claimed=claimed))

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
            self._count(leaf, self.amounts[queued.number], granted)
        if self._preempting is not None and turn.eligible is not None:
            self._ended(self._preempting, turn, feedback)
        else:
            self.machines.take(feedback.slots)
            if granted < turn.most:
                self._refused(turn, feedback.cause, granted)
        self._end_turns(leaf)

    def _ended(self, preempting: PreemptingTurns, turn: Turn, feedback: Feedback) -> None:
        """Count the running jobs that a turn ended; withdraw jobs if it ended none."""
        for slot in feedback.ended.tolist():
            preempting.preemptor.ended(slot, turn.leaf.node)
            turn.leaf.ended += 1
        if not len(feedback.slots):
            preempting.refused(turn)

    def _end_turns(self, leaf: Leaf) -> None:
        """Give a leaf without further jobs no more turns."""
        if not len(leaf.jobs.left) or (
            self._preempting is not None and not self._preempting.may_continue(leaf)
        ):
            leaf.end_turns()

    def ended(self) -> OrderResult:
        """Return the shares of the queues, the time if it was checked whether jobs are to be ended, and since when others wait."""
        records = tuple(
            QueueRecord(
                *(path, leaf.node.priority, leaf.share_before, leaf.node.share, leaf.granted, leaf.ended),
            )
            for path, leaf in sorted(self.leaves.items())
        )
        waiting = {} if self.waiting is None else self.waiting.rows_of(self.unserved.of_ad)
        rows = rows_after(self.context, checked=self._checked, waiting=waiting)
        return OrderResult(rows, records, shares=tuple(each.share_use for each in records))

    def _batch(self, leaf: Leaf, queued: QueuedRequest) -> int:
        """Return how many jobs a turn may serve although others come first in between."""
        if self.settings.queue_turns is QueueTurns.EXACT:
            return 1
        left = self._candidates.get(queued.number, 0) - self._granted
        return max(1, min(leaf.granted, left // self.queues.root.waiting) // _BATCH)

    def _count(self, leaf: Leaf, amounts: Resources, granted: int) -> None:
        """Count jobs that got slots in the leaf and the queues above it."""
        for node in leaf.node.upwards():
            add_amounts(node.used, amounts, granted)
            add_amounts(node.pending, amounts, -granted)
        _set_priority(leaf)

    @staticmethod
    def _refused(turn: Turn, cause: StopCause, granted: int) -> None:
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
) -> dict[str, Leaf]:
    """Return the leaves with waiting jobs by path, and count these in the queues above them."""
    found: dict[str, list[QueuedRequest]] = {}
    for queued in context.requests:
        queues.node(queued.request.queue)
    for queued in context.requests:
        found.setdefault(queues.leaf(queued.request.queue).path, []).append(queued)
    leaves, columns = {}, JobColumns.of(context.jobs)
    for path, requests in found.items():
        node = queues.nodes[path]
        jobs = LeafJobs.of(*(requests, columns, node.properties, node.guaranteed, amounts, applications))
        leaves[path] = Leaf(node, jobs, node.share)
        leaves[path].await_turns()
        for each in node.upwards():
            for queued in requests:
                add_amounts(each.pending, amounts[queued.number], queued.request.count)
        _set_priority(leaves[path])
    return leaves


def _set_priority(leaf: Leaf) -> None:
    """Recompute the priorities of a leaf and the queues above it; their sort keys change."""
    highest = leaf.jobs.highest
    for node in leaf.node.upwards():
        node.priority = node.priority_for_parent(highest)
        node.reset_sort_key()
        if node.parent is not None:
            highest = max(child.priority for child in node.parent.children)
