"""Station *place*: the queue of each application, and whether its user may submit there.

Resources in use are placed first, so that they count in their queues: running jobs, then jobs that only their claimed slots
show. Then come the idle jobs.
"""

from __future__ import annotations

import attrs
import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle.claims import ClaimIndex, JobsInUse, MatchedClaims, claimed_jobs, match_claims, slots_of
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.placement_pass import PlacedJobs as PlacedJobs
from negotiator.cycle.placement_pass import PlacementPass
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle
from negotiator.ledger import Rows
from negotiator.placement.chain import ApplicationPlacement
from negotiator.pool.snapshot import Snapshot
from negotiator.queues import QueueChange


@attrs.frozen(eq=False)
class PlacedPool:
    """All jobs of a pool with their queues: running ones, those that only claimed slots show, and idle ones.

    ``slot_rows`` are the rows of the slots of those in use, (N,) each, -1 for a slot that is not in the pool. ``journal`` has the matches of earlier cycles, and ``claims`` the match of each job in use. ``state`` has the queues
    and applications with everything placed.
    """

    running: PlacedJobs
    claimed: PlacedJobs
    idle: PlacedJobs
    slot_rows: tuple[Rows, Rows]
    journal: tuple[JournalEntry, ...]
    claims: MatchedClaims
    state: CycleState

    @property
    def in_use(self) -> tuple[PlacedJobs, PlacedJobs]:
        """The jobs that have a slot."""
        return self.running, self.claimed

    @property
    def unseen(self) -> tuple[JournalEntry, ...]:
        """The matches of earlier cycles not yet visible as running jobs or claimed slots."""
        return tuple(self.journal[number] for number in self.claims.unseen)

    @property
    def failures(self) -> tuple[HookFailure, ...]:
        """The plugins that failed, in the order of the jobs."""
        return tuple(failure for jobs in (*self.in_use, self.idle) for failure in jobs.failures)

    @property
    def placements(self) -> tuple[ApplicationPlacement, ...]:
        """The placements of new applications, in the order of the jobs."""
        return tuple(placement for jobs in (*self.in_use, self.idle) for placement in jobs.placements)

    @property
    def changes(self) -> tuple[QueueChange, ...]:
        """The changes of queues, in their order."""
        return tuple(change for jobs in (*self.in_use, self.idle) for change in jobs.changes)


def place(
    snapshot: Snapshot, idle: Table | None, bundle: Bundle, cycle: Cycle, state: CycleState
) -> PlacedPool:
    """Place all jobs of a pool in one pass.

    :param idle: the idle jobs that were admitted; None to place only the jobs in use.
    :param state: the queues and applications before, and the journal.
    """
    placement = PlacementPass.of(bundle, cycle, state)
    running = placement.place_in_use(snapshot.running, "running job")
    rows = slots_of(snapshot.running, snapshot.slots)
    claims, of_claims = claimed_jobs(snapshot.slots, snapshot.running, rows, bundle.resources)
    claimed = placement.place_in_use(claims, "claim")
    waiting = placement.place(_no_jobs(snapshot) if idle is None else idle, state.held)
    slot_rows = rows[running.rows], of_claims[claimed.rows]
    tables = zip((running, claimed), slot_rows, strict=True)
    in_use = [JobsInUse(each.jobs, each.users, own) for each, own in tables]
    matched = match_claims(state.journal, ClaimIndex(in_use, snapshot.slots))
    journal = list(state.journal)
    unseen = placement.current([journal[number] for number in matched.unseen])
    for number, entry in zip(matched.unseen, unseen, strict=True):
        journal[number] = entry
    return PlacedPool(running, claimed, waiting, slot_rows, tuple(journal), matched, placement.after())


def place_idle(jobs: Table, bundle: Bundle, cycle: Cycle, state: CycleState) -> PlacedJobs:
    """Place idle jobs alone, as if nothing ran."""
    return PlacementPass.of(bundle, cycle, state).place(jobs, state.held)


def _no_jobs(snapshot: Snapshot) -> Table:
    return snapshot.jobs.take(np.zeros(0, np.intp))
