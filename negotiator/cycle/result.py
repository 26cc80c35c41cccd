"""The decisions of a negotiation cycle and their reasons: plain records, equal for equal input, byte for byte; and the same for plugins.

Sizes do not depend on the pool's: reasons are counted per request, never listed per slot.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import attrs

from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.cycle_time import ReachedLimit
from negotiator.cycle.jobs import JobRanges
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.reasons import core_reason
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.order import OrderCounts, ShareUse
from negotiator.hooks.overruns import Eviction, Overrun, OverrunCount
from negotiator.hooks.records import Match, Request
from negotiator.hooks.reports import (
    CycleStatistics,
    CycleSummary,
    Denial,
    DiscardCount,
    ReasonCount,
    Rejection,
)
from negotiator.hooks.turn_time import TimeLimit
from negotiator.ledger import Ledger
from negotiator.placement.chain import ApplicationPlacement
from negotiator.queues import QueueChange
from negotiator.records import CORE, Mode, Reason, Station, Verdict

#: The reason of jobs that other jobs of their request left no slot, or no part of one.
NO_SLOTS_LEFT = core_reason(
    Station.MATCH, Verdict.WAITING, "no_slots_left", "no slots remain for more jobs of the request"
)

#: The reason of a turn that ended because the order allowed no more slots, though there may be some.
ALLOWANCE_USED = core_reason(
    Station.ORDER,
    Verdict.WAITING,
    "allowance_used",
    "the order allows the request no more slots in this cycle",
)
#: The reason of a turn that only slots were allowed to which prefer the request to the job that they run.
ONLY_BY_RANK = core_reason(
    Station.MATCH,
    Verdict.WAITING,
    "limit_reached",
    "the order allows the request only slots that prefer its job to the one that they run",
)
#: They count for their own turn only, and the order may know why (``WaitReason``).
OF_ALLOWANCE = (ALLOWANCE_USED, ONLY_BY_RANK)


#: The reason of a request without a turn: perhaps its submitter is not advertised, or has no share left.
NO_TURN = core_reason(
    Station.ORDER, Verdict.WAITING, "no_turn", "the order gave the request no turn in this cycle"
)


#: The reason of all requests of a cycle without slots.
NO_SLOTS = core_reason(
    Station.MATCH,
    Verdict.WAITING,
    "no_slots",
    "no slot takes part in this cycle: the pool has none, or each was discarded",
)


class Removal(NamedTuple):
    """How many slots one reason took from one request.

    ``removed`` counts the slots that were still candidates when the reason was applied. ``rejected`` counts the admitted
    slots rejected by this reason independently of others: at most this many return if the rule is dropped.
    """

    reason: Reason
    removed: int
    rejected: int


def merged_removals(earlier: Sequence[Removal], last: tuple[Removal, ...]) -> tuple[Removal, ...]:
    """Return the removals of several turns of one request: those of earlier turns alone, then those of the last turn.

    A reason of several turns is listed once, with the largest counts. An allowance counts for its own turn only.
    """
    if not earlier and len({each.reason.text for each in last}) == len(last):
        return last  # the usual case: a first turn, whose reasons all differ
    merged = {_identity(each.reason): each for each in earlier if each.reason not in OF_ALLOWANCE}
    for each in last:
        key = _identity(each.reason)
        before = merged.pop(key, each)
        merged[key] = Removal(
            each.reason, max(before.removed, each.removed), max(before.rejected, each.rejected)
        )
    return tuple(merged.values())


def _identity(reason: Reason) -> Hashable:
    # A text has the numbers too, which can't be hashed.
    return reason.provenance, reason.code, reason.verdict, reason.mode, reason.text


@attrs.frozen
class DiscardedAds:
    """The number of ads of one kind that one reason discarded, and the names of the first few.

    ``jobs`` are the schedds (in lower case) and ids of discarded jobs, for schedds that want the reason; none if there are
    too many.
    """

    kind: AdKind
    reason: Reason
    count: int
    examples: tuple[str, ...]
    jobs: tuple[tuple[str, str], ...] = attrs.field(default=(), repr=False)


def no_slots_reason(discarded: Iterable[DiscardedAds]) -> Reason:
    """Return the reason of all requests of a cycle without slots: why most of them were discarded, if any were."""
    slots = [each for each in discarded if each.kind is AdKind.STARTD]
    if not slots:
        return NO_SLOTS
    most = max(slots, key=lambda each: each.count)
    total = sum(each.count for each in slots)
    text = f"no slot takes part in this cycle: {most.count} of {total} discarded: {most.reason.text}"
    return attrs.evolve(NO_SLOTS, text=text)


@attrs.frozen
class RequestOutcome:
    """What became of one request: its matches, and for the rest the reasons, each with its counts.

    Jobs are matched in the schedd's order; ``first_unmatched`` is the id ("cluster.proc") of the first that got no
    slot, empty where all got one. ``candidates`` is the number of slots left after all reasons, at the last turn.
    ``removals`` are those of all turns, the last turn's at the end. ``jobs_left`` are the ids of all jobs that got no
    slot; an ad that stands for several jobs has one id. ``copies_left`` are the ids of ads, and how many of the jobs that each stands for got no slot;
    empty where each ad stands for one job.
    """

    request: Request
    matches: tuple[Match, ...]
    first_unmatched: str
    candidates: int
    removals: tuple[Removal, ...]
    jobs_left: JobRanges = attrs.field(factory=JobRanges)
    copies_left: tuple[tuple[str, int], ...] = ()

    @property
    def unmatched(self) -> int:
        """The number of jobs that got no slot."""
        return self.request.count - len(self.matches)

    @property
    def rejection(self) -> Rejection | None:
        """The jobs that got no slot; None where all got one."""
        if not self.unmatched:
            return None
        request = self.request
        return Rejection(
            request.submitter, request.schedd, self.unmatched, self.first_unmatched, self._decisive()
        )

    def _decisive(self) -> Reason:
        place = self.decisive_removal
        return NO_SLOTS_LEFT if place is None else self.removals[place].reason

    @property
    def policies(self) -> tuple[Reason, ...]:
        """The reasons of rules of policies that took candidate slots, in their order."""
        enforced = (each for each in self.removals if each.removed and each.reason.mode is Mode.ENFORCE)
        return tuple(each.reason for each in enforced if each.reason.is_of_policy)

    @property
    def decisive_removal(self) -> int | None:
        """The place of the removal whose enforced reason took the last candidate slots; None if no slots were left."""
        places = range(len(self.removals))
        last = self.removals[-1].reason.provenance if self.removals else None
        if last is not None and last.plugin == CORE and last.station is Station.ORDER:
            return places[-1]
        for place in places:
            if self.removals[place].reason.provenance == NO_SLOTS.provenance:
                return place
        for place in reversed(places):
            removal = self.removals[place]
            if removal.removed and removal.reason.mode is Mode.ENFORCE:
                return place
        return None


@attrs.frozen
class CycleCounts:
    """The sizes of a cycle: the ads read, and those admitted to matching."""

    schedds: int
    submitters: int
    slots: int
    jobs: int
    admitted_slots: int
    admitted_jobs: int
    requests: int


@attrs.frozen
class InUseCount:
    """The jobs of a user in a queue that had a slot, or were matched with one, when a cycle began."""

    user: str
    queue: str
    jobs: int


def pending_entries(journal: Sequence[JournalEntry], unclaimed: Container[str]) -> tuple[JournalEntry, ...]:
    """Return the entries of matches that a schedd may claim; the others are charged in their own cycle alone."""
    return tuple(entry for entry in journal if entry.id not in unclaimed)


@attrs.frozen
class CycleResult:
    """The whole outcome of one cycle.

    ``state`` is the state after the cycle, for the runtime to adopt once the cycle is recorded. ``ledger`` has the
    counters with all matches.
    """

    number: int
    now: float
    digest: str  # of the policy bundle
    plugins: tuple[str, ...]  # "name version"
    counts: CycleCounts
    discarded: tuple[DiscardedAds, ...]
    outcomes: tuple[RequestOutcome, ...]
    failures: tuple[HookFailure, ...]  # of plugins, each once
    placements: tuple[ApplicationPlacement, ...] = ()  # of new applications, in their order
    changes: tuple[QueueChange, ...] = ()  # of queues, in their order
    state: CycleState | None = attrs.field(default=None, eq=False, repr=False)
    ledger: Ledger | None = attrs.field(default=None, eq=False, repr=False)
    order: object = attrs.field(default=None, eq=False, repr=False)  # what the allocator recorded
    journal: tuple[JournalEntry, ...] = attrs.field(
        default=(), repr=False
    )  # one entry a match, in their order
    reached: tuple[ReachedLimit, ...] = ()  # time limits, in the order in which they decided something
    offered_slots: int = 0  # that a match could get when the first turn began
    turns: OrderCounts = attrs.field(factory=OrderCounts)
    shares: tuple[ShareUse, ...] = ()  # what each submitter or queue was entitled to, and what it used
    overruns: tuple[Overrun, ...] = ()  # when the cycle began: limits first, then running jobs rule by rule
    overruns_begun: tuple[Overrun, ...] = ()  # since the cycle before
    overruns_ended: tuple[Overrun, ...] = ()
    shadow_overruns: tuple[OverrunCount, ...] = ()  # of rules that do not enforce
    unjudged: int = 0  # running jobs that not every rule could judge
    evictions: tuple[Eviction, ...] = ()  # running jobs that are to end
    in_use: tuple[InUseCount, ...] = ()  # when the cycle began, by user and queue
    unclaimed: frozenset[str] = (
        frozenset()
    )  # ids of the matches with slots that are offline: no schedd claims them

    @property
    def pending(self) -> tuple[JournalEntry, ...]:
        """The entries of the journal that count until the pool shows their claims."""
        return pending_entries(self.journal, self.unclaimed)

    @property
    def matches(self) -> tuple[Match, ...]:
        """All matches, request by request."""
        return tuple(match for outcome in self.outcomes for match in outcome.matches)

    @property
    def jobs_in_overrun(self) -> int:
        """The number of running jobs that break a rule."""
        return len({(each.schedd, each.job, each.slot) for each in self.overruns if not each.is_limit})

    @property
    def overrun_counts(self) -> tuple[OverrunCount, ...]:
        """How many running jobs break each rule, then how many would break those that do not enforce."""
        found: dict[tuple[str, str], OverrunCount] = {}
        for each in self.overruns:
            if not each.is_limit:
                where = each.reason.provenance
                key = where.plugin, where.rule
                found[key] = OverrunCount(each.reason, 1 + (found[key].jobs if key in found else 0))
        return (*found.values(), *self.shadow_overruns)

    @property
    def rejections(self) -> tuple[Rejection, ...]:
        """The jobs that got no slot, request by request."""
        return tuple(outcome.rejection for outcome in self.outcomes if outcome.rejection is not None)


@attrs.frozen
class CycleSpan:
    """When a cycle began and ended, in seconds since the epoch, and the processor time in between."""

    begun: float = 0.0
    ended: float = 0.0
    cpu_seconds: float = 0.0


def summarize(
    result: CycleResult,
    delivered: Iterable[Match],
    seconds: Mapping[str, float],
    span: CycleSpan | None = None,
    processor_seconds: Mapping[str, float] | None = None,
) -> CycleSummary:
    """Return the summary of a cycle.

    :param result: the result of the cycle.
    :param delivered: the matches that were delivered.
    :param seconds: the time that each station took, by its name.
    :param span: when the cycle took place; at the time of its result if None.
    :param processor_seconds: those that each station used of the processor.
    """
    return CycleSummary(
        matches=tuple(delivered),
        denials=tuple(_denial(outcome) for outcome in result.outcomes if outcome.unmatched),
        discarded=tuple(
            DiscardCount(each.kind, each.reason, each.count, each.examples) for each in result.discarded
        ),
        failures=result.failures,
        overruns=result.overruns,
        overruns_begun=result.overruns_begun,
        overruns_ended=result.overruns_ended,
        unjudged=result.unjudged,
        seconds=MappingProxyType(dict(seconds)),
        processor_seconds=MappingProxyType(dict(processor_seconds or {})),
        statistics=_statistics(result, span or CycleSpan(result.now, result.now)),
    )


def _statistics(result: CycleResult, span: CycleSpan) -> CycleStatistics:
    stops = [each.stop for each in result.reached]
    late_submitters = [each.submitter for each in stops if each.limit is TimeLimit.SUBMITTER]
    late_schedds = [each.schedd for each in stops if each.limit is TimeLimit.SCHEDD]
    return CycleStatistics(
        number=result.number,
        begun=span.begun,
        ended=span.ended,
        cpu_seconds=span.cpu_seconds,
        slots=result.counts.slots,
        offered_slots=result.offered_slots,
        rejections=len(result.rejections),
        pies=result.turns.pies,
        spins=result.turns.spins,
        share_limited=result.turns.share_limited,
        submitters_out_of_time=tuple(dict.fromkeys(late_submitters)),
        schedds_out_of_time=tuple(dict.fromkeys(late_schedds)),
    )


def _denial(outcome: RequestOutcome) -> Denial:
    request = outcome.request
    return Denial(
        submitter=request.submitter,
        schedd=request.schedd,
        user=request.user,
        queue=request.queue,
        jobs=outcome.unmatched,
        first_job=outcome.first_unmatched,
        reasons=tuple(ReasonCount(each.reason, each.removed, each.rejected) for each in outcome.removals),
    )
