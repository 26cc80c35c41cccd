"""One negotiation cycle: admit, place, order, match, charge.

A pure function of (snapshot, bundle, cycle, standing): no I/O, no wall clock, no randomness of its own. The same input gives the
same output, byte for byte. Recording and settling are the runtime's (``negotiator.runtime``).

The station *charge* (quotas) passes everything on until there are policies for it: every candidate that *match* gives
is a match.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle.admit import admit
from negotiator.cycle.charge import charge
from negotiator.cycle.jobs import job_id
from negotiator.cycle.match import Board, Candidates, match
from negotiator.cycle.order import Queued, order
from negotiator.cycle.place import place
from negotiator.cycle.result import Counts, CycleResult, Outcome
from negotiator.cycle.standing import Standing
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle, Mask, Match
from negotiator.pool.snapshot import Snapshot


def run_cycle(
    snapshot: Snapshot, bundle: Bundle, cycle: Cycle, standing: Standing | None = None
) -> CycleResult:
    """Run one negotiation cycle over a pool under a bundle.

    :param snapshot: the ads of the pool.
    :param bundle: the checked policies; its digest should be the cycle's.
    :param cycle: number, time and digest.
    :param standing: what earlier cycles and administrators left; without it this is the first.
    :return: every match and, for every job that got none, the counted reasons.
    """
    admitted = admit(snapshot, bundle, cycle)
    placed = place(admitted.jobs, bundle, cycle, standing or Standing.new(bundle, cycle.now))
    jobs = placed.jobs
    queue = order(admitted.slots, jobs, placed.queues, bundle)
    board = Board.of(admitted.slots, cycle.environment)
    failures = [*admitted.failures, *placed.failures]
    outcomes: list[Outcome] = []
    made = 0
    for queued in queue:
        found = match(queued.request, board, bundle, cycle)
        granted = charge(queued.request, found)
        failures += found.failures
        matches = tuple(_matches(queued, found, granted, jobs, board.slots, f"{cycle.number}.", made))
        rest = queued.rows[len(matches) :]
        first_unmatched = job_id(jobs.ad(int(rest[0]))) if len(rest) else ""
        outcomes.append(Outcome(queued.request, matches, first_unmatched, found.left, found.removals))
        made += len(matches)
        board.taken[found.rows[granted]] = True

    counts = Counts(
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
        placements=placed.placements,
        changes=placed.changes,
        queueing=placed.queueing,
    )


def _matches(
    queued: Queued, found: Candidates, granted: Mask, jobs: Table, slots: Table, prefix: str, made: int
) -> Iterator[Match]:
    rows, ranks = found.rows[granted], found.ranks[granted]
    for ordinal, (job_row, row, rank) in enumerate(
        zip(queued.rows, rows, ranks, strict=False), start=made + 1
    ):
        job, slot = jobs.ad(int(job_row)), slots.ad(int(row))
        yield Match(
            id=f"{prefix}{ordinal}",
            submitter=queued.request.submitter,
            schedd=queued.request.schedd,
            job=job_id(job),
            slot=slot.string("Name") or f"slot {row}",
            job_ad=job,
            slot_ad=slot,
            rank=float(rank),
            queue=queued.request.queue,
            noted=tuple(reason for reason, mask in found.noted if mask[row]),
        )


def _once(failures: Iterable[HookFailure]) -> tuple[HookFailure, ...]:
    """Tell each failure once, however many requests it met."""
    return tuple(dict.fromkeys(failures))
