"""One negotiation cycle: admit, place, order, match, charge.

A pure function of (snapshot, bundle, cycle, state, stops by time limits): no I/O, no wall clock, no randomness of its own.
The same input gives the same output, byte for byte. The stations *record* and *settle* are the runtime's (``negotiator.runtime``).

Counters of quotas are built anew at the beginning, from what runs and from the matches of earlier cycles. At the end
each counter is compared with the sum of its charges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle.admit import Admitted, admit
from negotiator.cycle.candidate_set import CandidateSet
from negotiator.cycle.claim_amounts import ClaimAmounts, slot_amounts
from negotiator.cycle.claim_reuse import filled_slots
from negotiator.cycle.condition_table import ConditionTable
from negotiator.cycle.conjunct import ConjunctPool
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.cycle_time import (
    CycleProgress,
    CycleTime,
    ProgressWatcher,
    ReachedLimit,
    RecordedTime,
    StationWatcher,
    time_reason,
    untimed,
    unwatched,
)
from negotiator.cycle.declared_charges import DeclaredCharges
from negotiator.cycle.divisible_slots import DivisibleSlots
from negotiator.cycle.match import SlotMatcher
from negotiator.cycle.matched_attributes import MatchedAttributes
from negotiator.cycle.numbering import AlikeJobs
from negotiator.cycle.offered_slots import OfferedSlots
from negotiator.cycle.order import BY_NAME, GuardedOrder
from negotiator.cycle.outcomes import Outcomes, WaitReasons
from negotiator.cycle.overruns import overruns
from negotiator.cycle.place import PlacedPool, place
from negotiator.cycle.quota_refusals import QuotaRefusals
from negotiator.cycle.recount import recount
from negotiator.cycle.request_answers import RequestGroups
from negotiator.cycle.requests import queued_requests
from negotiator.cycle.result import CycleCounts, CycleResult, InUseCount, no_slots_reason, pending_entries
from negotiator.cycle.turns import Turns
from negotiator.cycle.work_accounts import WorkAccounts, owners_of
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.claims_in_use import ClaimsInUse
from negotiator.hooks.order import OrderContext, OrderMaker, RequestOrder
from negotiator.hooks.records import Cycle
from negotiator.pool.snapshot import Snapshot
from negotiator.records import Station


def run_cycle(
    snapshot: Snapshot,
    bundle: Bundle,
    cycle: Cycle,
    state: CycleState | None = None,
    make_order: OrderMaker | None = None,
    time: CycleTime | None = None,
    watch: ProgressWatcher = unwatched,
    begin: StationWatcher = untimed,
    candidate_set: Callable[[Table], CandidateSet] = CandidateSet,
) -> CycleResult:
    """Run one negotiation cycle over a pool under a bundle.

    :param snapshot: the ads of the pool.
    :param bundle: the checked policies; its digest should be the cycle's.
    :param cycle: number, time and digest.
    :param state: the state after earlier cycles and requests of administrators; without it this is the first cycle.
    :param make_order: makes the allocator that decides which request is served next; by default the bundle's.
    :param time: tells which time limits are reached; by default none.
    :param watch: called with the progress.
    :param begin: called when a station begins.
    :param candidate_set: makes the set of the candidates of each request; another one may note more than the counts.
    :return: every match and, for every job that got none, the counted reasons.
    """
    time = RecordedTime() if time is None else time
    state = state or CycleState.new(bundle, cycle.now)
    watch(CycleProgress(Station.ADMIT))
    begin(Station.ADMIT)
    work = WorkAccounts.of(snapshot.slots, snapshot.jobs, state.costly_owners)
    of_jobs = work.for_ads(cycle, AdKind.JOB)
    admitted = admit(snapshot, bundle, cycle, work, state.journal)
    watch(CycleProgress(Station.PLACE))
    begin(Station.PLACE)
    placed = place(snapshot, admitted.jobs, bundle, of_jobs, state)
    in_use = recount(
        *(placed, snapshot.slots, bundle, of_jobs, work, admitted.slot_rows), outside=admitted.outside
    )
    broken = overruns(snapshot, admitted, placed, in_use, bundle, cycle, state.overruns)
    watch(CycleProgress(Station.ORDER))
    begin(Station.ORDER)
    kind = BY_NAME if bundle.ordering.chosen is None else bundle.ordering.chosen.record
    fill = filled_slots(bundle, admitted.slots)
    divisible = DivisibleSlots.of(admitted.slots, cycle.environment, fill=fill)
    requests = queued_requests(
        *(admitted.slots, placed.idle, bundle, state.groups, of_jobs.environment),
        in_queue_order=kind.in_queue_order,
        matches=None if divisible is not None else len(admitted.slots),
        conjuncts=(conjuncts := ConjunctPool()),
    )
    work.before_matching(len(requests))
    first = np.array([int(queued.rows[0]) for queued in requests], np.intp)
    alike = AlikeJobs(placed.idle.jobs.take(first))
    work.of_requests = owners_of(alike.jobs)

    rows = state.order_rows.get(kind.name, {})
    groups = RequestGroups(requests, alike)
    declared = DeclaredCharges(admitted.slots, placed.state.queues, bundle, groups)
    refusals = QuotaRefusals(declared, in_use, work, cycle)
    context = OrderContext(
        *(requests, admitted.slots, admitted.submitters, placed.idle.jobs, cycle),
        settings=bundle.ordering.settings,
        rows=rows,
        queues=placed.state.queues,
        in_use=in_use.claims,
        slot_amounts=partial(slot_amounts, admitted.slots, bundle),
        partition=bundle.partition,
        refusals=refusals.of,
        time=time,
    )
    time.begin_turns()
    order = make_order(context) if make_order is not None else allocator(bundle, context)
    offered = OfferedSlots.of(order.offer(), admitted.slots, bundle.ordering.chosen)
    if divisible is not None:
        divisible.offered(offered.slots)
    matcher = SlotMatcher.of(
        *(offered, cycle.environment, bundle.ordering.ranks, admitted.claim_ids, divisible),
        no_slots=no_slots_reason(admitted.discarded),
        candidate_set=candidate_set,
        groups=groups,
    )
    matcher.ranks.paid_by_owner = lambda job: work.for_job(cycle, job).environment
    if matcher.preemption is not None and matcher.preemption.dynamic is not None:
        # Each of them is a further row in which a partitionable slot is tried.
        work.before_matching(len(requests) * (1 + matcher.preemption.dynamic.most_of_slot))
    amounts = ClaimAmounts.of(admitted.slots, bundle)
    matched = MatchedAttributes(
        *(admitted.slots, placed.idle.jobs, amounts, bundle.job_attributes, alike, first),
    )
    available = matcher.available
    outcomes = Outcomes(cycle, placed.idle.jobs, admitted.slots, offered, matcher.claim_ids.offline, matched)
    if candidate_set is CandidateSet:  # who notes more than counts needs each condition by itself
        matcher.conditions = ConditionTable(
            *(requests, alike, matcher.slots, matcher.requirements),
            *(bundle.constraints, cycle, work, conjuncts),
        )
    turns = Turns(
        *(bundle, cycle, len(requests), matcher, in_use, declared, matched, outcomes, work),
        *(time, watch, begin),
    )
    turns.serve(order)
    limits, reasons = bundle.time_limits, WaitReasons(matcher, order, offered.plugin)
    for queued in requests:
        late = time.reached_last(queued.request)
        outcomes.end(queued, reasons, None if late is None else time_reason(late, limits))
    in_use.ledger.verify()
    ended = order.ended()

    failures = (
        *admitted.failures,
        *placed.failures,
        *in_use.uncertain.values(),
        *broken.failures,
        *outcomes.failures,
    )
    journal = outcomes.journal
    return CycleResult(
        number=cycle.number,
        now=cycle.now,
        digest=cycle.digest,
        plugins=bundle.hooks.plugin_set,
        counts=_counts(snapshot, admitted, placed, len(requests)),
        discarded=(*admitted.discarded, *placed.idle.discarded),
        outcomes=tuple(outcomes),
        failures=tuple(dict.fromkeys(failures)),  # each once, however many requests it met
        placements=placed.placements,
        changes=placed.changes,
        state=placed.state.after(
            pending_entries(journal, outcomes.unclaimed),
            kind.name,
            ended.rows,
            broken.now,
            work.costly_owners(),
        ),
        ledger=in_use.ledger,
        journal=journal,
        order=ended.record,
        reached=tuple(ReachedLimit(stop, time_reason(stop.limit, limits)) for stop in time.stops),
        offered_slots=available,
        turns=ended.counts,
        shares=ended.shares,
        overruns=broken.now,
        overruns_begun=broken.begun,
        overruns_ended=broken.ended,
        shadow_overruns=broken.shadow,
        unjudged=broken.unjudged,
        evictions=broken.evictions,
        in_use=tuple(_jobs_in_use(in_use.claims)),
        unclaimed=outcomes.unclaimed,
    )


def allocator(bundle: Bundle, context: OrderContext) -> RequestOrder:
    """Return the allocator of a cycle: the one that the bundle names, or the core's."""
    chosen = bundle.ordering.chosen
    if chosen is None:
        return BY_NAME.make(context)
    return GuardedOrder.of(chosen, context, bundle.hooks.order_reads(chosen.plugin))


def _jobs_in_use(claims: Iterable[ClaimsInUse]) -> Iterator[InUseCount]:
    counts: Counter[tuple[str, str]] = Counter()
    for each in claims:
        counts[each.request.user, each.request.queue] += len(each.slots)
    for (user, queue), jobs in counts.items():
        yield InUseCount(user, queue, jobs)


def _counts(snapshot: Snapshot, admitted: Admitted, placed: PlacedPool, requests: int) -> CycleCounts:
    return CycleCounts(
        schedds=len(snapshot.schedds),
        submitters=len(snapshot.submitters),
        slots=len(snapshot.slots),
        jobs=len(snapshot.jobs),
        admitted_slots=len(admitted.slots),
        admitted_jobs=len(placed.idle.jobs),
        requests=requests,
    )
