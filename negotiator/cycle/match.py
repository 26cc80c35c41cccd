"""Station *match*: for one request, the slots that no reason removes, and the slots that each reason removes.

All work is on columns: no Python runs per slot, nor per job where jobs are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Environment, Kind, Table
from negotiator.classad.columnar import MemoryBudget, PackedMask, TrueRows
from negotiator.cycle.candidate_set import CandidateSet, apply_conditions, apply_to_hard_slots
from negotiator.cycle.condition_table import ConditionTable
from negotiator.cycle.divisible_slots import Consumption, DivisibleSlots, SlotCopies
from negotiator.cycle.dynamic_slots import DynamicSlots, EnlargedSlots
from negotiator.cycle.offered_slots import ClaimedPartitionable, ClaimIds, OfferedSlots
from negotiator.cycle.preemption import PreemptingCandidates, SlotPreemption
from negotiator.cycle.rank import Ranks
from negotiator.cycle.reasons import core_reason, failure_reason, plugin_reason
from negotiator.cycle.request_answers import RequestAnswers, RequestGroups
from negotiator.cycle.requirements import Requirements
from negotiator.cycle.result import NO_SLOTS, Removal
from negotiator.cycle.slot_order import RankValues
from negotiator.cycle.work_accounts import is_exceeded, work_reason
from negotiator.hooks import specs
from negotiator.hooks.answers import Answers, Attributed
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.order import ClaimedAllowance, QueuedRequest, RequestRun, SlotAllowance
from negotiator.hooks.order_type import DEFAULT_RANKS, SlotRanks
from negotiator.hooks.records import Cycle, Filter, Mask, Request, Score
from negotiator.hooks.slot_offer import Preemption
from negotiator.ledger import Rows
from negotiator.records import Reason, Station, Verdict

#: States of a slot that has a job already (HTCondor manual, Machine ClassAd Attributes, State). A slot in state Matched has
#: none: its match may have come to nothing, and condor_negotiator matches it again.
_IN_USE = ("claimed", "preempting")


@attrs.define(eq=False)
class SlotMatcher:
    """The slots of one cycle, which of them are still free, and the columns that were evaluated over them.

    Make one with ``SlotMatcher.of`` for each cycle: its caches are valid for one clock and for slots that do not change.
    """

    slots: Table
    environment: Environment
    requirements: Requirements
    ranks: Ranks
    in_use: Mask  # (N,) slots that have a job, as the pool shows them, and that no match may end
    taken: Mask  # (N,) slots granted to an earlier request of this cycle
    claimed: ClaimedPartitionable
    claim_ids: ClaimIds
    unclaimable: Mask  # (N,) slots of which no claim id was left when they were to be granted
    withheld: Sequence[tuple[Mask, Reason]] = ()  # slots that the order withholds
    preemption: SlotPreemption | None = None
    divisible: DivisibleSlots | None = None
    no_slots: Reason = NO_SLOTS  # of all requests, if there is no slot
    candidate_set: Callable[[Table], CandidateSet] = CandidateSet
    conditions: ConditionTable | None = None  # None: each request is evaluated by itself
    groups: RequestGroups | None = None  # of requests that are alike for plugins
    _filters: RequestAnswers[Filter, FilterAnswers] | None = attrs.field(default=None, init=False)
    _taken_rows: PackedMask = attrs.field(init=False)  # the same slots as ``taken``
    _any_unclaimable: bool = attrs.field(default=False, init=False)
    #: What filters say about a request that could not be served in a run: it has a turn by itself.
    _latest_answers: tuple[Request, FilterAnswers] | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self._taken_rows = PackedMask(len(self.slots))
        self._taken_rows.add(np.flatnonzero(self.taken))
        self.ranks.taken = self.taken

    @classmethod
    def of(
        cls,
        offered: OfferedSlots,
        environment: Environment,
        pool: SlotRanks = DEFAULT_RANKS,
        claim_ids: NDArray[np.int64] | None = None,
        divisible: DivisibleSlots | None = None,
        no_slots: Reason = NO_SLOTS,
        candidate_set: Callable[[Table], CandidateSet] = CandidateSet,
        groups: RequestGroups | None = None,
    ) -> SlotMatcher:
        """Return the matcher of a cycle, with empty caches.

        :param claim_ids: how many each slot has; None if it is not known.
        :param divisible: those that several matches share.
        :param no_slots: the reason of all requests, if there is no slot.
        :param pool: the pool's own order of slots.
        :param candidate_set: makes the set of the candidates of each request, of all slots.
        """
        budget, slots = MemoryBudget.of(len(offered.slots)), offered.slots
        requirements = Requirements(slots, environment, budget)
        easy = requirements.cache_of_easy.dependencies
        ranks = Ranks(easy, environment, budget, pool, requirements.hard)
        ranks.alike = None if groups is None else groups.alike
        taken, unclaimable = np.zeros((2, len(slots)), dtype=np.bool_)
        claims = ClaimIds.of(slots, environment, claim_ids, divisible)
        claimed = ClaimedPartitionable.of(slots, environment)
        in_use, preemption = _in_use(slots), None
        in_use[claimed.rows] = False
        if offered.preemption is not None:
            preemption = SlotPreemption(offered.preemption, requirements.cache, ranks, offered.plugin)
            in_use &= ~(preemption.has_user | offered.preemption.free_without_user)
            joint = offered.preemption.joint
            if joint is not None:
                policies = np.zeros(0, np.intp) if divisible is None else divisible.policies
                dynamic = DynamicSlots.of(slots, joint, environment, claims.claimable, policies)
                preemption = attrs.evolve(preemption, dynamic=dynamic)
            elif not preemption.has_user.any():
                preemption = None
        return cls(
            *(slots, environment, requirements, ranks, in_use, taken),
            claimed=claimed,
            claim_ids=claims,
            unclaimable=unclaimable,
            withheld=offered.withheld,
            preemption=preemption,
            divisible=divisible,
            no_slots=no_slots,
            candidate_set=candidate_set,
            groups=groups,
        )

    def filter_answers(self, turn: Request | QueuedRequest, bundle: Bundle, cycle: Cycle) -> FilterAnswers:
        """Return what the filters of plugins say about a request, at its turn if it is one of the cycle's queue."""
        filters = self._answers_of_filters(bundle)
        if filters is None or isinstance(turn, Request):
            return _filter_answers(_with_attributes(turn), self.slots, bundle, cycle)
        if self._latest_answers is not None and self._latest_answers[0] is turn.request:
            return self._latest_answers[1]
        return filters.of(
            *(bundle.hooks, turn, turn.replaced_names),
            lambda: _filter_arguments(turn.matched(), self.slots, bundle, cycle),
        )

    def _answers_of_filters(self, bundle: Bundle) -> RequestAnswers[Filter, FilterAnswers] | None:
        """Return the answers about requests of the cycle's queue; None if it is not known which of them are alike."""
        if self._filters is None and self.groups is not None:
            hook = specs.negotiator_filter_slots
            self._filters = RequestAnswers(
                hook, bundle.hooks.implementations(hook), self.groups, FilterAnswers.of
            )
        return self._filters

    @property
    def has_plain_slots(self) -> bool:
        """True if each slot is matched at most once, and a match ends no job."""
        return (
            self.conditions is not None
            and len(self.slots) > 0
            and (self.preemption is None or self.preemption.ends_no_job)
            and self.divisible is None
            and self.requirements.hard is None
            and not len(self.claimed.rows)
            and not self.claim_ids.any_stays
        )

    def are_read(self, names: frozenset[str], bundle: Bundle) -> bool:
        """True if some request of the cycle may be matched by one of these attributes of its job, in lower case."""
        read = frozenset[str]() if self.conditions is None else self.conditions.read
        if not names.isdisjoint(read | self.ranks.read):
            return True
        filters = self._answers_of_filters(bundle)
        return filters is not None and filters.may_read(names)

    def plain_candidates(
        self, queued: QueuedRequest, run: RequestRun, bundle: Bundle, cycle: Cycle
    ) -> MatchCandidates | None:
        """Return the slots for a request of a run, if nothing but what alike requests share decides about them, and no rule warns; None otherwise.

        What the order adds at its turn is not read.
        """
        replaced = run.replaced_names
        found = None if self.conditions is None else self.conditions.of(queued, replaced)
        if found is None or found.warnings:
            return None
        candidates = CandidateSet(self.slots)
        found.apply(candidates)
        if bundle.hooks.implements(specs.negotiator_filter_slots):
            answers = self.filter_answers(queued, bundle, cycle)
            self._latest_answers = queued.request, answers
            if answers.apply(candidates):
                return None
        claimed = None if run.slots is None else run.slots.claimed
        if claimed is not None and claimed.victims is not None:
            return None
        self.withdraw(candidates, queued.request.schedd, preempt=claimed is not None)
        protected = 0
        if claimed is not None and self.preemption is not None:
            _, protected = self.preemption.apply(candidates, queued.request, cycle.environment, claimed)
        if candidates.warnings:
            return None
        return MatchCandidates(
            *(queued, candidates.keep, candidates.left, tuple(candidates.removals), (), ()),
            protected=protected,
        )

    def unavailable(self) -> Iterator[tuple[Mask, Reason]]:
        """Yield the slots, (N,), that no request gets any more, with their reasons."""
        yield self.in_use, _IN_USE_REASON
        yield self.taken, _TAKEN_REASON
        yield self.unclaimable, NO_CLAIM_ID
        yield from self.withheld

    def withdraw(self, candidates: CandidateSet, schedd: str, *, preempt: bool) -> None:
        """Remove the slots that a request of a schedd does not get; ``preempt``: it may get those whose jobs a match may end."""
        in_use, running, withheld = self._constant_rows
        candidates.remove_rows(in_use if preempt or self.preemption is None else running, _IN_USE_REASON)
        if len(self.claimed.rows):
            candidates.remove(self.claimed.of_others(schedd), _OTHER_SCHEDD)
        candidates.remove_rows(self._taken_rows.rows, _TAKEN_REASON)
        if self._any_unclaimable:
            candidates.remove(self.unclaimable, NO_CLAIM_ID)
        for rows, reason in withheld:
            candidates.remove_rows(rows, reason)

    @cached_property
    def _constant_rows(self) -> tuple[TrueRows, TrueRows, list[tuple[TrueRows, Reason]]]:
        """The slots in use, those that have a job, and those withheld, which do not change in a cycle."""
        withheld = [(TrueRows.from_mask(mask), reason) for mask, reason in self.withheld if mask.any()]
        return TrueRows.from_mask(self.in_use), TrueRows.from_mask(self.running), withheld

    @property
    def available(self) -> int:
        """The number of slots that a request may still get."""
        gone = np.zeros(len(self.slots), np.bool_)
        for mask, _ in self.unavailable():
            gone |= mask
        return len(self.slots) - int(np.count_nonzero(gone))

    def begin_turn(self, queued: QueuedRequest) -> None:
        """Sort slots by the scores of a turn, (N,), before the job's Rank; by the pool's own rank without any."""
        self.ranks.scores = queued.scores
        self.ranks.begin_turn(queued)

    @property
    def running(self) -> Mask:
        """The slots that have a job, whether a match may end it or not, (N,)."""
        return self.in_use if self.preemption is None else self.in_use | self.preemption.has_user

    def take(self, rows: NDArray[np.intp], consumption: Consumption | None = None) -> int:
        """Use a claim id of each slot, withdraw the slots from later requests, and return how many are withdrawn.

        :param consumption: what each match takes of the slots that several share.
        """
        self.claim_ids.use(rows)
        gone = rows
        if self.claim_ids.any_stays or consumption is not None:
            gone = np.unique(rows[~self.claim_ids.stays[rows]])
        self.taken[gone] = True
        self._taken_rows.add(gone)
        if consumption is not None and (slots := consumption.divisible.take(consumption, rows)) is not None:
            self._change(slots)
        return len(gone)

    def lose(self, rows: Rows) -> None:
        """Withdraw slots of which no claim id is left."""
        self.unclaimable[rows] = self._any_unclaimable = True

    def end_jobs(self, rows: NDArray[np.intp]) -> None:
        """Withdraw dynamic slots whose jobs end for a match with their partitionable slot."""
        self.taken[rows] = True
        self._taken_rows.add(rows)

    def enlarged(
        self,
        request: Request,
        cycle: Cycle,
        claimed: ClaimedAllowance,
        matching: Mask,
        matches: Callable[[Table], Mask],
        listing: object,
    ) -> EnlargedSlots | None:
        """Return the partitionable slots that match once jobs of several of their dynamic slots end.

        :param matching: the slots whose conditions are true as they are, (N,).
        :param matches: returns which slots of a table match the request.
        """
        if self.preemption is None or self.preemption.dynamic is None:
            return None
        gone = matching | self.claimed.of_others(request.schedd)
        for mask, _ in self.unavailable():
            gone |= mask
        env = cycle.environment
        return self.preemption.enlarged(request, env, claimed, ~gone, matches, listing)

    def _change(self, slots: Table) -> None:
        """Evaluate anew over slots of which a part was taken."""
        budget = MemoryBudget.of(len(slots))
        self.slots, self.conditions, self._filters, self._latest_answers = slots, None, None, None
        self.requirements = Requirements(slots, self.environment, budget)
        easy = self.requirements.cache_of_easy.dependencies
        self.ranks = self.ranks.over(easy, self.environment, budget, self.requirements.hard)
        if self.preemption is not None:
            changed = attrs.evolve(self.preemption, cache=self.requirements.cache, pool_ranks=self.ranks)
            self.preemption = changed


