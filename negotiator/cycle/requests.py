"""The one place where a resource request is made: of idle jobs, of running ones, and of matches in the journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import attrs

from negotiator.bundle.model import Bundle
from negotiator.classad import ClassAd, Environment
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.applications import user_groups
from negotiator.cycle.autoclusters import Autoclusters
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.place import PlacedJobs
from negotiator.cycle.resources import requested
from negotiator.cycle.text_columns import Strings
from negotiator.hooks.records import Request
from negotiator.ledger import Rows

#: The groups of each user; None where they could not be resolved.
Groups: TypeAlias = Mapping[str, tuple[str, ...] | None]

#: The attributes that name a job's submitter: every request's ad has them.
SUBMITTER_ATTRIBUTES = ("AccountingGroup", "User", "Owner")


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

    def of_jobs(
        self, placed: PlacedJobs, submitters: Strings, schedds: Strings, autoclusters: Autoclusters
    ) -> JobRequests:
        """Return a maker of requests from the rows of a table of jobs."""
        return JobRequests(self, placed, submitters, schedds, autoclusters)

    def of_journal(self, entries: Sequence[JournalEntry], counted: Callable[[ClassAd], ClassAd]) -> Request:
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
            resources=requested(counted(ad), self.bundle, self.env)[0],
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

    def of(self, rows: Rows, count: int) -> Request:
        """Return the request of several jobs; the first row represents all of them.

        :param rows: the rows of the jobs that may be matched, each once for every job that its ad represents.
        :param count: the number of all jobs of the request.
        """
        ad = self.placed.jobs.ad(int(rows[0]))
        return self.of_ad(ad, ad, rows, count)

    def of_ad(
        self, ad: ClassAd, counted: ClassAd, rows: Rows, count: int, claim: ClassAd | None = None
    ) -> Request:
        """Return the request of several jobs, with another ad than that of the first row.

        :param counted: the ad that resources are counted by.
        :param claim: the jobs run, and no match of theirs is known: what their slots' ads have of the claim.
        """
        factory, placed, first = self.factory, self.placed, int(rows[0])
        significant = self.autoclusters.significant[self.autoclusters.ids[first]]
        resources, unknown = requested(counted, factory.bundle, factory.env, factory.slot_names)
        user = placed.users[first]
        return Request(
            submitter=self.submitters[first],
            schedd=self.schedds[first],
            ad=ad if significant is None else ad.project([*significant, *SUBMITTER_ATTRIBUTES]),
            count=count,
            first_job=job_columns.job_id(ad),
            queue=placed.queues[first],
            user=user,
            group=placed.groups[first],
            resources=resources,
            unknown=unknown,
            applications=placed.names(rows),
            groups=user_groups(ad, user, factory.bundle.placement, factory.groups, factory.env),
            unverified=claim is not None,
            claim=claim or ClassAd(),
        )
