"""The one place where a resource request is made: of idle jobs, of running ones, and of matches in the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import attrs

from negotiator.bundle.model import Bundle
from negotiator.classad import ClassAd, Environment, parse_ad
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

    def of_journal(self, entries: Sequence[JournalEntry]) -> Request:
        """Return the request of several matches of one kind (``JournalEntry.kind``)."""
        first = entries[0]
        return self.request(
            submitter=first.submitter,
            schedd=first.schedd,
            ad=parse_ad(first.ad),
            count=len(entries),
            first_job=first.job,
            queue=first.queue,
            user=first.user,
            group=first.group,
            resources=dict(first.resources),
            unknown=frozenset(),
            applications=tuple(entry.application for entry in entries),
        )

    def request(
        self,
        *,
        submitter: str,
        schedd: str,
        ad: ClassAd,
        count: int,
        first_job: str,
        queue: str,
        user: str,
        group: str,
        resources: Mapping[str, int],
        unknown: frozenset[str],
        applications: tuple[str, ...],
        whole_ad: ClassAd | None = None,
    ) -> Request:
        """Return a request with the groups of its user.

        :param whole_ad: the ad to read the groups from, if ``ad`` has the significant attributes only.
        """
        return Request(
            submitter=submitter,
            schedd=schedd,
            ad=ad,
            count=count,
            first_job=first_job,
            queue=queue,
            user=user,
            group=group,
            resources=resources,
            unknown=unknown,
            applications=applications,
            groups=user_groups(whole_ad or ad, user, self.bundle.placement, self.groups, self.env),
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
        factory, placed, first = self.factory, self.placed, int(rows[0])
        ad = placed.jobs.ad(first)
        significant = self.autoclusters.significant[self.autoclusters.ids[first]]
        resources, unknown = requested(ad, factory.bundle, factory.env, factory.slot_names)
        return factory.request(
            submitter=self.submitters[first],
            schedd=self.schedds[first],
            ad=ad if significant is None else ad.project([*significant, *SUBMITTER_ATTRIBUTES]),
            count=count,
            first_job=job_columns.job_id(ad),
            queue=placed.queues[first],
            user=placed.users[first],
            group=placed.groups[first],
            resources=resources,
            unknown=unknown,
            applications=placed.names(rows),
            whole_ad=ad,
        )
