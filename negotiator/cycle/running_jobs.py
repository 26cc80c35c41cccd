"""What is in use at the beginning of a cycle: what runs, what slots say of their claims, and what was just handed out.

All of it is in queues: new applications among it are placed before those that wait.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import attrs
import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.claimed_slots import claimed_jobs
from negotiator.cycle.cycle_state import CycleState, JournalEntry
from negotiator.cycle.place import PlacedJobs, place_running
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle
from negotiator.pool.snapshot import Snapshot

#: The states of a job that has a slot: running, transferring its output, suspended (HTCondor manual, JobStatus).
_RUNNING = (2, 6, 7)


def running(jobs: Table) -> Table:
    """The jobs that have a slot."""
    return jobs.take(np.isin(jobs.numbers("JobStatus", default=0.0), _RUNNING))


def shown(entries: Sequence[JournalEntry], jobs: Table) -> list[bool]:
    """Whether running jobs show each match, so that it is not to be counted beside them.

    A match is shown by its job. An ad that stands for several jobs does not tell which of them a match is for: each of
    its matches is shown by a job of its schedd on its slot.
    """
    if not entries:
        return []
    schedds = job_columns.schedds(jobs)
    ids = set(zip(schedds, job_columns.job_ids(jobs, range(len(jobs))), strict=True))
    places = set(zip(schedds, jobs.strings("RemoteHost"), strict=True))
    copies = Counter((entry.schedd, entry.job, entry.at) for entry in entries)
    return [
        (entry.schedd, entry.job) in ids
        if copies[entry.schedd, entry.job, entry.at] == 1
        else (entry.schedd, entry.slot) in places
        for entry in entries
    ]


@attrs.frozen
class RunningJobs:
    """The running jobs with their queues, then those that only their slots tell of; and the cycle state with both."""

    places: tuple[PlacedJobs, ...]
    matched: tuple[JournalEntry, ...]  # matches of earlier cycles that neither shows yet
    state: CycleState

    @property
    def failures(self) -> tuple[HookFailure, ...]:
        """The plugins that could not be asked where something goes."""
        return tuple(failure for placed in self.places for failure in placed.failures)


def place_in_use(snapshot: Snapshot, bundle: Bundle, cycle: Cycle, state: CycleState) -> RunningJobs:
    """Give what is in use its queues.

    :param state: the queues and applications as they were, and the matches that were handed out.
    """
    runs = running(snapshot.jobs)
    of_jobs = place_running(runs, bundle, cycle, state)
    state = of_jobs.after(state)
    claims = claimed_jobs(snapshot.slots, runs, bundle.resources)
    of_claims = place_running(claims, bundle, cycle, state, "claim")
    places = (of_jobs, of_claims)
    return RunningJobs(places, tuple(_unseen(state.journal, places)), of_claims.after(state))


def _unseen(journal: Sequence[JournalEntry], places: Sequence[PlacedJobs]) -> Sequence[JournalEntry]:
    """The matches that are not among what runs."""
    by_table = [_counted(journal, placed) for placed in places]
    return [entry for entry, *seen in zip(journal, *by_table, strict=True) if not any(seen)]


def _counted(journal: Sequence[JournalEntry], placed: PlacedJobs) -> list[bool]:
    """Whether each match is among what runs: its job is there, or its user's schedd has its slot for another job.

    A slot that is only claimed does not tell the schedd (``""``); its user does.
    """
    jobs = placed.jobs
    owners = zip(job_columns.schedds(jobs), placed.users.tolist(), jobs.strings("RemoteHost"), strict=True)
    there, seen = set(owners), shown(journal, jobs)
    return [
        is_seen or not there.isdisjoint((schedd, entry.user, entry.slot) for schedd in (entry.schedd, ""))
        for entry, is_seen in zip(journal, seen, strict=True)
    ]
