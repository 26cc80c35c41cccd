"""The allocator of fair share: spins over submitters.

It runs as one generator: a turn, or a run of them, is yielded, and its outcome is what the yield returns.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeAlias

import attrs

from negotiator.plugin import Feedback, QueuedRequest, RequestRun, ServedRun
from negotiator_fairshare.compatibility import Compatible
from negotiator_fairshare.pie.cycle import PieCycle
from negotiator_fairshare.pie.settings import PieQuirks
from negotiator_fairshare.pie.shares import LARGEST, Accounts, GroupLimit, ShareAccount, Shares, divide
from negotiator_fairshare.pie.submitter_turn import OfferedRun, Outcome, SubmitterTurn, Turns
from negotiator_fairshare.pie.submitters import SubmitterAd, joined
from negotiator_fairshare.pie.trace import PieHalt, PieRecord, SpinRecord, TurnEnd, TurnRecord, TurnSkip

#: condor_negotiator's period of LastHeardFrom, by which submitters with equal priorities take turns to be first.
_HEARD_PERIOD = 1009

#: Limits below it are errors of rounding.
_DUST = 1e-6

#: Yields turns, is sent their outcomes, and returns the submitters that are left.
PieTurns: TypeAlias = Generator[QueuedRequest | OfferedRun, Outcome, list[SubmitterAd]]
#: The same for one spin: returns its turns.
SpinTurns: TypeAlias = Generator[QueuedRequest | OfferedRun, Outcome, list[TurnRecord]]
#: Calls the pie of a cycle.
PieCalls: TypeAlias = "Callable[[FairShareOrder], Turns]"


@attrs.define(eq=False)
class FairShareOrder:
    """The order of one cycle: ``calls`` divides the pie, ``single_call`` once among all submitters.

    ``total`` is the weight that is divided, of ``counted`` slots. ``accounts`` returns accounts with the usage that the
    cycle counts, matches included. ``pies`` records what happened.
    """

    submitters: Sequence[SubmitterAd]
    accounts: Accounts
    total: float
    counted: int
    cycle: PieCycle
    calls: PieCalls
    pies: list[PieRecord] = attrs.field(factory=list, init=False)
    _turns: Turns = attrs.field(init=False)
    _given: QueuedRequest | OfferedRun | None = attrs.field(default=None, init=False)
    #: What became of it; the turns go on with it when the next one is asked for.
    _outcome: Outcome = attrs.field(default=None, init=False)
    _is_known: bool = attrs.field(default=True, init=False)

    def __attrs_post_init__(self) -> None:
        self._turns = self.calls(self)

    def run(self) -> RequestRun | None:
        """Return the requests of the next turns, if they follow each other."""
        given = self._current()
        return given.run if isinstance(given, OfferedRun) else None

    def served(self, run: ServedRun) -> Sequence[QueuedRequest]:
        """Learn the outcome of a run, and return its turns."""
        if not isinstance(self._given, OfferedRun):
            raise TypeError("the last turns were not a run")
        turns = self._given.serve(run)
        self._outcome, self._is_known = run, True
        return turns

    def next(self) -> QueuedRequest | None:
        """Return the request of the next turn."""
        while isinstance(given := self._current(), OfferedRun):
            self._outcome, self._is_known = None, True
        return given

    def feedback(self, feedback: Feedback) -> None:
        """Learn the outcome of the turn."""
        self._outcome, self._is_known = feedback, True

    def _current(self) -> QueuedRequest | OfferedRun | None:
        """Return the next turn, or the next ones; None after the last."""
        if self._is_known:
            self._is_known = False
            try:
                self._given = self._turns.send(self._outcome)
            except StopIteration:
                self._given = None
        return self._given

    def divide_among(self, submitters: Sequence[SubmitterAd], group: GroupLimit) -> PieTurns:
        """Divide the pie, after a round up to the floors; return the submitters that are left.

        :param group: the limit of these submitters together.
        """
        taking_part = [each for each in submitters if each.idle or self.cycle.settings.consider_preemption]
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
        self.cycle.group = group
        consider_preemption = self.cycle.settings.consider_preemption
        spins: list[SpinRecord] = []
        halted, left = None, submitters
        while not spins or (left and self.cycle.free):
            first = not spins
            bounded = not (first and consider_preemption)
            if bounded and self._is_at_quota():
                halted = PieHalt.GROUP_AT_QUOTA
                break
            shares = self._divide(left)
            # Added up before submitters are sorted: the last bits of the sum decide.
            began = self.cycle.pie_left = self._sum_of_limits(left, shares)
            if first:
                left = joined(sorted(left, key=lambda each: self._turn_key(each, shares)))
            if not consider_preemption and began <= 0:
                halted = PieHalt.NO_PIE_LEFT
                break
            before, free = len(left), self.cycle.free
            turns = yield from self._spin(left, shares, bounded=bounded, first=first, floor_round=floor_round)
            spins.append(self._spin_record(shares, before, free, began, turns))
            served = zip(left, turns, strict=False)
            left = [each for each, turn in served if turn.end is TurnEnd.RESUME] + left[len(turns) :]
            if floor_round or not (self.cycle.pie_left < began or len(left) < before):
                break
        self.pies.append(PieRecord(tuple(spins), floor_round, halted, group.group, group.quota, group.bound))
        return left

    def _spin(
        self,
        submitters: Sequence[SubmitterAd],
        shares: Shares,
        *,
        bounded: bool,
        first: bool,
        floor_round: bool,
    ) -> SpinTurns:
        """Serve each submitter once; ``bounded``: until the group is at its quota."""
        turns: list[TurnRecord] = []
        for submitter in submitters:
            if bounded and self._is_at_quota():
                break
            turn = yield from self._turn(submitter, shares, first=first, floor_round=floor_round)
            turns.append(turn)
        return turns

    def _spin_record(
        self, shares: Shares, submitters: int, free: int, began: float, turns: Sequence[TurnRecord]
    ) -> SpinRecord:
        return SpinRecord(
            slots=self.counted,
            slots_left=free,
            slot_weight_total=shares.total,
            min_slot_weight=self.cycle.min_slot_weight,
            pie_left=began,
            normal_factor=shares.normal_factor,
            max_priority=shares.max_priority,
            submitters=submitters,
            turns=tuple(turns),
        )

    def _sum_of_limits(self, submitters: Sequence[SubmitterAd], shares: Shares) -> float:
        """Return the pie: a name at two schedds counts twice, as in condor_negotiator."""
        found = 0.0
        for each in submitters:
            found += shares.limit(each.name, self.accounts(each.name))
        return found

    def _is_at_quota(self) -> bool:
        return self.cycle.group.is_reached(self.cycle.group_usage)

    def _divide(self, submitters: Sequence[SubmitterAd]) -> Shares:
        settings, group = self.cycle.settings, self.cycle.group
        total, ignored = group.total(self.total), settings.ignore_priorities
        return attrs.evolve(
            divide(submitters, self.accounts, total, ignore_priorities=ignored),
            unclaimed=group.left(self.cycle.group_usage),
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
    ) -> Generator[QueuedRequest | OfferedRun, Outcome, TurnRecord]:
        if not submitter.idle:
            return TurnRecord(submitter.name, submitter.schedd, TurnEnd.DONE, skip=TurnSkip.NO_IDLE_JOBS)
        account, share = self.accounts(submitter.name), shares.of[submitter.name]
        own = shares.limit(submitter.name, account)
        bounded = min(own, self._floor(account)) if floor_round else own
        limit = min(bounded, self.cycle.pie_left)
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
        least, time = self.cycle.min_slot_weight, self.cycle.time
        time.begin_spin(*submitter.key)
        if time.reached(*submitter.key) is not None:
            return attrs.evolve(record, skip=TurnSkip.TIME, end=TurnEnd.DONE)
        if not first and self._is_too_small(min(limit, self.cycle.pie_left)):
            return attrs.evolve(record, skip=TurnSkip.PIE_TOO_SMALL)
        if account.headroom < least or account.headroom <= 0:
            return attrs.evolve(record, skip=TurnSkip.CEILING, end=TurnEnd.DONE)
        unclaimed = shares.unclaimed_limit(submitter.name, account)
        if self._quirks.unclaimed_limit is Compatible.FIXED:
            unclaimed = min(unclaimed, self.cycle.pie_left)
        turn = SubmitterTurn(self.cycle, submitter, account, limit, unclaimed, first=first)
        yield from turn.run()
        return attrs.evolve(
            record,
            matched=turn.matched,
            rejected=turn.rejected,
            only_startd_rank=turn.only_startd_rank,
            stop=turn.stop,
            end=turn.end,
        )

    @property
    def _quirks(self) -> PieQuirks:
        return self.cycle.settings.quirks

    def _floor(self, account: ShareAccount) -> float:
        """Return the limit of a submitter in the round up to the floors."""
        in_use = account.usage if self._quirks.floors is Compatible.FIXED else 0.0
        return float(account.floor) - in_use

    def _is_too_small(self, limit: float) -> bool:
        """True if a submitter has no turn with a limit after the first spin; by the quirk ``crumbs``, below any slot."""
        if self._quirks.crumbs is Compatible.FIXED:
            return limit < _DUST
        return limit < self.cycle.min_slot_weight


def single_call(order: FairShareOrder) -> Turns:
    """Divide the pie among all submitters, without accounting groups."""
    yield from order.divide_among(order.submitters, GroupLimit())
