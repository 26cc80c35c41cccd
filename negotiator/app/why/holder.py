"""Use case: why the idle jobs of a user or a queue get no slot: reasons, fair share, and limits, on one screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np

from negotiator.app.limits import LimitKind, limit_uses
from negotiator.app.limits import LimitUse as LimitUse
from negotiator.app.overview import ApplicationContents, PoolOverview
from negotiator.app.pool_view import PoolView
from negotiator.app.why.idle import IdleJobs, idle_rows, most_first, without_part, without_slot
from negotiator.app.why.subject import WhyKind, WhySubject
from negotiator.app.why.values import end_values
from negotiator.classad import Table
from negotiator.cycle.applications import application_users
from negotiator.cycle.jobs import IDLE, is_in, job_ids, schedds, submitters
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.result import RequestOutcome
from negotiator.explain.first_end import FirstEnd, first_end
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.order import ShareUse as ShareUse
from negotiator.hooks.records import Request
from negotiator.pool.snapshot import has_slot
from negotiator.queues.names import upwards


@attrs.frozen
class WhyHolder:
    """Why the idle jobs of a user or a queue get no slot.

    ``running`` counts the jobs that have a slot, ``matched`` the idle jobs that a cycle now would match. ``idle`` are the others, the reasons of most
    first. ``shares`` are those of the user's submitters, or of the queue, in that cycle; ``limits`` those that hold for these jobs, the
    fullest first. ``first_end`` is of the jobs that have a slot. ``failures`` are of plugins.
    """

    subject: WhySubject
    running: int
    matched: int
    idle: tuple[IdleJobs, ...]
    shares: tuple[ShareUse, ...]
    limits: tuple[LimitUse, ...]
    first_end: FirstEnd | None
    failures: tuple[HookFailure, ...]

    @property
    def without_slot(self) -> int:
        """The number of idle jobs that get no slot."""
        return sum(each.jobs for each in self.idle)


def why_holder(view: PoolView, subject: WhySubject, overview: PoolOverview) -> WhyHolder:
    """Return why the idle jobs of a user or a queue get no slot; nothing is changed.

    :param subject: a user or a queue of the pool, as ``find_subject`` returns it.
    :param overview: that of the pool.
    :raises PoolError, StateError: the pool or the state cannot be read.
    """
    result = view.present_cycle
    is_user = subject.kind is WhyKind.USER
    own = _User.of(view, subject.name) if is_user else _Queue(subject.name)
    outcomes = [each for each in result.outcomes if own.requests(each.request)]
    applications = [each for each in overview.contents.applications if own.has(each)]
    return WhyHolder(
        subject=subject,
        running=own.running(applications),
        first_end=first_end(own.running_jobs(view, applications), view.now),
        matched=sum(len(each.matches) for each in outcomes),
        idle=most_first((*without_slot(outcomes), *own.without_part(view, outcomes))),
        shares=tuple(each for each in result.shares if each.holder.lower() in own.holders),
        limits=tuple(own.limits(overview, outcomes, applications)),
        failures=tuple(dict.fromkeys((*overview.failures, *result.failures))),
    )


@attrs.frozen(eq=False)
class _User:
    """A user or a submitter, with the jobs."""

    name: str
    jobs: Table
    holders: frozenset[str]

    @classmethod
    def of(cls, view: PoolView, name: str) -> _User:
        jobs, environment = view.snapshot.jobs, view.cycle.environment
        users = application_users(jobs, view.bundle.placement, environment)
        own = jobs.take(np.flatnonzero((users == name) | (submitters(jobs) == name)))
        return cls(name, own, frozenset({name.lower(), *submitters(own).tolist()}))

    def requests(self, request: Request) -> bool:
        """True if a request is of this user; without queues it names only the submitter."""
        return self.name in {request.user, request.submitter} or (
            not request.user and request.submitter.lower() in self.holders
        )

    def has(self, application: ApplicationContents) -> bool:
        return application.user == self.name

    def running(self, _applications: Sequence[ApplicationContents]) -> int:
        return int(has_slot(self.jobs).sum())

    def running_jobs(self, _view: PoolView, _applications: Sequence[ApplicationContents]) -> Table:
        return self.jobs.take(has_slot(self.jobs))

    def without_part(self, view: PoolView, outcomes: Sequence[RequestOutcome]) -> Iterator[IdleJobs]:
        """Yield the idle jobs that no queue accepts, or that a gate discards: a cycle for these jobs alone says why."""
        idle = self.jobs.take(np.flatnonzero(self.jobs.numbers("JobStatus", default=IDLE) == IDLE))
        if sum(each.request.count for each in outcomes) < len(idle):
            alone = attrs.evolve(view.snapshot, slots=view.snapshot.slots.take([]), jobs=idle, claim_ids=None)
            result = run_cycle(alone, view.bundle, view.cycle, view.cycle_state)
            yield from without_part(result.discarded)

    def limits(
        self,
        overview: PoolOverview,
        outcomes: Sequence[RequestOutcome],
        applications: Sequence[ApplicationContents],
    ) -> Iterator[LimitUse]:
        """Yield the limits of the user, of the groups that the jobs count for, and of their queues."""
        held = [
            *((each.request.queue, each.request.group) for each in outcomes),
            *((each.queue, each.group) for each in applications),
        ]
        above = {path for queue, _ in held for path in upwards(queue)}
        groups = {group for _, group in held}
        names = {LimitKind.USER: {self.name}, LimitKind.GROUP: groups, LimitKind.QUEUE: {""}}
        for each in limit_uses(overview):
            if each.name in names.get(each.kind, ()) and (
                each.kind is not LimitKind.QUEUE or each.queue in above
            ):
                yield each


@attrs.frozen(eq=False)
class _Queue:
    """A queue with those below it."""

    path: str

    @property
    def holders(self) -> frozenset[str]:
        return frozenset({self.path.lower()})

    def requests(self, request: Request) -> bool:
        return self.path in upwards(request.queue)

    def has(self, application: ApplicationContents) -> bool:
        return self.path in upwards(application.queue)

    def running(self, applications: Sequence[ApplicationContents]) -> int:
        return sum(len(each.running) for each in applications)

    def running_jobs(self, view: PoolView, applications: Sequence[ApplicationContents]) -> Table:
        jobs = view.snapshot.running
        own = {
            (each.name.rpartition("#")[0].lower(), job.id) for each in applications for job in each.running
        }
        return jobs.take(is_in(list(zip(schedds(jobs).tolist(), job_ids(jobs), strict=True)), own))

    def without_part(self, _view: PoolView, _outcomes: Sequence[RequestOutcome]) -> Iterator[IdleJobs]:
        """Jobs that take no part have no queue."""
        yield from ()

    def limits(
        self,
        overview: PoolOverview,
        _outcomes: Sequence[RequestOutcome],
        _applications: Sequence[ApplicationContents],
    ) -> Iterator[LimitUse]:
        """Yield the limits of users and groups in the queue, and the maxima of the queue and of those above it."""
        above = frozenset(upwards(self.path))
        for each in limit_uses(overview):
            is_maximum = each.kind is LimitKind.QUEUE and each.queue in above
            if is_maximum or (each.kind is not LimitKind.QUEUE and each.queue == self.path):
                yield each


def why_holder_values(found: WhyHolder) -> dict[str, Any]:
    """Return the answer as JSON values."""
    return {
        "kind": str(found.subject.kind),
        "name": found.subject.name,
        "running": found.running,
        "matched": found.matched,
        "idle": idle_rows(found.idle),
        "shares": [attrs.asdict(each) for each in found.shares],
        "first_end": end_values(found.first_end),
        "limits": [{**attrs.asdict(each), "kind": str(each.kind)} for each in found.limits],
    }
