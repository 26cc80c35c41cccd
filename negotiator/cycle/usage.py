"""What is used at the beginning of a cycle: the ledger, built anew from what runs and from matches not yet seen.

Counters are rebuilt, not trusted. What runs is charged by the same hook as what is matched, whatever the limits say:
a counter that is more than full only refuses what comes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.charge import Charges
from negotiator.cycle.numbering import combined, first_rows
from negotiator.cycle.place import PlaceResult
from negotiator.cycle.resources import requested
from negotiator.cycle.standing import JournalEntry, Standing
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle, Request
from negotiator.ledger import Ledger
from negotiator.queues import QueueTree
from negotiator.records import Mode

#: The states of a job that has a slot: running, transferring its output, suspended (HTCondor manual, JobStatus).
_RUNNING = (2, 6, 7)


def running(jobs: Table) -> Table:
    """The jobs that have a slot."""
    return jobs.take(np.isin(jobs.numbers("JobStatus", default=0.0), _RUNNING))


def build_ledger(
    placed: PlaceResult, slots: Table, standing: Standing, queues: QueueTree, bundle: Bundle, cycle: Cycle
) -> tuple[Ledger, tuple[HookFailure, ...]]:
    """Charge what runs, and the matches of earlier cycles that the pool does not show yet.

    ``placed`` are the running jobs with their queues.
    """
    ledger = Ledger()
    failures: dict[HookFailure, None] = {}
    rows_of = {name: row for row, name in enumerate(slots.strings("Name")) if name}
    for request, rows in (*_of_jobs(placed, rows_of, bundle, cycle), *_of_journal(standing, placed, rows_of)):
        answers = bundle.hooks.charges(request, slots, queues, cycle, bundle.settings)
        failures.update(dict.fromkeys(answers.failures))
        for mode in (Mode.ENFORCE, Mode.WARN):
            charges = Charges.of(answers.records, enforcing=mode is Mode.ENFORCE)
            known = rows >= 0
            _count(charges, ledger, rows[known], np.flatnonzero(known), mode)
            _count(charges.anywhere(), ledger, np.zeros_like(rows[~known]), np.flatnonzero(~known), mode)
    return ledger, tuple(failures)


def _count(
    charges: Charges, ledger: Ledger, rows: NDArray[np.intp], copies: NDArray[np.intp], mode: Mode
) -> None:
    if len(rows) and (charges.sums or charges.keys):
        ledger.commit(charges.unlimited(copies).admit(ledger, rows, len(rows), mode))


def _of_jobs(
    placed: PlaceResult, rows_of: dict[str, int], bundle: Bundle, cycle: Cycle
) -> Iterator[tuple[Request, NDArray[np.intp]]]:
    """The running jobs, those that are charged alike together, with the rows of their slots."""
    jobs = placed.jobs
    if not len(jobs):
        return
    read = sorted(bundle.job_attributes) if bundle.job_attributes is not None else sorted(jobs.names())
    alike, _ = jobs.group(read)
    kinds, count = combined(alike, placed.queues, placed.users, placed.groups)
    where = np.array([rows_of.get(name or "", -1) for name in jobs.strings("RemoteHost")], np.intp)
    order = np.argsort(kinds, kind="stable")
    bounds = np.searchsorted(kinds[order], np.arange(count + 1))
    submitters, schedds = job_columns.submitters(jobs), job_columns.schedds(jobs)
    for first, start, end in zip(first_rows(kinds, count).tolist(), bounds[:-1], bounds[1:], strict=True):
        rows = order[start:end]
        ad = jobs.ad(first)
        resources, unknown = requested(ad, bundle, cycle.environment)
        yield (
            Request(
                submitter=submitters[first],
                schedd=schedds[first],
                ad=ad,
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


def _of_journal(
    standing: Standing, placed: PlaceResult, rows_of: dict[str, int]
) -> Iterator[tuple[Request, NDArray[np.intp]]]:
    """The matches that were handed out and that no running job shows yet, those that are charged alike together."""
    names = map(job_columns.job_id, placed.jobs.ads)
    seen = set(zip(job_columns.schedds(placed.jobs), names, strict=True))
    kinds: dict[tuple[object, ...], list[JournalEntry]] = {}
    for entry in standing.journal:
        if (entry.schedd, entry.job) not in seen:
            kinds.setdefault(entry.kind, []).append(entry)
    for entries in kinds.values():
        rows = np.array([rows_of.get(entry.slot, -1) for entry in entries], np.intp)
        yield entries[0].request([entry.application for entry in entries]), rows
