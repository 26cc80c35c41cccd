"""What is used at the beginning of a cycle: the ledger, built anew from what runs and from matches not yet seen.

Counters are rebuilt, not trusted. What runs is charged by the same hook as what is matched, whatever the limits say:
a counter that is more than full only refuses what comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from negotiator import __version__
from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.charge import Charges
from negotiator.cycle.numbering import combined, first_rows
from negotiator.cycle.order import WHOSE
from negotiator.cycle.place import PlaceResult
from negotiator.cycle.resources import requested
from negotiator.cycle.significant import alike_running
from negotiator.cycle.standing import JournalEntry, Standing
from negotiator.cycle.words import CORE
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle, Request
from negotiator.ledger import Ledger, LedgerError
from negotiator.queues import QueueTree
from negotiator.records import Mode

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
    ids = set(zip(schedds, map(job_columns.job_id, jobs.ads), strict=True))
    places = set(zip(schedds, jobs.strings("RemoteHost"), strict=True))
    copies = Counter((entry.schedd, entry.job, entry.at) for entry in entries)
    return [
        (entry.schedd, entry.job) in ids
        if copies[entry.schedd, entry.job, entry.at] == 1
        else (entry.schedd, entry.slot) in places
        for entry in entries
    ]


def build_ledger(
    in_use: Sequence[PlaceResult],
    slots: Table,
    standing: Standing,
    queues: QueueTree,
    bundle: Bundle,
    cycle: Cycle,
) -> tuple[Ledger, dict[str, HookFailure]]:
    """Charge what runs, and the matches of earlier cycles that the pool does not show yet.

    ``in_use`` are the running jobs with their queues, those that slots tell of too. Gives, beside the ledger, the users whose usage could not be
    counted, and why.
    """
    ledger = Ledger()
    uncertain: dict[str, HookFailure] = {}
    rows_of = {name: row for row, name in enumerate(slots.strings("Name")) if name}
    running_jobs = (each for placed in in_use for each in _of_jobs(placed, slots, rows_of, bundle, cycle))
    for request, rows in (*running_jobs, *_of_journal(standing, in_use, rows_of)):
        answers = bundle.hooks.charges(request, slots, queues, cycle, bundle.settings)
        for failure in answers.failures:
            uncertain[request.user] = failure
        for mode in (Mode.ENFORCE, Mode.WARN):
            charges = Charges.of(answers.records, enforcing=mode is Mode.ENFORCE)
            known = rows >= 0
            try:
                _count(charges, ledger, rows[known], np.flatnonzero(known), mode)
                _count(charges.anywhere(), ledger, np.zeros_like(rows[~known]), np.flatnonzero(~known), mode)
            except LedgerError as error:
                uncertain[request.user] = HookFailure(CORE, __version__, "negotiator_charges", str(error))
    return ledger, uncertain


def _count(
    charges: Charges, ledger: Ledger, rows: NDArray[np.intp], copies: NDArray[np.intp], mode: Mode
) -> None:
    """Charge whatever the limits say; where a sum would be more than can be counted, all others are charged still."""
    if not len(rows) or not (charges.sums or charges.keys):
        return
    counted = charges.unlimited(copies)
    admission = counted.admit(ledger, rows, len(rows), mode)
    if len(admission) == len(rows):
        ledger.commit(admission)
        return
    for part in counted.apart():
        ledger.commit(part.admit(ledger, rows, len(rows), mode))


def _of_jobs(
    placed: PlaceResult, slots: Table, rows_of: dict[str, int], bundle: Bundle, cycle: Cycle
) -> Iterator[tuple[Request, NDArray[np.intp]]]:
    """The running jobs, those that are charged alike together, with the rows of their slots."""
    jobs = placed.jobs
    if not len(jobs):
        return
    alike = alike_running(slots, jobs, bundle)
    kinds, count = combined(alike.ids, placed.queues, placed.users, placed.groups)
    where = np.array([rows_of.get(name or "", -1) for name in jobs.strings("RemoteHost")], np.intp)
    order = np.argsort(kinds, kind="stable")
    bounds = np.searchsorted(kinds[order], np.arange(count + 1))
    submitters, schedds = job_columns.submitters(jobs), job_columns.schedds(jobs)
    for first, start, end in zip(first_rows(kinds, count).tolist(), bounds[:-1], bounds[1:], strict=True):
        rows = order[start:end]
        ad, names = jobs.ad(first), alike.names[alike.ids[first]]
        resources, unknown = requested(ad, bundle, cycle.environment)
        yield (
            Request(
                submitter=submitters[first],
                schedd=schedds[first],
                ad=ad if names is None else ad.project([*names, *WHOSE]),
                count=len(rows),
                first_job=job_columns.job_id(ad),
                queue=placed.queues[first],
                user=placed.users[first],
                group=placed.groups[first],
                resources=resources,
                unknown=unknown,
                applications=placed.names(rows),
            ),
            where[rows],
        )


def _counted(journal: Sequence[JournalEntry], placed: PlaceResult) -> list[bool]:
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


def _of_journal(
    standing: Standing, in_use: Sequence[PlaceResult], rows_of: dict[str, int]
) -> Iterator[tuple[Request, NDArray[np.intp]]]:
    """The matches that were handed out and that no running job shows yet, those that are charged alike together."""
    kinds: dict[tuple[object, ...], list[JournalEntry]] = {}
    by_table = [_counted(standing.journal, placed) for placed in in_use]
    for entry, *seen in zip(standing.journal, *by_table, strict=True):
        if not any(seen):
            kinds.setdefault(entry.kind, []).append(entry)
    for entries in kinds.values():
        rows = np.array([rows_of.get(entry.slot, -1) for entry in entries], np.intp)
        yield entries[0].request([entry.application for entry in entries]), rows
