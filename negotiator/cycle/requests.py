"""The one place where resource requests are made: of idle jobs, of running ones, and of matches in the journal.

Alike idle jobs of one submitter, user, group, queue and priority are one request, served in one step. Requests come in the order of
owners, submitters and schedds by name, then of the schedd's own order of its jobs. The amounts that a job requests are in the units of queues.yaml:
memory in bytes, vcore in thousandths, others in whole units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import (
    ERROR,
    UNDEFINED,
    Ad,
    ClassAdValue,
    Environment,
    JobExpression,
    Kind,
    Table,
    evaluate_table,
)
from negotiator.classad.syntax import fold
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.accounting_names import owner_names
from negotiator.cycle.applications import groups_of_users, user_groups
from negotiator.cycle.autoclusters import SUBMITTER_ATTRIBUTES, Autoclusters, idle_autoclusters
from negotiator.cycle.claim_amounts import LEAST, MOST, exceeds, is_request
from negotiator.cycle.conjunct import ConjunctPool
from negotiator.cycle.jobs import Strings
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.numbering import combined, numbered
from negotiator.cycle.place import PlacedJobs
from negotiator.hooks.order import QueuedRequest
from negotiator.hooks.records import Request
from negotiator.ledger import Rows
from negotiator.queues.quantities import LARGEST

#: The amount of each resource, and the resources whose amount is not specified.
ResourceAmounts: TypeAlias = tuple[dict[str, int], frozenset[str]]

#: The least that a claim counts for, as an ad.
_LEAST = Ad([(name, int(amount)) for name, amount in LEAST.items()])
#: Maximum of jobs that one ad may represent: schedds may send any number.
MAX_COPIES = 100_000


@attrs.frozen(eq=False)
class RequestedAmounts:
    """Finds the amount of each resource that jobs request, and the resources whose amount they do not specify.

    A job without ``RequestName`` requests 0 of that resource, except of memory and vcore, which it must specify. A
    negative amount, a value that is not a number, and an amount that depends on the slot specify nothing. Fractions are
    rounded up; a request larger than any machine is 2^63 - 1. A job requests at least one core and one MiB.

    ``elsewhere`` are the attributes that slots have, in lower case: an expression that refers to one depends on the slot.
    """

    bundle: Bundle
    env: Environment
    elsewhere: Collection[str] = ()
    _least: dict[str, int] = attrs.field(factory=dict, init=False)

    def of_ad(self, job: Ad) -> ResourceAmounts:
        """Return the amounts of one job."""
        found: dict[str, int | None] = {}
        for name, expression in self.bundle.resource_expressions.items():
            try:
                value = expression.value(job, self.env, self.elsewhere)
            except ValueError:
                value = ERROR
            requests = filter(is_request, expression.names)
            if _is_number(value) and exceeds(job, requests, self.env):
                found[name] = LARGEST
            else:
                found[name] = self._amount(name, value, is_missing=f"Request{name}" not in job)
        return _amounts(found)

    def of_jobs(self, jobs: Table) -> list[ResourceAmounts]:
        """Return the amounts of each job: by columns where the attributes that are read are constants."""
        expressions = self.bundle.resource_expressions
        is_constant = np.ones(len(jobs), np.bool_)
        for name in frozenset[str]().union(*(each.names for each in expressions.values())):
            column = jobs.column(name)
            is_constant &= ~(column.where(Kind.EXPRESSION) | column.where(Kind.OTHER))
        rows = np.flatnonzero(is_constant)
        constants = jobs.take(rows)
        columns = [self._of_constants(name, each, constants) for name, each in expressions.items()]
        found: list[ResourceAmounts | None] = [None] * len(jobs)
        for place, row in enumerate(rows.tolist()):
            found[row] = _amounts(
                {name: column[place] for name, column in zip(expressions, columns, strict=True)}
            )
        return [self.of_ad(jobs.ad(row)) if each is None else each for row, each in enumerate(found)]

    def _of_constants(self, name: str, expression: JobExpression, jobs: Table) -> Sequence[int | None]:
        """Return the amount of a resource for each job, all that it reads being constants; None if it is not specified."""
        every = np.arange(len(jobs))
        values = evaluate_table(expression.tree, jobs, env=self.env).values(every)
        missing = np.broadcast_to(jobs.column(f"Request{name}").where(Kind.ABSENT), (len(jobs),)).tolist()
        found = [
            self._amount(name, value, is_missing=is_missing)
            for value, is_missing in zip(values, missing, strict=True)
        ]
        for request in filter(is_request, expression.names):
            with np.errstate(invalid="ignore"):
                larger = np.flatnonzero(np.abs(jobs.column(request).numbers()) > MOST)
            for row in larger.tolist():
                found[row] = LARGEST if _is_number(values[row]) else found[row]
        return found

    def _amount(self, name: str, value: ClassAdValue, *, is_missing: bool) -> int | None:
        """Return the amount of a resource that a value is; None if it specifies none."""
        if value is UNDEFINED and is_missing and name not in self.bundle.required_resources:
            return 0
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        if not math.isfinite(value) or value < 0:
            return None
        return max(min(math.ceil(value), LARGEST), self._least_amount(name))

    def _least_amount(self, name: str) -> int:
        """Return the amount of a resource that one core and one MiB are."""
        if name not in self._least:
            value = self.bundle.resource_expressions[name].value(_LEAST, self.env)
            is_amount = (
                isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= LARGEST
            )
            self._least[name] = math.ceil(value) if is_amount and isinstance(value, int | float) else 0
        return self._least[name]


def _is_number(value: ClassAdValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _amounts(found: Mapping[str, int | None]) -> ResourceAmounts:
    unknown = frozenset(name for name, amount in found.items() if amount is None)
    known = {name: amount for name, amount in found.items() if amount is not None}
    return {**dict.fromkeys(sorted(unknown), 0), **known}, unknown


#: The groups of each user; None where they could not be resolved.
Groups: TypeAlias = Mapping[str, tuple[str, ...] | None]


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
