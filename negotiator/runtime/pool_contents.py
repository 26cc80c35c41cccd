"""What a pool holds: the jobs, applications and machines of each queue, without running a cycle.

The same reading of running jobs, claimed slots and earlier matches that a cycle begins with.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle.admit import admit
from negotiator.cycle.claim_amounts import pool_capacity, slot_amounts
from negotiator.cycle.claim_requests import claim_requests, queue_usage
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.jobs import job_ids
from negotiator.cycle.place import place
from negotiator.cycle.requests import queued_requests
from negotiator.cycle.work_accounts import WorkAccounts
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.claims_in_use import ClaimsInUse
from negotiator.hooks.order import QueuedRequest
from negotiator.hooks.records import Cycle, Request
from negotiator.pool.snapshot import Snapshot
from negotiator.queues import ROOT, Queue, QueueTree
from negotiator.queues.model import QueueUsage
from negotiator.queues.names import parent_of, upwards
from negotiator.queues.quantities import Resources, added

#: States of applications.
RUNNING: Final = "Running"
ACCEPTED: Final = "Accepted"

_NOTHING: Resources = {}


@attrs.frozen
class RunningJob:
    """A job that has a slot, or is matched with one.

    ``id`` is ``cluster.proc``, empty for a match that the pool does not show yet. ``slot`` and ``host`` are empty if the pool has no
    ad of its slot. ``resources`` are in the units of queues.yaml, ``started`` in seconds since the epoch, 0 if unknown.
    """

    id: str
    application: str
    queue: str
    user: str
    slot: str
    host: str
    resources: Resources
    started: float


@attrs.frozen
class ApplicationContents:
    """An application (``schedd#cluster``) in its queue: what its jobs use, and what its idle jobs request.

    ``submitted`` is in seconds since the epoch, 0 if unknown.
    """

    name: str
    queue: str
    user: str
    group: str
    used: Resources
    pending: Resources
    running: tuple[RunningJob, ...]
    idle: int
    submitted: float

    @property
    def state(self) -> str:
        """The state as YuniKorn names it: running if one of its jobs has a slot."""
        return RUNNING if self.running else ACCEPTED


@attrs.frozen
class HostContents:
    """A machine: what its slots have, and the jobs on them."""

    name: str
    slots: int
    capacity: Resources
    used: Resources
    running: tuple[RunningJob, ...]


@attrs.frozen(eq=False)
class PoolContents:
    """The queues, applications and machines of a pool.

    ``usage`` and ``pending`` are by the path of the queue, those below it included; a missing path has nothing. ``rejected`` counts
    idle jobs that no placement rule gives a queue, or that wait for another reason before they are considered.
    """

    queues: QueueTree
    usage: Mapping[str, QueueUsage]
    pending: Mapping[str, Resources]
    applications: tuple[ApplicationContents, ...]
    hosts: tuple[HostContents, ...]
    capacity: Resources
    rejected: int
    failures: tuple[HookFailure, ...]

    @property
    def running_jobs(self) -> int:
        """The number of jobs that have a slot, or are matched with one."""
        return sum(len(each.running) for each in self.applications)

    @property
    def idle_jobs(self) -> int:
        """The number of jobs that wait for a slot."""
        return sum(each.idle for each in self.applications)

    def used(self, path: str) -> Resources:
        """Return what a queue and those below it use."""
        usage = self.usage.get(path)
        return usage.resources if usage else _NOTHING

    def running_applications(self, path: str) -> int:
        """Return how many applications run in a queue and those below it."""
        usage = self.usage.get(path)
        return usage.applications if usage else 0

    def maximum(self, queue: Queue) -> Resources:
        """Return the maximum of a queue; that of the root queue is what the pool has."""
        return self.capacity if queue.path == ROOT else queue.config.max

    @cached_property
    def headrooms(self) -> Mapping[str, Resources]:
        """What is left of the maxima of each queue and all above it, by path."""
        found: dict[str, Resources] = {}
        for queue in self.queues:  # each after its parent
            used = self.used(queue.path)
            own = {name: amount - used.get(name, 0) for name, amount in self.maximum(queue).items()}
            above = found.get(parent_of(queue.path), _NOTHING) if queue.path != ROOT else _NOTHING
            found[queue.path] = _least(above, own)
        return found


def pool_contents(snapshot: Snapshot, bundle: Bundle, state: CycleState, now: float) -> PoolContents:
    """Return what the pool of a snapshot holds.

    :param state: the queues, applications and matches before.
    :param now: seconds since the epoch.
    """
    work = WorkAccounts.of(snapshot.slots, snapshot.jobs)
    cycle = work.for_ads(Cycle(1, now, bundle.digest), AdKind.JOB)
    admitted = admit(snapshot, bundle, cycle, work, state.journal)
    placed = place(snapshot, admitted.jobs, bundle, cycle, state)
    claims = tuple(claim_requests(placed, snapshot.slots, bundle, cycle))
    waiting = queued_requests(snapshot.slots, placed.idle, bundle, state.groups, cycle.environment)
    applications = _Applications()
    running = tuple(_running(claims, snapshot.slots))
    for job, request in running:
        applications.add_running(job, request)
    for queued in waiting:
        applications.add_waiting(queued.request)
    submitted = _submitted(
        [*((each.jobs, each.rows, each.request) for each in claims), *_idle_rows(waiting, placed.idle.jobs)]
    )
    return PoolContents(
        placed.state.queues,
        queue_usage(claims),
        _pending(waiting),
        tuple(applications.contents(submitted)),
        tuple(_hosts(snapshot.slots, bundle, [job for job, _ in running])),
        pool_capacity(snapshot.slots, bundle),
        sum(each.count for each in placed.idle.discarded),
        tuple(dict.fromkeys((*admitted.failures, *placed.failures))),
    )


def _least(one: Resources, other: Resources) -> Resources:
    """Return the lower amount of each resource that either has."""
    names = dict.fromkeys((*one, *other))
    return {name: min(each[name] for each in (one, other) if name in each) for name in names}


def _running(claims: Iterable[ClaimsInUse], slots: Table) -> Iterator[tuple[RunningJob, Request]]:
    names, hosts = slots.strings("Name"), slots.strings("Machine")
    for claim in claims:
        request = claim.request
        ids = job_ids(claim.jobs, claim.rows.tolist()) if len(claim.rows) else [""] * len(claim.slots)
        started = _times(claim.jobs, claim.rows, "JobCurrentStartDate", len(claim.slots))
        applications = _names(request, ids)
        for name, job, row, begun in zip(applications, ids, claim.slots.tolist(), started, strict=True):
            slot, host = (names[row] or "", hosts[row] or "") if row >= 0 else ("", "")
            yield (
                RunningJob(job, name, request.queue, request.user, slot, host, request.resources, begun),
                request,
            )


def _names(request: Request, ids: Sequence[str]) -> Iterator[str]:
    """Yield the name of each job's application; of a job that no rule placed, its schedd and cluster."""
    names = request.applications or ("",) * len(ids)
    for name, job in zip(names, ids, strict=True):
        yield name if "#" in name or not job else f"{request.schedd}#{job.partition('.')[0]}"


def _times(jobs: Table, rows: NDArray[np.intp], attribute: str, count: int) -> list[float]:
    """Return a time of each job, 0 where it has none."""
    if not len(rows):
        return [0.0] * count
    found: list[float] = np.nan_to_num(jobs.numbers(attribute, default=0.0))[rows].tolist()
    return found


def _idle_rows(
    waiting: Iterable[QueuedRequest], jobs: Table
) -> Iterator[tuple[Table, NDArray[np.intp], Request]]:
    for queued in waiting:
        yield jobs, queued.rows, queued.request


def _submitted(groups: Iterable[tuple[Table, NDArray[np.intp], Request]]) -> dict[str, float]:
    """Return the time of the first submission of each application."""
    found: dict[str, float] = {}
    for jobs, rows, request in groups:
        times = _times(jobs, rows, "QDate", len(request.applications))
        for name, time in zip(request.applications, times, strict=False):
            if time > 0:
                found[name] = min(time, found.get(name, time))
    return found


def _pending(waiting: Iterable[QueuedRequest]) -> dict[str, Resources]:
    """Return what idle jobs request in each queue and below it."""
    found: dict[str, Resources] = {}
    for queued in waiting:
        request = queued.request
        more = {name: amount * request.count for name, amount in request.resources.items()}
        for path in upwards(request.queue):
            found[path] = added(found.get(path, _NOTHING), more)
    return found


@attrs.define(eq=False)
class _Applications:
    """Collects the jobs of each application of a queue."""

    _places: dict[tuple[str, str], tuple[str, str]] = attrs.field(factory=dict)  # user and group
    _running: dict[tuple[str, str], list[RunningJob]] = attrs.field(factory=lambda: defaultdict(list))
    _used: dict[tuple[str, str], Resources] = attrs.field(factory=dict)
    _pending: dict[tuple[str, str], Resources] = attrs.field(factory=dict)
    _idle: dict[tuple[str, str], int] = attrs.field(factory=dict)

    def add_running(self, job: RunningJob, request: Request) -> None:
        key = request.queue, job.application
        self._places.setdefault(key, (request.user, request.group))
        self._running[key].append(job)
        self._used[key] = added(self._used.get(key, _NOTHING), request.resources)

    def add_waiting(self, request: Request) -> None:
        """Add idle jobs; of jobs beyond those that could be matched the application is not known."""
        names, counts = np.unique(np.array(request.applications, object), return_counts=True)
        for name, count in zip(names.tolist(), counts.tolist(), strict=True):
            key = request.queue, name
            self._places.setdefault(key, (request.user, request.group))
            self._idle[key] = self._idle.get(key, 0) + count
            more = {resource: amount * count for resource, amount in request.resources.items()}
            self._pending[key] = added(self._pending.get(key, _NOTHING), more)

    def contents(self, submitted: Mapping[str, float]) -> Iterator[ApplicationContents]:
        for key, (user, group) in self._places.items():
            queue, name = key
            yield ApplicationContents(
                *(name, queue, user, group, self._used.get(key, _NOTHING), self._pending.get(key, _NOTHING)),
                running=tuple(self._running.get(key, ())),
                idle=self._idle.get(key, 0),
                submitted=submitted.get(name, 0.0),
            )


def _hosts(slots: Table, bundle: Bundle, running: Sequence[RunningJob]) -> Iterator[HostContents]:
    """Yield the machines by name; slots that name none are a machine without a name."""
    names = np.array([name or "" for name in slots.strings("Machine")], object)
    hosts, numbers, counts = np.unique(names, return_inverse=True, return_counts=True)
    amounts = {
        resource: np.bincount(numbers, values, len(hosts))
        for resource, values in slot_amounts(slots, bundle).items()
    }
    jobs: dict[str, list[RunningJob]] = defaultdict(list)
    used: dict[str, Resources] = {}
    for job in running:
        if job.slot:
            jobs[job.host].append(job)
            used[job.host] = added(used.get(job.host, _NOTHING), job.resources)
    for number, name in enumerate(hosts.tolist()):
        capacity = {resource: int(values[number]) for resource, values in amounts.items() if values[number]}
        yield HostContents(
            name, int(counts[number]), capacity, used.get(name, _NOTHING), tuple(jobs.get(name, ()))
        )
