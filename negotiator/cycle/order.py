"""Station *order*: the allocator of a cycle, and the feedback that it gets after each turn."""

from __future__ import annotations

import numpy as np

from negotiator.cycle.charge import GrantedSlots
from negotiator.cycle.match import MatchCandidates
from negotiator.hooks.order import Feedback, QueuedRequest, StopCause
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