@attrs.frozen
class MatchCandidates:
    """The slots that a request may get, and the reasons that removed the others."""

    turn: Request | QueuedRequest  # whose ad is matched
    among: Mask  # (N,) the slots that passed every reason
    left: int  # their number
    removals: tuple[Removal, ...]
    # Of rules that do not enforce: the slots that they would have removed.
    warnings: tuple[tuple[Reason, Mask], ...]
    failures: tuple[HookFailure, ...]
    preempting: PreemptingCandidates | None = None  # None: all of them are free
    protected: int = 0  # slots whose jobs the requirements of preemption protect
    copies: SlotCopies | None = None  # how many jobs each may get; None: one
    scores: tuple[Attributed[Score], ...] = ()  # of plugins, the most significant first
    enlarged: EnlargedSlots | None = None  # of which jobs of dynamic slots end

    @property
    def first(self) -> tuple[RankValues, ...]:
        """What sorts the slots before every rank, (N,) each: no score ends a job that could go on."""
        if not self.scores:
            return ()
        values = tuple(each.record.values for each in self.scores)
        if self.preempting is None:
            return values
        return (self.preempting.states == Preemption.NONE).astype(np.float64), *values

    def choose(self, among: Mask, count: int, ranks: Ranks, env: Environment) -> tuple[Rows, RankValues]:
        """Return the ``count`` best of some candidates, (N,), as ``Ranks.choose`` does."""
        further = () if self.preempting is None else self.preempting.ranks
        replaced = None if self.enlarged is None else self.enlarged.ranks
        if not (further or self.scores or replaced):
            found = ranks.best_of_class(among, count)
            if found is not None:
                return found
        return ranks.choose(self.turn.ad, among, count, env, further, self.first, replaced)


