"""Station *order*: an allocator that is called repeatedly for the request to serve next.

Each turn goes ``next`` -> match -> charge -> ``feedback``, until ``next`` returns None. An allocator may give the same
request several turns, each with an allowance: that is how fair share spins, floors and ceilings are built.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import attrs
import numpy as np

from negotiator.cycle.charge import GrantedSlots
from negotiator.cycle.match import MatchCandidates
from negotiator.hooks.records import Request
from negotiator.ledger import Rows
from negotiator.records import Reason, Verdict


@attrs.frozen(eq=False)
class QueuedRequest:
    """A request at its turn.

    ``number`` identifies the request in its cycle: all its turns have the same. ``rows`` (M,) are the rows of its jobs
    in the table of admitted jobs, in the schedd's order; an ad that represents several jobs
    (``_condor_RESOURCE_COUNT``, as schedds send it) has its row as often. At most the first ``allowance`` of these
    jobs are matched now. ``ads`` are the rows of the ads of all its jobs, also of those beyond ``rows``, each once.
    """

    number: int
    request: Request
    rows: Rows
    allowance: int
    ads: Rows

    def allowed(self) -> Request:
        """Return the request of the jobs that may be matched now."""
        if self.allowance >= len(self.rows):
            return self.request
        return attrs.evolve(self.request, applications=self.request.applications[: self.allowance])

    def without(self, copies: Rows, allowance: int) -> QueuedRequest | None:
        """Return the request of the other jobs with a new allowance; None without other jobs.

        :param copies: the numbers of the jobs that are served, places in ``rows``.
        """
        left = np.ones(len(self.rows), np.bool_)
        left[copies] = False
        if not left.any():
            return None
        names = tuple(self.request.applications[copy] for copy in np.flatnonzero(left).tolist())
        rest = attrs.evolve(self.request, applications=names, count=self.request.count - len(copies))
        return QueuedRequest(self.number, rest, self.rows[left], allowance, self.ads_without(copies))

    def ads_without(self, copies: Rows) -> Rows:
        """Return the rows of the ads of the other jobs; an ad that stands for several jobs is left as long as one is."""
        left = np.ones(len(self.rows), np.bool_)
        left[copies] = False
        served = np.setdiff1d(self.rows[~left], self.rows[left])
        return self.ads[~np.isin(self.ads, served)]


class StopCause(enum.StrEnum):
    """Why a request got no more slots at its turn."""

    SERVED = "served"  # every job has its slot
    ALLOWANCE = "allowance"  # the allowance is used up
    NO_SLOTS = "no_slots"  # every candidate slot is granted, or there was none
    QUOTA = "quota"  # quotas refuse the remaining candidates
    FAILURE = "failure"  # a plugin failed, so that nothing was granted


@attrs.frozen(eq=False)
class Feedback:
    """The outcome of one turn.

    ``slots`` (G,) are the rows of the granted slots, for weights; ``copies`` (G,) the numbers of the jobs that got
    them; ``left`` the number of jobs of the request without a slot; ``denied`` the reasons that took slots away.
    """

    queued: QueuedRequest
    slots: Rows
    copies: Rows
    left: int
    cause: StopCause
    denied: tuple[Reason, ...]


class RequestOrder(Protocol):
    """An allocator: it decides which request has the next turn, and how much of the pool it may take."""

    def next(self) -> QueuedRequest | None:
        """Return the request of the next turn; None ends the cycle."""
        ...

    def feedback(self, feedback: Feedback) -> None:
        """Learn the outcome of the turn that ``next`` returned last."""
        ...


#: Makes the allocator of a cycle of its requests, which come in the order of ``queued_requests``.
OrderMaker: TypeAlias = Callable[[Sequence[QueuedRequest]], RequestOrder]


def feedback_of(queued: QueuedRequest, candidates: MatchCandidates, granted: GrantedSlots) -> Feedback:
    """Return the feedback of one turn for the allocator."""
    left = queued.request.count - len(granted.rows)
    denied = tuple(removal.reason for removal in (*candidates.removals, *granted.removals))
    return Feedback(
        queued, granted.rows, granted.copies, left, _cause(queued, candidates, granted, left), denied
    )


def _cause(queued: QueuedRequest, candidates: MatchCandidates, granted: GrantedSlots, left: int) -> StopCause:
    if not left:
        return StopCause.SERVED
    if len(granted.rows) >= queued.allowance:
        return StopCause.ALLOWANCE
    broken = any(removal.reason.verdict is Verdict.BROKEN_PLUGIN for removal in granted.removals)
    if candidates.failures or broken:
        return StopCause.FAILURE
    if len(granted.rows) >= candidates.left:
        return StopCause.NO_SLOTS
    return StopCause.QUOTA
