"""One slot and all idle jobs of a pool, in one pass: a step for each class of alike jobs, whatever the number of slots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from typing import Final

import attrs
import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Environment, Table
from negotiator.cycle.admit import Admitted, admit
from negotiator.cycle.charge import charge
from negotiator.cycle.claim_reuse import filled_slots
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.declared_charges import DeclaredCharges
from negotiator.cycle.divisible_slots import DivisibleSlots
from negotiator.cycle.jobs import NOT_IDLE, job_ids, schedds
from negotiator.cycle.match import SlotMatcher, match
from negotiator.cycle.offered_slots import OfferedSlots
from negotiator.cycle.place import PlacedPool, place
from negotiator.cycle.recount import Recount, recount
from negotiator.cycle.requests import queued_requests
from negotiator.cycle.result import NO_SLOTS_LEFT, DiscardedAds
from negotiator.cycle.work_accounts import WorkAccounts
from negotiator.explain.job.conditions import Condition, lever_of, merged
from negotiator.explain.job.explanation import RecordedCandidates
from negotiator.explain.job.near_miss import JOBS, MissedAds, near_miss
from negotiator.explain.slot.explanation import JobRemedy, RefusedJobs, SlotAlone
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.order import QueuedRequest
from negotiator.hooks.records import Cycle, Request
from negotiator.ledger import Rows
from negotiator.pool.snapshot import Snapshot
from negotiator.records import Mode, Reason

#: The conditions with most jobs, of which the nearest value is looked for.
_WITH_NEAR: Final = 20
_MOST_REMEDIES: Final = 3


def explain_jobs(snapshot: Snapshot, bundle: Bundle, cycle: Cycle, state: CycleState, row: int) -> SlotAlone:
    """Return what keeps the idle jobs of a pool from a slot, each considered alone; nothing is changed.

    The stations are those of a cycle; each class of jobs is matched with this slot only, and what it is charged is released again.

    :param row: the row of the slot in the snapshot.
    """
    work = WorkAccounts.of(snapshot.slots, snapshot.jobs)
    of_jobs = work.for_ads(cycle, AdKind.JOB)
    admitted = admit(snapshot, bundle, cycle, work, state.journal)
    places = np.flatnonzero(admitted.slot_rows == row)
    if not len(places):
        return SlotAlone(discarded=_discarded(snapshot, bundle, cycle, state, row))
    placed = place(snapshot, admitted.jobs, bundle, of_jobs, state)
    in_use = recount(
        *(placed, snapshot.slots, bundle, of_jobs, work, admitted.slot_rows), outside=admitted.outside
    )
    slot = admitted.slots.take(places)
    requests = queued_requests(slot, placed.idle, bundle, state.groups, of_jobs.environment, matches=1)
    work.before_matching(len(requests))
    steps = _Steps.of(admitted, places, placed, in_use, bundle, cycle, work)
    found = _JobSums()
    for queued in requests:
        found.add(queued, *steps.of_class(queued.request))
    gone = (*admitted.discarded, *placed.idle.discarded)
    return attrs.evolve(
        found.answer(slot, placed.idle.jobs, cycle.environment),
        classes=len(requests),
        no_part=tuple(_without_part(gone)),
    )


def _discarded(
    snapshot: Snapshot, bundle: Bundle, cycle: Cycle, state: CycleState, row: int
) -> tuple[Reason, ...]:
    """Return why a slot takes no part."""
    only = attrs.evolve(
        snapshot, slots=snapshot.slots.take([row]), jobs=snapshot.jobs.take([]), claim_ids=None
    )
    admitted = admit(only, bundle, cycle, WorkAccounts.of(only.slots, only.jobs), state.journal)
    return tuple(
        each.reason
        for each in admitted.discarded
        if each.kind is AdKind.STARTD and each.reason.mode is Mode.ENFORCE
    )


def _without_part(discarded: Sequence[DiscardedAds]) -> Iterator[RefusedJobs]:
    """Yield why idle jobs take no part."""
    for each in discarded:
        is_decisive = each.reason.mode is Mode.ENFORCE and each.reason.code not in NOT_IDLE
        if each.kind is AdKind.JOB and is_decisive:
            yield RefusedJobs(each.reason, each.count)


@attrs.frozen(eq=False)
class _Steps:
    """The stations *match* and *charge* over one slot, for one class after the other."""

    bundle: Bundle
    cycle: Cycle
    work: WorkAccounts
    in_use: Recount
    matcher: SlotMatcher
    declared: DeclaredCharges
    recorded: list[RecordedCandidates]

    @classmethod
    def of(
        cls,
        admitted: Admitted,
        places: Rows,
        placed: PlacedPool,
        in_use: Recount,
        bundle: Bundle,
        cycle: Cycle,
        work: WorkAccounts,
    ) -> _Steps:
        """Prepare the slot, by its place among those that take part."""
        slot, recorded = admitted.slots.take(places), list[RecordedCandidates]()

        def candidate_set(slots: Table) -> RecordedCandidates:
            recorded[:] = [RecordedCandidates(slots)]
            return recorded[0]

        divisible = DivisibleSlots.of(slot, cycle.environment, fill=filled_slots(bundle, slot))
        if divisible is not None:
            divisible.offered(slot)
        matcher = SlotMatcher.of(
            *(OfferedSlots(slot), cycle.environment, bundle.ordering.ranks),
            claim_ids=None if admitted.claim_ids is None else admitted.claim_ids[places],
            divisible=divisible,
            candidate_set=candidate_set,
        )
        declared = DeclaredCharges(slot, placed.state.queues, bundle)
        return cls(bundle, cycle, work, in_use, matcher, declared, recorded)

    def of_class(self, request: Request) -> tuple[Sequence[Reason], Sequence[Reason]]:
        """Return the reasons that reject one job of a class, and the quotas that refuse it if nothing does."""
        one = attrs.evolve(request, applications=request.applications[:1])
        paid = self.work.for_job(self.cycle, one.ad)
        candidates = match(one, self.matcher, self.bundle, paid)
        reasons = [reason for reason, _ in merged(self.recorded[0].rejected)]
        if reasons:
            return reasons, ()
        charges = partial(self.declared.of, one, paid)
        granted = charge(
            one, candidates, self.matcher, self.in_use, lambda part: charges(consumption=part), paid
        )
        for receipt in granted.receipts:
            self.in_use.ledger.release(receipt)
        if len(granted.rows):
            return (), ()
        return (), [each.reason for each in granted.removals] or [NO_SLOTS_LEFT]


@attrs.define(eq=False)
class _JobSums:
    """Jobs by what rejects them: patterns are the numbers of the conditions that reject a class."""

    _numbers: dict[Hashable, int] = attrs.field(factory=dict, init=False)
    _reasons: list[Reason] = attrs.field(factory=list, init=False)
    _patterns: Counter[tuple[int, ...]] = attrs.field(factory=Counter, init=False)
    _only: dict[int, list[QueuedRequest]] = attrs.field(factory=dict, init=False)
    _quotas: dict[Hashable, RefusedJobs] = attrs.field(factory=dict, init=False)
    _possible: list[QueuedRequest] = attrs.field(factory=list, init=False)

    def add(self, queued: QueuedRequest, reasons: Sequence[Reason], quotas: Sequence[Reason]) -> None:
        """Add the jobs of one class."""
        pattern = tuple(dict.fromkeys(map(self._number, reasons)))
        self._patterns[pattern] += queued.request.count
        if len(pattern) == 1:
            self._only.setdefault(pattern[0], []).append(queued)
        for each in quotas[:1]:
            key = each.provenance, each.code
            before = self._quotas.get(key, RefusedJobs(each, 0))
            self._quotas[key] = attrs.evolve(before, jobs=before.jobs + queued.request.count)
        if not pattern and not quotas:
            self._possible.append(queued)

    def _number(self, reason: Reason) -> int:
        key = reason.provenance, reason.code, reason.text
        number = self._numbers.setdefault(key, len(self._reasons))
        if number == len(self._reasons):
            self._reasons.append(reason)
        return number

    def answer(self, slot: Table, jobs: Table, env: Environment) -> SlotAlone:
        """Return the sums, with the nearest values of the conditions with most jobs."""
        rejected = Counter[int]()
        for pattern, count in self._patterns.items():
            rejected.update(dict.fromkeys(pattern, count))
        conditions = {
            number: Condition(
                self._reasons[number], count, self._patterns[number,], lever_of(self._reasons[number], None)
            )
            for number, count in rejected.items()
        }
        order = sorted(conditions, key=lambda each: (-conditions[each].alone, -conditions[each].rejected))
        for number in order[:_WITH_NEAR]:
            missed = _missed(self._only.get(number, ()), jobs)
            near = near_miss(self._reasons[number], missed, slot.ad(0), env)
            conditions[number] = attrs.evolve(conditions[number], near=near)
        least = min(map(len, self._patterns), default=0)
        fewest = Counter({each: count for each, count in self._patterns.items() if len(each) == least > 0})
        return SlotAlone(
            jobs=sum(self._patterns.values()),
            fitting=self._patterns[()],
            possible=sum(each.request.count for each in self._possible),
            conditions=tuple(conditions[number] for number in order),
            remedies=tuple(
                JobRemedy(tuple(conditions[number] for number in pattern), count)
                for pattern, count in fewest.most_common(_MOST_REMEDIES)
            ),
            quotas=tuple(sorted(self._quotas.values(), key=lambda each: -each.jobs)),
            ids=_ids(self._possible, jobs),
        )


def _missed(classes: Sequence[QueuedRequest], jobs: Table) -> MissedAds:
    """Return a job of each class, with the number of its jobs."""
    rows = np.array([each.rows[0] for each in classes], np.intp)
    counts = np.array([each.request.count for each in classes], np.int64)
    return MissedAds(jobs.take(rows), counts, JOBS)


def _ids(classes: Sequence[QueuedRequest], jobs: Table) -> frozenset[tuple[str, str]]:
    if not classes:
        return frozenset()
    chosen = jobs.take(np.concatenate([each.ads for each in classes]))
    return frozenset(zip(schedds(chosen).tolist(), job_ids(chosen), strict=True))