def match(
    request: Request,
    matcher: SlotMatcher,
    bundle: Bundle,
    cycle: Cycle,
    allowance: SlotAllowance | None = None,
    queued: QueuedRequest | None = None,
) -> MatchCandidates:
    """Find the slots for a request, and count the slots that each reason removes.

    :param request: without the attributes of the turn ``queued``.
    :param allowance: how much of the pool the turn may take: whether slots that run jobs are candidates.
    """
    candidates, turn = matcher.candidate_set(matcher.slots), queued or request
    failures: tuple[HookFailure, ...] = ()
    scores: tuple[Attributed[Score], ...] = ()
    matching, enlarged = candidates.rows, None
    if not is_exceeded(cycle):
        found = (
            None
            if matcher.conditions is None or queued is None
            else matcher.conditions.of(queued, queued.replaced_names)
        )
        if found is None:
            apply_conditions(candidates, turn.ad, matcher.requirements, bundle.constraints, cycle)
        else:
            found.apply(candidates)
            if matcher.requirements.hard is not None:
                apply_to_hard_slots(candidates, turn.ad, matcher.requirements, cycle.environment)
        matching = candidates.rows
        if bundle.hooks.implements(specs.negotiator_filter_slots):
            failures = matcher.filter_answers(turn, bundle, cycle).apply(candidates)
        if bundle.hooks.implements(specs.negotiator_score_slots):
            scores, failed = _scores(candidates, _with_attributes(turn), bundle, cycle)
            failures = (*failures, *failed)
    # Perhaps it was exceeded by this match: the reasons that were found until then are not the decisive one.
    if is_exceeded(cycle):
        candidates = matcher.candidate_set(matcher.slots)
        candidates.remove_all(work_reason(cycle))
    claimed = None if allowance is None else allowance.claimed
    preemption = None if claimed is None else matcher.preemption
    matcher.withdraw(candidates, request.schedd, preempt=preemption is not None)
    preempting, protected = None, 0
    if preemption is not None and claimed is not None:
        request = _with_attributes(turn)
        preempting, protected = preemption.apply(candidates, request, cycle.environment, claimed)
        matches = partial(_matches, request=request, bundle=bundle, cycle=cycle)
        listing = None if queued is None or not queued.attributes else queued.attributes
        enlarged = matcher.enlarged(request, cycle, claimed, matching.rows, matches, listing)
        if enlarged is not None and not failures:
            enlarged, scores, failures = _of_plugins(enlarged, scores, request, bundle, cycle)
    if is_exceeded(cycle) and enlarged is not None:
        candidates = matcher.candidate_set(matcher.slots)
        candidates.remove_all(work_reason(cycle))
        preempting, enlarged = None, None
    elif failures:
        enlarged = None
    if enlarged is not None and preemption is not None:
        candidates.keep[enlarged.rows] = True
        preempting = preemption.with_enlarged(preempting, enlarged)
    if not len(matcher.slots):
        candidates.removals.append(Removal(matcher.no_slots, 0, 0))

    left = candidates.left
    removals, warnings = tuple(candidates.removals), tuple(candidates.warnings)
    return MatchCandidates(
        *(turn, candidates.keep, left, removals, warnings, failures, preempting, protected),
        scores=scores,
        enlarged=enlarged,
    )


