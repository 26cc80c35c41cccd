"""The turns of leaf queues with waiting jobs: first for free slots, then, below guaranteed resources, those that may end running jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from negotiator.plugin import Resources
from negotiator_queue_order.leaf_jobs import Ints, LeafJobs, Numbers
from negotiator_queue_order.preemption import MAX_ENDED_JOBS, EligibleVictims, QueuePreemptor
from negotiator_queue_order.queues import QueueNode


@attrs.define(eq=False)
class Leaf:
    """A leaf queue and its jobs.

    ``quota_refused`` are the requests of which quotas refused some jobs: a turn then offers all. ``ended`` is the number of
    running jobs that were ended for its jobs.
    """

    node: QueueNode
    jobs: LeafJobs
    share_before: float
    granted: int = 0
    ended: int = 0
    quota_refused: set[int] = attrs.field(factory=set)

    def await_turns(self) -> None:
        """Count the leaf as waiting in the queues above it."""
        for node in self.node.upwards():
            node.waiting += 1

    def end_turns(self) -> None:
        """Give the leaf no more turns."""
        for node in self.node.upwards():
            node.waiting -= 1


@attrs.frozen(eq=False)
class Turn:
    """Some jobs of a request of a leaf, of which ``most`` may get slots; ``eligible`` None: free slots."""

    leaf: Leaf
    request: int  # its place among the requests of the leaf
    jobs: Ints  # their places in the leaf's jobs, (M,)
    most: int
    eligible: EligibleVictims | None = None


@attrs.frozen(eq=False)
class PreemptingTurns:
    """Chooses the job of each turn, and the running jobs that it may end."""

    preemptor: QueuePreemptor
    amounts: Mapping[int, Resources]  # what one job of each request counts for, by its number

    def offer_again(self, leaves: Iterable[Leaf], since: Numbers, now: float) -> bool:
        """Offer the jobs that have waited for ``preemption.delay`` again; False if there are none.

        :param since: since when each job waits, (J,) by row of the table of jobs.
        """
        found = False
        for leaf in leaves:
            leaf.jobs.offer_again(since[leaf.jobs.rows] + leaf.node.properties.preemption_delay <= now)
            if len(leaf.jobs.left):
                leaf.await_turns()
                found = True
        return found

    def turn(self, leaf: Leaf) -> Turn | None:
        """Return the turn of a leaf, or withdraw jobs of its first request, which may end none, and return None."""
        jobs = leaf.jobs
        place, first = int(jobs.request[jobs.left[0]]), int(jobs.left[0])
        amounts = self.amounts[jobs.requests[place].number]
        eligible = self.preemptor.find(leaf.node, amounts, int(jobs.priority[first]), leaf.ended)
        offered = jobs.of_request(place)
        offered = offered[jobs.priority[offered] >= jobs.priority[first]]
        turn = Turn(leaf, place, offered, 1, eligible)
        if eligible is None:
            self.refused(turn)
            return None
        return turn

    @staticmethod
    def refused(turn: Turn) -> None:
        """Withdraw the jobs of a turn that ended none, and all others of the request but those with its highest priority.

        So a request has at most two such turns, however many priorities its jobs have.
        """
        jobs = turn.leaf.jobs
        left = jobs.of_request(turn.request)
        highest = int(jobs.priority[left].max())
        is_highest = int(jobs.priority[turn.jobs[0]]) == highest
        jobs.refused(left if is_highest else left[jobs.priority[left] < highest])

    @staticmethod
    def may_continue(leaf: Leaf) -> bool:
        """True if a leaf may have another turn."""
        return bool(len(leaf.jobs.left)) and leaf.ended < MAX_ENDED_JOBS
