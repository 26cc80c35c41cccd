"""The leaf queues of one cycle with waiting jobs, and the turns that they get."""

from __future__ import annotations

import attrs

from negotiator_queue_order.leaf_jobs import Ints, LeafJobs
from negotiator_queue_order.preemption import EligibleVictims
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