def _with_attributes(turn: Request | QueuedRequest) -> Request:
    """Return the request of a turn with the attributes that the order adds, as plugins get it."""
    return turn if isinstance(turn, Request) else turn.matched()


def _matches(slots: Table, *, request: Request, bundle: Bundle, cycle: Cycle) -> Mask:
    """Return which slots of a table meet all conditions of a request."""
    candidates = CandidateSet(slots)
    requirements = Requirements(slots, cycle.environment, MemoryBudget.of(len(slots)))
    apply_conditions(candidates, request.ad, requirements, bundle.constraints, cycle)
    return candidates.keep


def _of_plugins(
    enlarged: EnlargedSlots,
    scores: tuple[Attributed[Score], ...],
    request: Request,
    bundle: Bundle,
    cycle: Cycle,
) -> tuple[EnlargedSlots, tuple[Attributed[Score], ...], tuple[HookFailure, ...]]:
    """Return the enlarged slots that plugins allow, the scores with those of these slots, and the failures of plugins."""
    candidates = CandidateSet(enlarged.slots)
    failures = _filter_answers(request, enlarged.slots, bundle, cycle).apply(candidates)
    own, failed = _scores(candidates, request, bundle, cycle)
    placed = tuple(
        each._replace(
            record=attrs.evolve(each.record, values=enlarged.placed(each.record.values, other.record.values))
        )
        for each, other in zip(scores, own, strict=False)
    )
    return enlarged.only(candidates.keep), placed, (*failures, *failed)


