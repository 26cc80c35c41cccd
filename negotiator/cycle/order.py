"""Station *order*: the feedback that the allocator of a cycle gets after each turn.

Without a plugin that orders, requests come by the names of their submitters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import attrs
import numpy as np

from negotiator.bundle.model import NAMES
from negotiator.cycle.charge import GrantedSlots
from negotiator.cycle.match import MatchCandidates
from negotiator.hooks.order import (
    Feedback,
    OrderContext,
    QueuedRequest,
    RequestOrder,
    RequestRun,
    ServedRun,
    StopCause,
)
from negotiator.hooks.order_type import RequestOrderType
from negotiator.records import Verdict


def feedback_of(
    queued: QueuedRequest, candidates: MatchCandidates, granted: GrantedSlots, withdrawn: int
) -> Feedback:
    """Return the feedback of one turn for the allocator.

    :param withdrawn: how many of the granted slots no other request may have.
    """
    left = queued.request.count - len(granted.rows)
    denied = tuple([removal.reason for removal in (*candidates.removals, *granted.removals)])
    cause = _cause(queued, candidates, granted, left)
    return Feedback(
        *(queued, granted.rows, granted.copies, left, cause, denied, granted.too_heavy),
        withdrawn=withdrawn + granted.unclaimable,
        candidate_slots=candidates.among,
        weights=granted.weights,
        protected=candidates.protected,
        preemptions=granted.preemptions,
        ended=granted.ended,
    )


def feedback_without_time(queued: QueuedRequest) -> Feedback:
    """Return the feedback of a turn of a request that has no time left: nothing was matched."""
    nothing = np.zeros(0, np.intp)
    return Feedback(queued, nothing, nothing, queued.request.count, StopCause.TIME, ())


def _cause(queued: QueuedRequest, candidates: MatchCandidates, granted: GrantedSlots, left: int) -> StopCause:
    if not left:
        return StopCause.SERVED
    if len(granted.rows) >= queued.allowance or granted.stopped:
        return StopCause.ALLOWANCE
    if granted.too_heavy:
        return StopCause.ALLOWANCE
    broken = any(removal.reason.verdict is Verdict.BROKEN_PLUGIN for removal in granted.removals)
    if candidates.failures or broken:
        return StopCause.FAILURE
    if len(granted.rows) + granted.unclaimable >= candidates.left:
        return StopCause.NO_SLOTS
    return StopCause.QUOTA


#: Requests of a run: the others are offered again if one of them does not get a slot for each job.
_MOST_OF_RUN = 64


@attrs.define(eq=False)
class SubmitterNameOrder(RequestOrder):
    """Owners by name, then submitters by name, then the schedd's order of their jobs: each request has one turn for all of its jobs."""

    requests: Sequence[QueuedRequest]
    _served: int = attrs.field(default=0, init=False)

    @classmethod
    def of(cls, context: OrderContext) -> Self:
        """Return the order of a cycle."""
        return cls(context.requests)

    def next(self) -> QueuedRequest | None:
        """Return the next request in the order in which they were queued."""
        if self._served == len(self.requests):
            return None
        self._served += 1
        return self.requests[self._served - 1]

    def run(self) -> RequestRun | None:
        """Return the next requests that had no turn."""
        requests = self.requests[self._served : self._served + _MOST_OF_RUN]
        return RequestRun(requests) if requests else None

    def served(self, run: ServedRun) -> Sequence[QueuedRequest]:
        """Return the requests as they were queued."""
        first, self._served = self._served, self._served + len(run.slots)
        return self.requests[first : self._served]

    def feedback(self, feedback: Feedback) -> None:
        """Ignore the outcome: no request has a second turn."""


#: The order of a bundle that chooses no other.
BY_NAME = RequestOrderType(name=NAMES, make=SubmitterNameOrder.of)
