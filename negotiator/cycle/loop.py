"""One negotiation cycle: admit, place, order, match, charge.

A pure function of (snapshot, bundle, cycle, state): no I/O, no wall clock, no randomness of its own. The same input gives the
same output, byte for byte. Recording and settling are the runtime's (``negotiator.runtime``).

Counters of quotas are built anew at the beginning, from what runs and what was handed out before; in the end each is
held against what was charged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle.admit import admit
from negotiator.cycle.charge import GrantedSlots, charge
from negotiator.cycle.cycle_state import CycleState, JournalEntry, ad_text
from negotiator.cycle.jobs import job_id
from negotiator.cycle.match import MatchCandidates, SlotMatcher, match
from negotiator.cycle.order import QueuedRequest, order
from negotiator.cycle.place import place
from negotiator.cycle.recount import build_ledger
from negotiator.cycle.result import CycleCounts, CycleResult, RequestOutcome
from negotiator.cycle.running_jobs import place_in_use
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle, Match, Request
from negotiator.pool.snapshot import Snapshot


def run_cycle(
    snapshot: Snapshot, bundle: Bundle, cycle: Cycle, state: CycleState | None = None
) -> CycleResult:
    """Run one negotiation cycle over a pool under a bundle.

    :param snapshot: the ads of the pool.
    :param bundle: the checked policies; its digest should be the cycle's.
    :param cycle: number, time and digest.
    :param state: what earlier cycles and administrators left; without it this is the first.
    :return: every match and, for every job that got none, the counted reasons.
    """
    state = state or CycleState.new(bundle, cycle.now)
    admitted = admit(snapshot, bundle, cycle, state.journal)
    in_use = place_in_use(snapshot, bundle, cycle, state)
    placed = place(admitted.jobs, bundle, cycle, in_use.state)
    queues = placed.after(in_use.state).queues
    jobs = placed.jobs
    queue = order(admitted.slots, placed, bundle, state.groups, cycle.environment)
    board = SlotMatcher.of(admitted.slots, cycle.environment)
    ledger, uncertain = build_ledger(in_use, snapshot.slots, queues, bundle, cycle)
    failures = [*admitted.failures, *in_use.failures, *placed.failures, *uncertain.values()]
    outcomes: list[RequestOutcome] = []
    journal: list[JournalEntry] = []
    made = 0
    for queued in queue:
        found = match(queued.request, board, bundle, cycle)
        granted = charge(queued.request, found, board, bundle, ledger, queues, cycle, uncertain)
        failures += (*found.failures, *granted.failures)
        matches = tuple(_matches(queued, found, granted, jobs, board.slots, f"{cycle.number}.", made))
        removals = (*found.removals, *granted.removals)
        outcomes.append(
            RequestOutcome(queued.request, matches, _first_left(queued, granted, jobs), found.left, removals)
        )
        journal += _journal(queued.request, matches, granted, cycle.now)
        made += len(matches)
        board.taken[granted.rows] = True
    ledger.verify()

    places = (*in_use.places, placed)
    counts = CycleCounts(
        schedds=len(snapshot.schedds),
        submitters=len(snapshot.submitters),
        slots=len(snapshot.slots),
        jobs=len(snapshot.jobs),
        admitted_slots=len(admitted.slots),
        admitted_jobs=len(jobs),
        requests=len(queue),
    )
    return CycleResult(
        number=cycle.number,
        now=cycle.now,
        digest=cycle.digest,
        plugins=bundle.hooks.plugin_set,
        counts=counts,
        discarded=(*admitted.discarded, *placed.discarded),
        outcomes=tuple(outcomes),
        failures=_once(failures),
        placements=tuple(told for each in places for told in each.placements),
        changes=tuple(change for each in places for change in each.changes),
        queueing=next((each.queueing for each in reversed(places) if each.queueing), None),
        ledger=ledger,
        journal=tuple(journal),
    )


def _matches(
    queued: QueuedRequest,
    found: MatchCandidates,
    granted: GrantedSlots,
    jobs: Table,
    slots: Table,
    prefix: str,
    made: int,
) -> Iterator[Match]:
    pairs = zip(
        queued.rows[granted.copies].tolist(), granted.rows.tolist(), granted.ranks.tolist(), strict=True
    )
    for number, (job_row, row, rank) in enumerate(pairs):
        job, slot = jobs.ad(job_row), slots.ad(row)
        warnings = [reason for reason, mask in found.warnings if mask[row]]
        warnings += (reason for reason, places in granted.warnings if number in places)
        yield Match(
            id=f"{prefix}{made + number + 1}",
            submitter=queued.request.submitter,
            schedd=queued.request.schedd,
            job=job_id(job),
            slot=slot.string("Name") or f"slot {row}",
            job_ad=job,
            slot_ad=slot,
            rank=rank,
            queue=queued.request.queue,
            warnings=tuple(warnings),
        )


def _first_left(queued: QueuedRequest, granted: GrantedSlots, jobs: Table) -> str:
    """The id of the first job that got no slot, empty where all got one."""
    left = np.ones(len(queued.rows), np.bool_)
    left[granted.copies] = False
    rows = queued.rows[left]
    return job_id(jobs.ad(int(rows[0]))) if len(rows) else ""


def _journal(
    request: Request, matches: Sequence[Match], granted: GrantedSlots, now: float
) -> Iterator[JournalEntry]:
    """What is to be remembered of the matches of a request until the pool shows them."""
    ad, resources = ad_text(request.ad) if matches else "", tuple(sorted(request.resources.items()))
    for made, copy in zip(matches, granted.copies.tolist(), strict=True):
        yield JournalEntry(
            id=made.id,
            at=now,
            submitter=request.submitter,
            schedd=request.schedd,
            job=made.job,
            slot=made.slot,
            queue=request.queue,
            user=request.user,
            group=request.group,
            application=request.applications[copy],
            resources=resources,
            ad=ad,
        )


def _once(failures: Iterable[HookFailure]) -> tuple[HookFailure, ...]:
    """Tell each failure once, however many requests it met."""
    return tuple(dict.fromkeys(failures))
