"""The one place where resource requests are made: of idle jobs, of running ones, and of matches in the journal.

Alike idle jobs of one submitter, user, group, queue and priority are one request, served in one step. Requests come in the order of
owners, submitters and schedds by name, then of the schedd's own order of its jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Ad, Environment, Table
from negotiator.classad.syntax import fold
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.accounting_names import owner_names
from negotiator.cycle.applications import groups_of_users, user_groups
from negotiator.cycle.autoclusters import SUBMITTER_ATTRIBUTES, Autoclusters, idle_autoclusters
from negotiator.cycle.conjunct import ConjunctPool
from negotiator.cycle.jobs import Strings
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.numbering import combined, numbered
from negotiator.cycle.place import PlacedJobs
from negotiator.cycle.resources import RequestedAmounts, ResourceAmounts
from negotiator.hooks.order import QueuedRequest
from negotiator.hooks.records import Request
from negotiator.ledger import Rows

#: The groups of each user; None where they could not be resolved.
Groups: TypeAlias = Mapping[str, tuple[str, ...] | None]
#: Maximum of jobs that one ad may represent: schedds may send any number.
MAX_COPIES = 100_000


@attrs.frozen(eq=False)
class RequestFactory:
    """Makes the requests of one cycle.

    ``groups`` are those of users whose jobs do not name them. ``slot_names`` are the attributes that slots have, in
    lower case: an amount that refers to one of them depends on the slot.
    """

    bundle: Bundle
    groups: Groups
    env: Environment
    slot_names: frozenset[str]

    @cached_property
    def amounts(self) -> RequestedAmounts:
        """What jobs request of each resource."""
        return RequestedAmounts(self.bundle, self.env, self.slot_names)

    def of_jobs(
        self, placed: PlacedJobs, submitters: Strings, schedds: Strings, autoclusters: Autoclusters
    ) -> JobRequests:
        """Return a maker of requests from the rows of a table of jobs."""
        return JobRequests(self, placed, submitters, schedds, autoclusters)

    def of_journal(self, entries: Sequence[JournalEntry], counted: Callable[[Ad], Ad]) -> Request:
        """Return the request of several matches of one kind (``JournalEntry.kind``).

        :param counted: returns the ad that resources are counted by.
        """
        first = entries[0]
        ad = first.charged_ad
        return Request(
            submitter=first.submitter,
            schedd=first.schedd,
            ad=ad,
            count=len(entries),
            first_job=first.job,
            queue=first.queue,
            user=first.user,
            group=first.group,
            resources=RequestedAmounts(self.bundle, self.env).of_ad(counted(ad))[0],
            applications=tuple(entry.application for entry in entries),
            groups=first.groups,
        )


@attrs.frozen(eq=False)
class JobRequests:
    """Makes requests of the rows of one table of jobs; all rows of a request are of one autocluster."""

    factory: RequestFactory
    placed: PlacedJobs
    submitters: Strings
    schedds: Strings
    autoclusters: Autoclusters

    def of_each(self, members: Sequence[Rows], counts: Sequence[int]) -> Iterator[Request]:
        """Yield the requests of waiting jobs; the first row of each represents all its jobs.

        :param members: for each request the rows of the jobs that may be matched, each once for every job that its ad
            represents.
        :param counts: the number of all jobs of each request.
        """
        factory, first = self.factory, np.array([rows[0] for rows in members], np.intp)
        jobs = self.placed.jobs.take(first)
        columns = zip(
            *(members, counts, factory.amounts.of_jobs(jobs), job_columns.job_ids(jobs)),
            groups_of_users(
                jobs, self.placed.users[first], factory.bundle.placement, factory.groups, factory.env
            ),
            strict=True,
        )
        for row, (rows, count, amounts, first_job, groups) in zip(first.tolist(), columns, strict=True):
            ad = self.placed.jobs.ad(row)
            yield self._request(ad, rows, count, amounts, first_job, groups)

    def of_claim(
        self, ad: Ad, counted: Ad, rows: Rows, claim: Ad | None = None, *, outside: bool = False
    ) -> Request:
        """Return the request of several jobs that have slots, with another ad than that of the first row.

        :param counted: the ad that resources are counted by.
        :param claim: no match of theirs is known: what their slots' ads have of the claim.
        :param outside: their slots are outside of the pool.
        """
        factory, user = self.factory, self.placed.users[int(rows[0])]
        groups = user_groups(ad, user, factory.bundle.placement, factory.groups, factory.env)
        amounts = factory.amounts.of_ad(counted)
        request = self._request(ad, rows, len(rows), amounts, job_columns.job_id(ad), groups, claim)
        return attrs.evolve(request, outside=True) if outside else request

    def _request(
        self,
        ad: Ad,
        rows: Rows,
        count: int,
        amounts: ResourceAmounts,
        first_job: str,
        groups: tuple[str, ...],
        claim: Ad | None = None,
    ) -> Request:
        placed, first = self.placed, int(rows[0])
        significant = self._significant[int(self.autoclusters.ids[first])]
        resources, unknown = amounts
        return Request(
            submitter=self.submitters[first],
            schedd=self.schedds[first],
            ad=ad if significant is None else ad.project(significant),
            count=count,
            first_job=first_job,
            queue=placed.queues[first],
            user=placed.users[first],
            group=placed.groups[first],
            resources=resources,
            unknown=unknown,
            applications=placed.names(rows),
            groups=groups,
            unverified=claim is not None,
            claim=claim or Ad(),
        )

    @cached_property
    def _significant(self) -> list[frozenset[str] | None]:
        """The attributes of the requests of each autocluster; None for all."""
        submitter = frozenset(map(fold, SUBMITTER_ATTRIBUTES))
        known = {
            names: names | submitter for names in set(self.autoclusters.significant) if names is not None
        }
        return [None if names is None else known[names] for names in self.autoclusters.significant]


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
