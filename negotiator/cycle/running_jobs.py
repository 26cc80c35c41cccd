"""The jobs that have a slot, and the matches of earlier cycles that they show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from negotiator.classad import Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.placement_pass import PlacedJobs


def shown_matches(entries: Sequence[JournalEntry], jobs: Table) -> list[bool]:
    """Return for each match whether running jobs show it, so that it does not count beside them.

    A match is shown by its job. The ad of a request for several jobs does not name the job of a match: each match
    of such a request is shown by a job of its schedd on its slot.
    """
    if not entries:
        return []
    schedds = job_columns.schedds(jobs)
    ids = set(zip(schedds, job_columns.job_ids(jobs, range(len(jobs))), strict=True))
    slots = set(zip(schedds, jobs.strings("RemoteHost"), strict=True))
    copies = Counter((entry.schedd, entry.job, entry.at) for entry in entries)
    return [
        (entry.schedd, entry.job) in ids
        if copies[entry.schedd, entry.job, entry.at] == 1
        else (entry.schedd, entry.slot) in slots
        for entry in entries
    ]


def unseen_matches(journal: Sequence[JournalEntry], in_use: Sequence[PlacedJobs]) -> Iterator[JournalEntry]:
    """Yield the matches that are not among the jobs in use."""
    by_table = [_counted(journal, placed) for placed in in_use]
    for entry, *counted in zip(journal, *by_table, strict=True):
        if not any(counted):
            yield entry


def _counted(journal: Sequence[JournalEntry], placed: PlacedJobs) -> list[bool]:
    """Return for each match whether jobs in use account for it.

    They do if its job is among them, or if its user has its slot at its schedd for another job. A slot that is only
    claimed does not name the schedd (``""``), but the user.
    """
    jobs = placed.jobs
    slots = set(
        zip(job_columns.schedds(jobs), placed.users.tolist(), jobs.strings("RemoteHost"), strict=True)
    )
    return [
        is_shown or not slots.isdisjoint((schedd, entry.user, entry.slot) for schedd in (entry.schedd, ""))
        for entry, is_shown in zip(journal, shown_matches(journal, jobs), strict=True)
    ]
