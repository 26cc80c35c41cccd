"""The allocator of fair share: spins over submitters, and the requests of each submitter at its turn.

It runs as one generator: a turn is yielded, and its feedback is what the yield returns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import (
    ClaimedAllowance,
    Feedback,
    Preemption,
    QueuedRequest,
    QuotaQuery,
    SlotAllowance,
    Table,
)
from negotiator_fairshare.accounts.use import UseCounter
from negotiator_fairshare.pie.depth_first import DepthFirst, JobCounts
from negotiator_fairshare.pie.job_priorities import JobPriorities, joined
from negotiator_fairshare.pie.limit_marks import LimitMarks
from negotiator_fairshare.pie.shares import (
    LARGEST,
    UNLIMITED,
    Accounts,
    GroupLimit,
    ShareAccount,
    Shares,
    divide,
)
from negotiator_fairshare.pie.submitters import SubmitterAd
from negotiator_fairshare.pie.trace import (
    PieHalt,
    PieRecord,
    RejectionRecord,
    RejectionText,
    SpinRecord,
    TurnEnd,
    TurnRecord,
    TurnSkip,
    TurnStop,
)

#: condor_negotiator's period of LastHeardFrom, by which submitters with equal priorities take turns to be first.
_HEARD_PERIOD = 1009

#: Yields turns, and is sent their outcomes.
Turns: TypeAlias = Generator[QueuedRequest, Feedback, None]
#: The same, and returns the submitters that are left.
PieTurns: TypeAlias = Generator[QueuedRequest, Feedback, list[SubmitterAd]]
#: Calls the pie of a cycle.
PieCalls: TypeAlias = "Callable[[FairShareOrder], Turns]"


@attrs.frozen
class PieSettings:
    """The knobs that the pie reads.

    ``consider_preemption`` is NEGOTIATOR_CONSIDER_PREEMPTION, ``use_weights`` NEGOTIATOR_USE_SLOT_WEIGHTS,
    ``ignore_priorities`` NEGOTIATOR_IGNORE_USER_PRIORITIES, ``use_counts`` USE_RESOURCE_REQUEST_COUNTS,
    ``keep_candidates`` NEGOTIATOR_MATCHLIST_CACHING.
    """

    consider_preemption: bool = True
    use_weights: bool = True
    ignore_priorities: bool = False
    use_counts: bool = True
    keep_candidates: bool = True


def no_attributes(user: str) -> Mapping[str, str | float]:
    """Return what requests have of the group of their user without accounting groups."""
    del user
    return {}


@attrs.define(eq=False)
class FairShareOrder:
    """The order of one cycle: ``calls`` divides the pie: ``single_call`` once among all submitters.

    ``weights`` (S,) are those of the slots, ``total`` the weight that is divided, of ``counted`` slots, and ``free``
    the number of slots that are left, ``any_claimed`` whether some of them run jobs that matches may end. ``accounts``
    returns accounts with the usage that ``use`` counts, matches included. ``quotas`` returns the concurrency limits that
    refuse a request, ``group_attributes`` what requests have of the group of a user.
    ``pies`` and ``rejections`` record what happened.

    Free slots only shrink in a cycle: a request that no slot was left for is rejected in later spins without being
    matched again, until a match ends a job. Slots with jobs are matched anew, as what their policy reads may have changed.
    """

    submitters: Sequence[SubmitterAd]
    queues: dict[tuple[str, str], list[QueuedRequest]]
    accounts: Accounts
    use: UseCounter
    weights: NDArray[np.float64]
    total: float
    counted: int
    free: int
    any_claimed: bool
    settings: PieSettings
    priorities: JobPriorities
    weigh: Callable[[Table, Table], NDArray[np.float64]]
    calls: PieCalls
    quotas: QuotaQuery
    group_attributes: Callable[[str], Mapping[str, str | float]]
    depth_first: DepthFirst | None = None
    pies: list[PieRecord] = attrs.field(factory=list, init=False)
    rejections: list[RejectionRecord] = attrs.field(factory=list, init=False)
    #: Requests that no slot is left for: number, group in which it negotiated, and whether only preferring slots were left.
    hopeless: set[tuple[int, str, bool]] = attrs.field(factory=set, init=False)
    served: set[int] = attrs.field(factory=set, init=False)  # numbers of requests that had a turn
    group: GroupLimit = attrs.field(factory=GroupLimit, init=False)  # of the call of the pie
    _pie_left: float = attrs.field(default=0.0, init=False)
    _turns: Turns = attrs.field(init=False)
    _feedback: Feedback | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self._turns = self.calls(self)

    def next(self) -> QueuedRequest | None:
        """Return the request of the next turn."""
        try:
            return next(self._turns) if self._feedback is None else self._turns.send(self._feedback)
        except StopIteration:
            return None

    def feedback(self, feedback: Feedback) -> None:
        """Learn the outcome of the turn."""
        self._feedback = feedback

    @property
    def min_slot_weight(self) -> float:
        """The least weight of all slots; the largest number if there are none."""
        return float(self.weights.min(initial=LARGEST))

    def divide_among(self, submitters: Sequence[SubmitterAd], group: GroupLimit) -> PieTurns:
        """Divide the pie, after a round up to the floors; return the submitters that are left.

        :param group: the limit of these submitters together.
        """
        taking_part = [each for each in submitters if each.idle or self.settings.consider_preemption]
        below = [each for each in taking_part if self._is_below_floor(each)]
        if below:
            yield from self._pie(below, group, floor_round=True)
        return (yield from self._pie(taking_part, group))

    def _is_below_floor(self, submitter: SubmitterAd) -> bool:
        account = self.accounts(submitter.name)
        return account.floor > 0 and account.usage < account.floor

    def _pie(
        self, submitters: list[SubmitterAd], group: GroupLimit, *, floor_round: bool = False
    ) -> PieTurns:
        self.group = group
        spins: list[SpinRecord] = []
        halted, left = None, submitters
        while not spins or (left and self.free):
            bounded = bool(spins) or not self.settings.consider_preemption
            if bounded and self._is_at_quota(group):
                halted = PieHalt.GROUP_AT_QUOTA
                break
            shares = self._divide(left, group)
            began = self._pie_left = self._sum_of_limits(
                left, shares
            )  # before they are sorted: its last bits decide
            if not spins:
                left = joined(sorted(left, key=lambda each: self._turn_key(each, shares)))
            if not self.settings.consider_preemption and began <= 0:
                halted = PieHalt.NO_PIE_LEFT
                break
            before, free = len(left), self.free
            turns: list[TurnRecord] = []
            for submitter in left:
                if bounded and self._is_at_quota(group):
                    halted = PieHalt.GROUP_AT_QUOTA
                    break
                turn = yield from self._turn(submitter, shares, first=not spins, floor_round=floor_round)
                turns.append(turn)
            spins.append(
                SpinRecord(
                    slots=self.counted,
                    slots_left=free,
                    slot_weight_total=shares.total,
                    min_slot_weight=self.min_slot_weight,
                    pie_left=began,
                    normal_factor=shares.normal_factor,
                    max_priority=shares.max_priority,
                    submitters=before,
                    turns=tuple(turns),
                )
            )
            served = zip(left, turns, strict=False)
            left = [each for each, turn in served if turn.end is TurnEnd.RESUME] + left[len(turns) :]
            if halted or floor_round or not (self._pie_left < began or len(left) < before):
                break
        self.pies.append(PieRecord(tuple(spins), floor_round, halted, group.group, group.quota))
        return left

    def _sum_of_limits(self, submitters: Sequence[SubmitterAd], shares: Shares) -> float:
        """Return the pie: a name at two schedds counts twice, as in condor_negotiator."""
        found = 0.0
        for each in submitters:
            found += shares.limit(each.name, self.accounts(each.name))
        return found

    def _is_at_quota(self, group: GroupLimit) -> bool:
        return group.is_reached(self.use.weighted(group.group))

    def _divide(self, submitters: Sequence[SubmitterAd], group: GroupLimit) -> Shares:
        settings, total = self.settings, group.total(self.total)
        shares = divide(submitters, self.accounts, total, ignore_priorities=settings.ignore_priorities)
        return attrs.evolve(
            shares,
            unclaimed=group.left(self.use.weighted(group.group)),
            consider_preemption=settings.consider_preemption,
        )

    def _turn_key(self, submitter: SubmitterAd, shares: Shares) -> tuple[float, int, float, int, int]:
        account = self.accounts(submitter.name)
        whole = account.usage + shares.limit(submitter.name, account)
        starvation = account.usage / whole if whole > 0 else LARGEST
        best = submitter.priorities[1] if submitter.priorities else 0
        return account.priority, -best, starvation, submitter.heard % _HEARD_PERIOD, submitter.place

    def _turn(
        self, submitter: SubmitterAd, shares: Shares, *, first: bool, floor_round: bool
    ) -> Generator[QueuedRequest, Feedback, TurnRecord]:
        if not submitter.idle:
            return TurnRecord(submitter.name, submitter.schedd, TurnEnd.DONE, skip=TurnSkip.NO_IDLE_JOBS)
        account, share = self.accounts(submitter.name), shares.of[submitter.name]
        own = shares.limit(submitter.name, account)
        bounded = min(own, float(account.floor)) if floor_round else own
        limit = min(bounded, self._pie_left)
        record = TurnRecord(
            submitter.name,
            submitter.schedd,
            TurnEnd.RESUME,
            priority=account.priority,
            factor=account.factor,
            share=share.share,
            abs_share=share.abs_share,
            limit=limit,
            starved=bounded - limit,
            usage=account.usage,
            ceiling_left=account.headroom if account.has_ceiling else None,
        )
        least = self.min_slot_weight
        if not first and (limit < least or self._pie_left < least):
            return attrs.evolve(record, skip=TurnSkip.PIE_TOO_SMALL)
        if account.headroom < least or account.headroom <= 0:
            return attrs.evolve(record, skip=TurnSkip.CEILING, end=TurnEnd.DONE)
        unclaimed = shares.unclaimed_limit(submitter.name, account)
        serving = _Serving(self, submitter, account, limit, unclaimed, first=first)
        yield from serving.run()
        return attrs.evolve(
            record,
            matched=serving.matched,
            rejected=serving.rejected,
            only_startd_rank=serving.only_startd_rank,
            stop=serving.stop,
            end=serving.end,
        )

    def take(self, name: str, feedback: Feedback) -> list[float]:
        """Count the matches of a submitter, one after the other, and return their weights."""
        own = self.weights[feedback.slots] if feedback.weights is None else feedback.weights
        weights: list[float] = own.tolist()
        for weight, count in Counter(weights).items():
            self.use.add(name, weight, count)
        for weight in weights:
            self._pie_left -= weight
        return weights


def single_call(order: FairShareOrder) -> Turns:
    """Divide the pie among all submitters, without accounting groups."""
    yield from order.divide_among(order.submitters, GroupLimit())


@attrs.define(eq=False)
class _Serving:
    """One submitter at its turn: request after request, until its limit, its ceiling or its queue ends."""

    order: FairShareOrder
    submitter: SubmitterAd
    account: ShareAccount
    limit: float
    unclaimed_limit: float
    first: bool
    used: float = 0.0
    used_free: float = 0.0
    matched: int = 0
    rejected: int = 0
    only_startd_rank: bool = False
    stop: TurnStop | None = None
    end: TurnEnd = TurnEnd.RESUME
    _listed: tuple[int, bool] | None = None
    _used_before: float = 0.0
    _limited: bool = False
    _filled: dict[int, int] = attrs.field(
        factory=dict
    )  # jobs without a match that a slot was filled with, by request
    _marks: LimitMarks = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._marks = LimitMarks(self.order.quotas, every_job=not self.order.settings.keep_candidates)

    def run(self) -> Turns:
        """Serve the queue of the submitter."""
        queue = self.order.queues.get(self.submitter.key, [])
        numbers = {queued.number: int(queued.rows[0]) for queued in queue}
        passed_over: set[int] = set()
        place = 0  # all requests before it were passed over
        while not self._is_over():
            while place < len(queue) and queue[place].kind in passed_over:
                place += 1
            if place == len(queue):
                self.end = TurnEnd.RESUME if self.used >= self.limit or self._limited else TurnEnd.DONE
                return
            queued = queue[place]
            jobs = self._jobs_left(queued)
            if jobs <= 0:
                place += 1
                continue
            if self._marks.reject(queued):
                if queued.number not in self.order.served:  # its turn records why it got no slot
                    self._count((yield queued))
                text = self._marks.text
                self._reject(self._named(queued, numbers), text, limited=self._marks.is_limited)
                passed_over.add(queued.kind)
                continue
            if self._is_hopeless(queued):
                self._marks.forget()
                self._reject(self._named(queued, numbers), RejectionText.NO_MATCH)
                passed_over.add(queued.kind)
                continue
            allowance, per_slot = self._slots(queued), self._jobs_per_slot(queued)
            turn = attrs.evolve(
                queued,
                slots=allowance,
                allowance=self._allowance(queued, jobs, per_slot),
                attributes=self._attributes(),
            )
            refusals = self._marks.by_slot(queued)
            feedback = yield turn
            self._marks.looked_at(feedback, allowance, refusals)
            self._count(feedback)
            if per_slot is not None:
                filled = int((per_slot[feedback.slots] - 1).sum())
                self._filled[queued.number] = self._filled.get(queued.number, 0) + filled
            rest = queued.without(feedback.copies, len(queued.rows))
            if rest is None:
                del queue[place]
                continue
            queue[place] = rest
            granted = len(feedback.slots)
            stopped = granted and (self.used >= allowance.stop or granted == turn.allowance)
            if stopped or self._marks.reject(rest):
                continue
            limited, by_slot = feedback.too_heavy > 0, self._marks.reject_by_slot(rest, feedback.slots)
            # It got no slot that may be matched again.
            if not (limited or by_slot or feedback.protected) and feedback.withdrawn >= granted:
                self.order.hopeless.add(self._key(queued))
            reason = self._marks.text if by_slot else self._reason(feedback)
            self._reject(self._named(rest, numbers), reason, limited=limited)
            passed_over.add(queued.kind)

    @property
    def _only_by_rank(self) -> bool:
        """True beyond the limit: only slots that prefer the job to the one that they run."""
        return self.used >= self.limit

    def _slots(self, queued: QueuedRequest) -> SlotAllowance:
        settings, headroom = self.order.settings, self.account.headroom
        claimed = None
        if settings.consider_preemption:
            # Candidates are listed once for jobs alike, and again once only slots that prefer them are left.
            listed = queued.kind, self._only_by_rank
            if listed != self._listed:
                self._listed, self._used_before = listed, self.used
            claimed = ClaimedAllowance(self.limit, self.used, self._used_before, self._only_by_rank)
        return SlotAllowance(
            self.order.weights,
            limit=self.unclaimed_limit,
            stop=headroom if self._only_by_rank else min(self.limit, headroom),
            used=self.used_free,
            claimed=claimed,
            weigh=self.order.weigh,
        )

    def _key(self, queued: QueuedRequest) -> tuple[int, str, bool]:
        return queued.number, self.order.group.group, self._only_by_rank

    def _attributes(self) -> dict[str, str | bool | float]:
        """Return what expressions of slots and of the pool read of the submitter and its group."""
        return {
            **self.order.group.attributes,
            **self.order.group_attributes(self.submitter.name),
            "SubmitterUserPrio": self.account.priority,
            "SubmitterUserResourcesInUse": self.order.use.weighted(self.submitter.name),
        }

    def _is_hopeless(self, queued: QueuedRequest) -> bool:
        if self._only_by_rank and not self.order.any_claimed:
            return True
        return self._key(queued) in self.order.hopeless

    def _count(self, feedback: Feedback) -> None:
        """Count the matches of a turn."""
        self.order.free -= feedback.withdrawn
        self.order.served.add(feedback.queued.number)
        free = np.ones(len(feedback.slots), np.bool_)
        if feedback.preemptions is not None:
            free = feedback.preemptions == Preemption.NONE
        for weight, is_free in zip(
            self.order.take(self.submitter.name, feedback), free.tolist(), strict=True
        ):
            self.used += weight
            self.used_free += weight * is_free
        if not free.all():
            self.order.hopeless.clear()
        self.matched += len(feedback.slots)

    @staticmethod
    def _reason(feedback: Feedback) -> RejectionText:
        if feedback.protected:
            return RejectionText.PREEMPTION_REQUIREMENTS
        return RejectionText.LIMIT if feedback.too_heavy else RejectionText.NO_MATCH

    def _jobs_left(self, queued: QueuedRequest) -> int:
        """Return how many jobs of a request may still be served in this turn."""
        found = self.order.priorities.served(queued, self.submitter.priorities)
        return found - self._filled.get(queued.number, 0)

    def _jobs_per_slot(self, queued: QueuedRequest) -> JobCounts | None:
        depth_first = self.order.depth_first
        return None if depth_first is None else depth_first.jobs_per_slot(queued)

    @staticmethod
    def _allowance(queued: QueuedRequest, jobs: int, per_slot: JobCounts | None) -> int:
        """Return how many jobs may be matched now, so that no slot is filled with more jobs than are left."""
        if per_slot is not None:
            jobs = -(-jobs // int(per_slot.max(initial=1)))
        return min(jobs, len(queued.rows))

    def _named(self, queued: QueuedRequest, numbers: Mapping[int, int]) -> int:
        """Return the row of the job that a rejection names: the first of the request as the schedd sent it."""
        return numbers[queued.number] if self.order.settings.use_counts else int(queued.rows[0])

    def _is_over(self) -> bool:
        if self.stop is not None:
            return True
        goes_on = self.first and self.order.settings.consider_preemption
        self.only_startd_rank = self.only_startd_rank or (goes_on and self.used >= self.limit)
        if self.used >= self.limit and not goes_on:
            self.stop = TurnStop.LIMIT
        elif self.account.headroom < UNLIMITED and self.used >= self.account.headroom:
            self.stop = TurnStop.CEILING
        return self.stop is not None

    def _reject(self, row: int, reason: str, *, limited: bool = False) -> None:
        """Record a rejection; ``limited``: the limit of the submitter refused a slot."""
        self.rejected += 1
        self.order.rejections.append(
            RejectionRecord(self.submitter.name, self.submitter.schedd, row, str(reason))
        )
        self._limited = self._limited or limited
        settings = self.order.settings
        if limited and not (settings.consider_preemption or settings.use_weights):
            self.stop = TurnStop.UNWEIGHTED_LIMIT
