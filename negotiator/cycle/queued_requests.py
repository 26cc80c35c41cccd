"""Groups jobs into requests: alike jobs of one submitter, user, group, queue and priority are served in one step.

Requests come in the order of owners, submitters and schedds by name, then of the schedd's own order of its jobs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Environment, Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.accounting_names import owner_names
from negotiator.cycle.autoclusters import SUBMITTER_ATTRIBUTES, idle_autoclusters
from negotiator.cycle.conjunct import ConjunctPool
from negotiator.cycle.jobs import Strings
from negotiator.cycle.numbering import combined, numbered
from negotiator.cycle.place import PlacedJobs
from negotiator.cycle.requests import Groups, RequestFactory
from negotiator.hooks.order import QueuedRequest
from negotiator.ledger import Rows

#: Maximum of jobs that one ad may represent: schedds may send any number.
MAX_COPIES = 100_000


def queued_requests(
    slots: Table,
    placed: PlacedJobs,
    bundle: Bundle,
    groups: Groups,
    env: Environment,
    *,
    in_queue_order: bool = False,
    matches: int | None = None,
    conjuncts: ConjunctPool | None = None,
) -> tuple[QueuedRequest, ...]:
    """Group the idle jobs into requests, each with an allowance of all its jobs.

    ``groups`` are those of users whose jobs do not name them. ``in_queue_order`` keeps alike jobs in separate
    requests where other jobs are between them in the schedd's order. ``matches`` is the most that one request may have.
    ``conjuncts`` are shared with the conditions of the cycle.
    """
    jobs = placed.jobs
    if not len(jobs):
        return ()
    submitters, schedds = job_columns.submitters(jobs), job_columns.schedds(jobs)
    autoclusters = idle_autoclusters(slots, jobs, bundle, SUBMITTER_ATTRIBUTES, conjuncts)
    factory = RequestFactory(bundle, groups, env, slots.names())
    requests = factory.of_jobs(placed, submitters, schedds, autoclusters)

    copies, most = _copies(jobs), MAX_COPIES if matches is None else matches
    # An autocluster fixes everything that matching can read; the other columns fix whose turn it is, and who is charged.
    # In the schedd's order the schedd's autoclusters are requests of their own, also where nothing tells them apart.
    more = [_own_autoclusters(jobs)] if in_queue_order else _priorities(jobs)
    columns = (autoclusters.ids, submitters, schedds, *more, *_placements(placed))
    # An owner who chose the name of a group would choose whose turn it is.
    first = submitters if bundle.accounting.trust_names else owner_names(jobs)
    order = _schedd_order(jobs, (first, submitters, schedds))
    kinds = combined(*columns)[0]
    rejected = _rejected_together(jobs, kinds, submitters, schedds, *_placements(placed))
    ads = _runs(kinds, order) if in_queue_order else _groups(kinds, order)
    rows = [_repeated(members, copies, most) for members in ads]
    made = requests.of_each(rows, [int(copies[members].sum()) for members in ads])
    return tuple(
        QueuedRequest(number, request, own, len(own), members, kind=int(rejected[members[0]]))
        for number, (request, own, members) in enumerate(zip(made, rows, ads, strict=True))
    )


def _rejected_together(jobs: Table, kinds: NDArray[np.int64], *names: Strings) -> NDArray[np.int64]:
    """Number the jobs so that those of one autocluster of a schedd share a number; without AutoClusterId, alike jobs.

    :param names: what distinguishes jobs of one autocluster: their submitter, schedd, queue, user and group.
    """
    own = _own_autoclusters(jobs)
    return combined(own, np.where(own >= 0, -1, kinds), *names)[0]


def _own_autoclusters(jobs: Table) -> NDArray[np.float64]:
    """Return the AutoClusterId of each job, -1 if it has none."""
    own = jobs.numbers("AutoClusterId")
    return np.where(np.isfinite(own), own, -1.0)


def _groups(kinds: NDArray[np.int64], order: Rows) -> list[Rows]:
    """Return the rows of each kind in their order; kinds come in the order of their first rows."""
    ordered = kinds[order]
    by_kind = np.argsort(ordered, kind="stable")
    starts = np.flatnonzero(np.diff(ordered[by_kind], prepend=-1))
    members = [order[places] for places in np.split(by_kind, starts[1:])]
    return [members[kind] for kind in np.argsort(by_kind[starts])]


def _runs(kinds: NDArray[np.int64], order: Rows) -> list[Rows]:
    """Return the rows of each run of one kind, in their order."""
    return np.split(order, np.flatnonzero(np.diff(kinds[order])) + 1)


def _placements(placed: PlacedJobs) -> tuple[Strings, ...]:
    return placed.queues, placed.users, placed.groups


def _copies(jobs: Table) -> NDArray[np.intp]:
    """Return the number of jobs that each ad represents: more than 1 only in a schedd's request, which has no status."""
    counts = np.nan_to_num(jobs.numbers("_condor_RESOURCE_COUNT", default=1.0), nan=1.0)
    counts[~job_columns.are_requests(jobs)] = 1
    return counts.clip(1, MAX_COPIES).astype(np.intp)


def _repeated(group: Rows, copies: NDArray[np.intp], matches: int) -> Rows:
    """Return each row once for each job that its ad represents, but at most one row more than there may be matches.

    An ad may request any number of jobs: those that cannot be matched need no row.
    """
    enough = int(np.searchsorted(np.cumsum(copies[group]), matches + 1)) + 1
    return np.repeat(group[:enough], np.minimum(copies[group[:enough]], matches + 1))[: matches + 1]


def _schedd_order(jobs: Table, names: Sequence[Strings]) -> Rows:
    """Sort the rows by columns of names, then by the schedd's own order of its jobs, which requests of a schedd have already.

    A request need not have the attributes of that order: a schedd sends those in which its jobs must be equal.
    """
    ages = [jobs.numbers(name, default=0.0) for name in job_columns.AGE]
    sent = job_columns.are_requests(jobs) & (_own_autoclusters(jobs) >= 0)
    order = [np.where(sent, 0.0, column) for column in (*_priorities(jobs), *ages)]
    columns = [numbered(column)[0] for column in names]
    return np.lexsort((*reversed(order), *reversed(columns)))


def _priorities(jobs: Table) -> list[NDArray[np.float64]]:
    """Return the negated priorities of the jobs, most significant first: the lowest value is served first."""
    return [-jobs.numbers(name, default=0.0) for name in job_columns.PRIORITIES]