@attrs.frozen(eq=False)
class FilterAnswers:
    """The slots that filters of plugins remove, each with its reason; one that fails removes every slot."""

    removed: tuple[tuple[TrueRows, Reason], ...]
    failures: tuple[HookFailure, ...]

    @classmethod
    def of(cls, answers: Answers[Filter]) -> FilterAnswers:
        """Return the effect of the answers of plugins."""
        removed = [
            (TrueRows.from_mask(~each.record.allow), plugin_reason(Station.MATCH, each))
            for each in answers.records
        ]
        return cls(tuple(removed), answers.failures)

    def apply(self, candidates: CandidateSet) -> tuple[HookFailure, ...]:
        """Remove the slots, and return the failures."""
        for rows, reason in self.removed:
            candidates.remove_rows(rows, reason)
        for failure in self.failures:
            candidates.remove_all(failure_reason(Station.MATCH, failure))
        return self.failures


def _filter_answers(request: Request, slots: Table, bundle: Bundle, cycle: Cycle) -> FilterAnswers:
    """Return what the filters of plugins say about a request over some slots."""
    arguments = _filter_arguments(request, slots, bundle, cycle)
    return FilterAnswers.of(bundle.hooks.ask(specs.negotiator_filter_slots, **arguments))


def _filter_arguments(request: Request, slots: Table, bundle: Bundle, cycle: Cycle) -> dict[str, Any]:
    return {"request": request, "slots": slots, "cycle": cycle, "settings": bundle.settings}


