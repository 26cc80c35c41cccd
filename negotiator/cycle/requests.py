"""The one place where a resource request is made: of idle jobs, of running ones, and of matches in the journal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import attrs
import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Ad, Environment
from negotiator.classad.syntax import fold
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.applications import groups_of_users, user_groups
from negotiator.cycle.autoclusters import SUBMITTER_ATTRIBUTES, Autoclusters
from negotiator.cycle.jobs import Strings
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.place import PlacedJobs
from negotiator.cycle.resources import RequestedAmounts, ResourceAmounts
from negotiator.hooks.records import Request
from negotiator.ledger import Rows

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
