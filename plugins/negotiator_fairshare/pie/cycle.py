"""The state of the pie in one cycle, which the turns of submitters read and change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import Feedback, QueuedRequest, QuotaQuery, Table, TurnTime, UnlimitedTime
from negotiator_fairshare.accounts.use import GrowingUse, UseCounter
from negotiator_fairshare.pie.settings import PieSettings
from negotiator_fairshare.pie.shares import GroupLimit
from negotiator_fairshare.pie.submitters import DepthFirst, JobPriorities
from negotiator_fairshare.pie.trace import RejectionRecord


def no_attributes(user: str) -> Mapping[str, str | float]:
    """Return what requests have of the group of their user without accounting groups."""
    del user
    return {}


def queues_of(requests: Sequence[QueuedRequest]) -> dict[tuple[str, str], list[QueuedRequest]]:
    """Return the requests of each submitter at each schedd, in their order."""
    queues: dict[tuple[str, str], list[QueuedRequest]] = {}
    for queued in requests:
        queues.setdefault((queued.request.submitter, queued.request.schedd), []).append(queued)
    return queues


@attrs.define(eq=False)
class PieCycle:
    """What the turns of submitters share in one cycle.

    ``queues`` are the requests by submitter and schedd. ``weights`` (S,) are those of the slots, ``min_slot_weight`` is the
    least that one adds to the pool (the largest number without slots), ``weigh`` returns the weight that was taken of each slot, ``free`` is the number of slots that are left, and ``any_claimed`` is True if some of
    them run jobs that matches may end. ``use`` counts the usage, matches included. ``quotas`` returns the concurrency
    limits that refuse a request, ``group_attributes`` what requests have of the group of a user, ``growing`` what slots read of
    requests. ``time`` tells which
    submitters have no time left. ``rejections`` records the rejections in their order.

    Free slots only shrink in a cycle: a request that no slot was left for is rejected in later spins without being
    matched again, until a match ends a job. Slots with jobs are matched anew, as what their policy reads may have changed.
    """

    queues: dict[tuple[str, str], list[QueuedRequest]]
    use: UseCounter
    weights: NDArray[np.float64]
    min_slot_weight: float
    weigh: Callable[[Table, Table | None], NDArray[np.float64]]
    free: int
    any_claimed: bool
    settings: PieSettings
    priorities: JobPriorities
    quotas: QuotaQuery
    group_attributes: Callable[[str], Mapping[str, str | float]] = no_attributes
    growing: GrowingUse = attrs.field(factory=GrowingUse)
    depth_first: DepthFirst | None = None
    time: TurnTime = attrs.field(factory=UnlimitedTime)
    rejections: list[RejectionRecord] = attrs.field(factory=list, init=False)
    #: Requests that no slot is left for: number, group in which it negotiated, and whether only preferring slots were left.
    hopeless: set[tuple[int, str, bool]] = attrs.field(factory=set, init=False)
    served: set[int] = attrs.field(factory=set, init=False)  # numbers of requests that had a turn
    group: GroupLimit = attrs.field(factory=GroupLimit, init=False)  # of the call of the pie
    pie_left: float = attrs.field(default=0.0, init=False)  # the weight that is left in this spin

    @property
    def group_usage(self) -> float:
        """The weight that the group of this call of the pie uses, matches included."""
        return self.use.weighted(self.group.group)

    def take(self, name: str, feedback: Feedback) -> list[float]:
        """Count the matches of a submitter, one after the other, and return their weights."""
        own = self.weights[feedback.slots] if feedback.weights is None else feedback.weights
        weights: list[float] = own.tolist()
        self.count(name, feedback.queued.number, weights, feedback.withdrawn)
        return weights

    def count(self, name: str, request: int, weights: list[float], withdrawn: int) -> None:
        """Count the matches of a submitter by the weights of their slots, one after the other."""
        self.free -= withdrawn
        self.served.add(request)
        for weight, count in Counter(weights).items():
            self.use.add(name, weight, count)
        for weight in weights:
            self.pie_left -= weight