def _scores(
    candidates: CandidateSet, request: Request, bundle: Bundle, cycle: Cycle
) -> tuple[tuple[Attributed[Score], ...], tuple[HookFailure, ...]]:
    """Return the scores of plugins; one that fails removes every slot."""
    if not bundle.hooks.implements(specs.negotiator_score_slots):
        return (), ()
    answers = bundle.hooks.ask(
        specs.negotiator_score_slots,
        request=request,
        slots=candidates.slots,
        cycle=cycle,
        settings=bundle.settings,
    )
    for failure in answers.failures:
        candidates.remove_all(failure_reason(Station.MATCH, failure))
    return answers.records, answers.failures


def _in_use(slots: Table) -> Mask:
    """Return which slots have a job, by their State, evaluated without another ad."""
    states = slots.alone("State")
    if not states.has(Kind.STRING):
        return np.zeros(len(slots), dtype=np.bool_)
    found = np.isin(states.folded, [slots.pool.code(state) for state in _IN_USE])
    return np.array(np.broadcast_to(found & states.where(Kind.STRING), len(slots)))


_IN_USE_REASON = core_reason(Station.MATCH, Verdict.WAITING, "in_use", "the slot is in use", "State")
#: The reason of a slot that a schedd could not claim.
NO_CLAIM_ID = core_reason(
    Station.MATCH,
    Verdict.WAITING,
    "no_claim_id",
    "no claim id of the slot is left: its startd may be down, or another ad of the slot was matched",
)
_OTHER_SCHEDD = core_reason(
    Station.MATCH,
    Verdict.WAITING,
    "claimed_by_schedd",
    "another schedd has claimed the partitionable slot",
    "RemoteScheddName",
)
_TAKEN_REASON = core_reason(
    Station.MATCH, Verdict.WAITING, "taken", "the slot was granted to an earlier request of this cycle"
)
