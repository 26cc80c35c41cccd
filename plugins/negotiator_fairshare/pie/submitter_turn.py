"""The turn of one submitter: request after request, until its limit, its ceiling or its queue ends.

Candidates are listed for one job, and used by the jobs alike that follow it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeAlias, cast

import attrs
import numpy as np

from negotiator.plugin import (
    CandidateRecheck,
    ClaimedAllowance,
    Feedback,
    Preemption,
    QueuedRequest,
    RequestRun,
    ServedRun,
    SlotAllowance,
    StopCause,
)
from negotiator_fairshare.compatibility import Compatible
from negotiator_fairshare.pie.cycle import PieCycle
from negotiator_fairshare.pie.limit_marks import CODE, LimitMarks
from negotiator_fairshare.pie.settings import USE_OF_REQUESTS
from negotiator_fairshare.pie.shares import UNLIMITED, ShareAccount
from negotiator_fairshare.pie.submitters import JobCounts, SubmitterAd
from negotiator_fairshare.pie.trace import RejectionRecord, RejectionText, TurnEnd, TurnStop

#: Requests of a run: some of them are looked at again if an earlier one does not get a slot for each job.
_MOST_OF_RUN = 64
#: So many runs are offered in vain where hardly a slot is left.
_MOST_DECLINED = 2


@attrs.frozen(eq=False)
class CandidateListing:
    """For which jobs candidates were listed, after how much use of the turn, and what expressions read of the submitter.

    ``only_by_rank``: they are only slots that prefer the jobs to those that they run.
    """

    kind: int
    only_by_rank: bool
    used: float
    attributes: Mapping[str, str | bool | float]

    def serves(self, queued: QueuedRequest, slots: SlotAllowance) -> bool:
        """Return whether a request may use the candidates."""
        return queued.kind == self.kind and self.only_by_rank == (
            slots.claimed is not None and slots.claimed.only_by_rank
        )

    def turn(
        self,
        queued: QueuedRequest,
        allowance: int,
        slots: SlotAllowance,
        recheck: CandidateRecheck | None,
    ) -> QueuedRequest:
        """Return the turn of a request with these candidates."""
        if slots.claimed is not None and slots.claimed.used_before != self.used:
            slots = attrs.evolve(slots, claimed=attrs.evolve(slots.claimed, used_before=self.used))
        return QueuedRequest(
            *(queued.number, queued.request, queued.rows, allowance, queued.ads, slots, queued.kind),
            scores=queued.scores,
            attributes=self.attributes,
            recheck=recheck,
        )


class OfferedRun(NamedTuple):
    """Requests that follow each other; ``serve`` takes into account those that were served, and returns their turns."""

    run: RequestRun
    serve: Callable[[ServedRun], Sequence[QueuedRequest]]


#: Of a run None if no request of it was served.
Outcome: TypeAlias = Feedback | ServedRun | None
#: Yields turns of requests, or runs of them, and is sent their outcomes.
Turns: TypeAlias = Generator[QueuedRequest | OfferedRun, Outcome, None]
#: The same for one request: returns the rest of it.
RequestTurns: TypeAlias = Generator[QueuedRequest, Feedback, QueuedRequest | None]


@attrs.define(eq=False)
class SubmitterTurn:
    """One submitter at its turn.

    ``limit`` is the weight that it may take, ``unclaimed_limit`` that of unclaimed slots; ``first``: in the first spin.
    ``used`` is what it took, ``used_free`` that of slots without a job. ``matched`` and ``rejected`` count jobs and requests.
    """

    cycle: PieCycle
    submitter: SubmitterAd
    account: ShareAccount
    limit: float
    unclaimed_limit: float
    first: bool
    used: float = attrs.field(default=0.0, init=False)
    used_free: float = attrs.field(default=0.0, init=False)
    matched: int = attrs.field(default=0, init=False)
    rejected: int = attrs.field(default=0, init=False)
    only_startd_rank: bool = attrs.field(default=False, init=False)
    stop: TurnStop | None = attrs.field(default=None, init=False)
    end: TurnEnd = attrs.field(default=TurnEnd.RESUME, init=False)
    #: Of the candidates that are left.
    _listing: CandidateListing | None = attrs.field(default=None, init=False)
    _limited: bool = attrs.field(default=False, init=False)  # the submitter's limit refused a slot
    #: Rows of the first jobs of requests, as the schedd sent them, by the numbers of the requests.
    _first_rows: dict[int, int] = attrs.field(factory=dict, init=False)
    #: Jobs without a match that a slot was filled with, by the numbers of the requests.
    _filled: dict[int, int] = attrs.field(factory=dict, init=False)
    _passed_over: set[int] = attrs.field(factory=set, init=False)  # kinds of requests that were rejected
    _marks: LimitMarks = attrs.field(init=False)
    #: Runs of which no request was served, since one was, or a request at its turn got a slot for each job.
    _declined: int = attrs.field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        settings = self.cycle.settings
        self._marks = LimitMarks(
            self.cycle.quotas,
            every_job=not settings.keep_candidates,
            left_over=settings.quirks.rejection_marks is Compatible.EXACT,
        )

    def run(self) -> Turns:
        """Serve the queue of the submitter."""
        queue = self.cycle.queues.get(self.submitter.key, [])
        self._first_rows = {queued.number: int(queued.rows[0]) for queued in queue}
        place = 0  # all requests before it were passed over
        while not self._is_over():
            while place < len(queue) and queue[place].kind in self._passed_over:
                place += 1
            if place == len(queue):
                self.end = TurnEnd.RESUME if self.used >= self.limit or self._limited else TurnEnd.DONE
                return
            run = self._run_from(queue, place)
            if run is not None:
                served = yield OfferedRun(run, partial(self._count_run, run))
                slots = served.slots if isinstance(served, ServedRun) else ()
                count = len(slots)
                refused = [queue[place + number] for number, rows in enumerate(slots) if not len(rows)]
                queue[place : place + count] = refused
                place += len(refused)
                self._declined = 0 if count else self._declined + 1
                if count == len(run.requests) or self._is_over():
                    continue
            queued = queue[place]
            self._marks.begin(queued)
            jobs = self._jobs_left(queued)
            if jobs <= 0:
                place += 1
            elif self._marks.reject(queued):
                if queued.number not in self.cycle.served:  # its turn records why it got no slot
                    self._count(cast("Feedback", (yield queued)))
                self._reject(queued, self._marks.text, limited=self._marks.is_limited)
            elif self._is_hopeless(queued):
                self._marks.forget()
                self._listing = None
                self._reject(queued, RejectionText.NO_MATCH)
            else:
                rest = yield from self._match(queued, jobs)
                queue[place : place + 1] = [] if rest is None else [rest]
                self._declined = 0 if rest is None else self._declined

    def _run_from(self, queue: Sequence[QueuedRequest], place: int) -> RequestRun | None:
        """Return the requests from a place on that have their turns whether those before them get slots for all of their jobs or none."""
        settings, cycle = self.cycle.settings, self.cycle
        lists_once = settings.keep_candidates and settings.requirements_stable and settings.rank_stable
        if (
            self._declined == _MOST_DECLINED
            or not lists_once
            or settings.stops_at_limit
            or cycle.depth_first
            or (self._only_by_rank and not cycle.any_claimed)
        ):
            return None
        found: list[QueuedRequest] = []
        # Alike jobs use the candidates that were listed for the first of them, and are passed over once one was rejected.
        kinds = set() if self._listing is None else {self._listing.kind}
        for queued in islice(queue, place, place + _MOST_OF_RUN):
            if (
                queued.kind in kinds
                or queued.kind in self._passed_over
                or self._key(queued) in cycle.hopeless
            ):
                break
            if self._jobs_left(queued) < len(queued.rows) or cycle.quotas(queued, CODE):
                break
            found.append(queued)
            kinds.add(queued.kind)
        names = frozenset(map(str.lower, self._submitter_attributes()))
        return RequestRun(found, self._slots(), names) if found else None

    def _count_run(self, run: RequestRun, served: ServedRun) -> Sequence[QueuedRequest]:
        """Count the matches of a run, and return its turns."""
        turns, weights, last = list[QueuedRequest](), self.cycle.weights, len(served.slots) - 1
        weights_of = np.split(
            weights[np.concatenate(served.slots)], np.cumsum([*map(len, served.slots)])[:-1]
        )
        each_request = zip(
            *(run.requests, served.slots, weights_of, served.withdrawn, served.too_heavy, served.protected),
            strict=False,
        )
        for number, (queued, rows, own_weights, withdrawn, heavy, protected) in enumerate(each_request):
            attributes = self._submitter_attributes()
            turns.append(
                QueuedRequest(
                    *(queued.number, queued.request, queued.rows, len(queued.rows), queued.ads),
                    slots=run.slots,
                    kind=queued.kind,
                    attributes=attributes,
                )
            )
            if number == last:
                slots, listed = self._slots(), served.candidate_slots
                self._listing = CandidateListing(queued.kind, self._only_by_rank, self.used, attributes)
                feedback = Feedback(
                    *(turns[-1], rows, np.arange(len(rows)), 0, StopCause.SERVED, ()),
                    candidate_slots=listed,
                    protected=protected,
                )
                self._marks.begin(queued)
                self._marks.looked_at(feedback, slots, ())
            own = own_weights.tolist()
            self.cycle.count(self.submitter.name, queued.number, own, withdrawn)
            for weight in own:
                self.used += weight
                self.used_free += weight
            self.matched += len(own)
            if not own:
                self._reject_all(queued, too_heavy=heavy, protected=protected)
        return turns

    def _match(self, queued: QueuedRequest, jobs: int) -> RequestTurns:
        """Match at most this many jobs of a request; return the rest of it, None if no job is left."""
        slots, per_slot = self._slots(), self._jobs_per_slot(queued)
        turn = self._turn(queued, self._allowance(queued, jobs, per_slot), slots)
        refusals = self._marks.by_slot(queued)
        feedback = yield turn
        listed_anew = self._note_listing(turn, feedback)
        self._marks.looked_at(feedback, slots, refusals, anew=listed_anew)
        self._count(feedback)
        if per_slot is not None:
            filled = int((per_slot[feedback.slots] - 1).sum())
            self._filled[queued.number] = self._filled.get(queued.number, 0) + filled
        rest = queued.without(feedback.copies, len(queued.rows))
        granted = len(feedback.slots)
        at_limit = granted and (self.used >= slots.stop or granted == feedback.queued.allowance)
        # Where a list that is used up is made anew, the next turn finds out whether there are more candidates.
        goes_on = at_limit or (granted and not self.cycle.settings.requirements_stable)
        if rest is not None and not goes_on and not self._marks.reject(rest):
            self._reject_rest(rest, feedback)
        return rest

    def _reject_rest(self, rest: QueuedRequest, feedback: Feedback) -> None:
        """Reject the jobs of a request that got no slots although it was allowed more."""
        limited, by_slot = feedback.too_heavy > 0, self._marks.reject_by_slot(rest)
        lasts = not (limited or by_slot or feedback.protected or self._is_asked_again)
        if lasts and feedback.withdrawn >= len(feedback.slots):
            self.cycle.hopeless.add(self._key(rest))
        text = self._marks.text if by_slot else self._reason(feedback.too_heavy, feedback.protected)
        self._reject(rest, text, limited=limited)

    def _reject_all(self, queued: QueuedRequest, *, too_heavy: int, protected: int) -> None:
        """Reject a request of a run that got no slot."""
        if not (too_heavy or protected or self._is_asked_again):
            self.cycle.hopeless.add(self._key(queued))
        self._reject(queued, self._reason(too_heavy, protected), limited=too_heavy > 0)

    @property
    def _is_asked_again(self) -> bool:
        """True if a request that got no slot may get one later: what PREEMPTION_REQUIREMENTS say of slots with jobs may change."""
        return self.cycle.settings.requirements_change and self.cycle.any_claimed

    @property
    def _only_by_rank(self) -> bool:
        """True beyond the limit: only slots that prefer the job to the one that they run."""
        return self.used >= self.limit

    def _turn(self, queued: QueuedRequest, allowance: int, slots: SlotAllowance) -> QueuedRequest:
        """Return a turn of a request.

        Candidates are listed once for jobs alike, and again once only slots that prefer them are left. What expressions read of
        the submitter is of that time. Without a cache each job has a list of its own.
        """
        settings = self.cycle.settings
        recheck = None
        if settings.keep_candidates and not (settings.requirements_stable and settings.rank_stable):
            recheck = CandidateRecheck(
                *(not settings.requirements_stable, not settings.rank_stable, self._changing)
            )
        left = self._listing
        if left is None or not settings.keep_candidates or not left.serves(queued, slots):
            left = self._listing = self._list_now(queued)
        elif recheck is not None:
            anew = self._list_now(queued).turn(queued, allowance, slots, recheck)
            recheck = attrs.evolve(recheck, anew=anew)
        return left.turn(queued, allowance, slots, recheck)

    def _list_now(self, queued: QueuedRequest) -> CandidateListing:
        attributes = self._submitter_attributes()
        return CandidateListing(queued.kind, self._only_by_rank, self.used, attributes)

    def _note_listing(self, turn: QueuedRequest, feedback: Feedback) -> bool:
        """Return whether candidates were listed anew, as the best of those left had changed."""
        anew = None if turn.recheck is None else turn.recheck.anew
        if anew is None or feedback.queued.attributes is not anew.attributes:
            return False
        self._listing = self._list_now(turn)
        return True

    def _slots(self) -> SlotAllowance:
        settings, headroom = self.cycle.settings, self.account.headroom
        claimed = None
        if settings.consider_preemption:
            claimed = ClaimedAllowance(self.limit, self.used, self.used, self._only_by_rank)
        return SlotAllowance(
            self.cycle.weights,
            limit=self.unclaimed_limit,
            stop=headroom if self._only_by_rank else min(self.limit, headroom),
            used=self.used_free,
            claimed=claimed,
            weigh=self.cycle.weigh,
        )

    def _key(self, queued: QueuedRequest) -> tuple[int, str, bool]:
        return queued.number, self.cycle.group.group, self._only_by_rank

    def _submitter_attributes(self) -> dict[str, str | bool | float]:
        """Return what expressions of slots and of the pool read of the submitter and its group."""
        return {
            **self.cycle.group.attributes,
            **self.cycle.group_attributes(self.submitter.name),
            "SubmitterUserPrio": self.account.priority,
            "SubmittorPrio": self.account.priority,  # its old name, which configurations of ten years ago have
            "SubmitterUserResourcesInUse": self.cycle.use.weighted(self.submitter.name),
            **self.cycle.growing.now(self.cycle.use),
        }

    @property
    def _changing(self) -> frozenset[str]:
        """The attributes of requests that change with each match, in lower case."""
        return USE_OF_REQUESTS.union(map(str.lower, self.cycle.growing.attributes.values()))

    def _is_hopeless(self, queued: QueuedRequest) -> bool:
        if self._only_by_rank and not self.cycle.any_claimed:
            return True
        return self._key(queued) in self.cycle.hopeless

    def _count(self, feedback: Feedback) -> None:
        """Count the matches of a turn."""
        weights, free = self.cycle.take(self.submitter.name, feedback), [True] * len(feedback.slots)
        if feedback.preemptions is not None:
            free = (feedback.preemptions == Preemption.NONE).tolist()
        for weight, is_free in zip(weights, free, strict=True):
            self.used += weight
            self.used_free += weight * is_free
        if not all(free):
            self.cycle.hopeless.clear()
        self.matched += len(feedback.slots)

    @staticmethod
    def _reason(too_heavy: int, protected: int) -> RejectionText:
        if protected:
            return RejectionText.PREEMPTION_REQUIREMENTS
        return RejectionText.LIMIT if too_heavy else RejectionText.NO_MATCH

    def _jobs_left(self, queued: QueuedRequest) -> int:
        """Return how many jobs of a request may still be served in this turn."""
        found = self.cycle.priorities.served(queued, self.submitter.priorities)
        return found - self._filled.get(queued.number, 0)

    def _jobs_per_slot(self, queued: QueuedRequest) -> JobCounts | None:
        depth_first = self.cycle.depth_first
        if depth_first is None or not self.cycle.settings.use_counts:
            return None  # without counts a request is one job
        return depth_first.jobs_per_slot(queued)

    def _allowance(self, queued: QueuedRequest, jobs: int, per_slot: JobCounts | None) -> int:
        """Return how many jobs may be matched now, so that no slot is filled with more jobs than are left."""
        settings = self.cycle.settings
        if settings.consider_preemption and not settings.keep_candidates and self.cycle.any_claimed:
            return 1  # the next job has a list of its own
        if per_slot is not None:
            jobs = -(-jobs // int(per_slot.max(initial=1)))
        return min(jobs, len(queued.rows))

    def _is_over(self) -> bool:
        if self.stop is None and self.cycle.time.reached(*self.submitter.key) is not None:
            self.stop = TurnStop.TIME
        if self.stop is not None:
            return True
        goes_on = self.first and self.cycle.settings.consider_preemption
        self.only_startd_rank = self.only_startd_rank or (goes_on and self.used >= self.limit)
        if self.used >= self.limit and not goes_on:
            self.stop = TurnStop.LIMIT
        elif self.account.headroom < UNLIMITED and self.used >= self.account.headroom:
            self.stop = TurnStop.CEILING
        return self.stop is not None

    def _reject(self, queued: QueuedRequest, reason: str, *, limited: bool = False) -> None:
        """Record a rejection, and pass requests alike over; ``limited``: the limit of the submitter refused a slot."""
        settings = self.cycle.settings
        # With counts, the rejection names the first job of the request as the schedd sent it.
        row = self._first_rows[queued.number] if settings.use_counts else int(queued.rows[0])
        self.rejected += 1
        self.cycle.rejections.append(
            RejectionRecord(self.submitter.name, self.submitter.schedd, row, str(reason))
        )
        self._passed_over.add(queued.kind)
        self._limited = self._limited or limited
        if limited and settings.stops_at_limit:
            self.stop = TurnStop.UNWEIGHTED_LIMIT
