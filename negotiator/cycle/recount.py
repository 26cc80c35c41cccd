"""The ledger at the beginning of a cycle, built anew from what is in use.

Counters are rebuilt, not trusted. What runs is charged by the same hook as what is matched, whatever the limits say:
a counter that is more than full only refuses what comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator import __version__
from negotiator.bundle.model import Bundle
from negotiator.classad import Environment, Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.applications import user_groups
from negotiator.cycle.autoclusters import alike_running
from negotiator.cycle.charge import Charges
from negotiator.cycle.cycle_state import JournalEntry
from negotiator.cycle.numbering import combined, first_rows
from negotiator.cycle.order import WHOSE, Groups
from negotiator.cycle.place import PlacedJobs
from negotiator.cycle.reasons import CORE
from negotiator.cycle.resources import requested
from negotiator.cycle.running_jobs import RunningJobs
from negotiator.hooks import specs
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle, Request
from negotiator.ledger import Ledger, LedgerError
from negotiator.queues import QueueTree
from negotiator.records import Mode


def build_ledger(
    in_use: RunningJobs, slots: Table, queues: QueueTree, bundle: Bundle, cycle: Cycle
) -> tuple[Ledger, dict[str, HookFailure]]:
    """Charge what is in use, as plugins say.

    Gives, beside the ledger, the users whose usage could not be counted, and why.
    """
    ledger = Ledger()
    uncertain: dict[str, HookFailure] = {}
    rows_of = {name: row for row, name in enumerate(slots.strings("Name")) if name}
    groups = in_use.state.groups
    running_jobs = (
        each
        for placed in in_use.places
        for each in _of_jobs(placed, slots, rows_of, bundle, groups, cycle.environment)
    )
    matched = _of_journal(in_use.matched, rows_of, bundle, groups, cycle.environment)
    for request, rows in (*running_jobs, *matched):
        answers = bundle.hooks.ask(
            specs.negotiator_charges,
            request=request,
            slots=slots,
            queues=queues,
            cycle=cycle,
            settings=bundle.settings,
        )
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
    placed: PlacedJobs,
    slots: Table,
    rows_of: dict[str, int],
    bundle: Bundle,
    groups: Groups,
    env: Environment,
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
    heads, slot_names = first_rows(kinds, count), slots.names()
    for kind in np.argsort(
        heads
    ).tolist():  # as they stand in the pool, so that reports have them in its order
        first, rows = int(heads[kind]), order[bounds[kind] : bounds[kind + 1]]
        ad, names = jobs.ad(first), alike.names[alike.ids[first]]
        resources, unknown = requested(ad, bundle, env, slot_names)
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
                groups=user_groups(ad, placed.users[first], bundle.placement, groups, env),
            ),
            where[rows],
        )


def _of_journal(
    matched: Sequence[JournalEntry],
    rows_of: dict[str, int],
    bundle: Bundle,
    groups: Groups,
    env: Environment,
) -> Iterator[tuple[Request, NDArray[np.intp]]]:
    """The matches that were handed out and that no running job shows yet, those that are charged alike together."""
    kinds: dict[tuple[object, ...], list[JournalEntry]] = {}
    for entry in matched:
        kinds.setdefault(entry.kind, []).append(entry)
    for entries in kinds.values():
        rows = np.array([rows_of.get(entry.slot, -1) for entry in entries], np.intp)
        request = entries[0].request([entry.application for entry in entries])
        own = user_groups(request.ad, request.user, bundle.placement, groups, env)
        yield attrs.evolve(request, groups=own), rows
