"""The waiting jobs of a leaf queue in the order of its policy, and the running jobs that matches may end, as arrays: no Python runs per job.

Source: YuniKorn's documentation, "Sorting Policies"; its ``sortApplications`` and ``LessThan`` of allocations. An
application is a job cluster at its schedd; it is as old as its oldest waiting job. Its jobs are sorted by priority, then by
age. So an application never moves forward when its jobs get slots. YuniKorn sorts again before each job; here one sorted list
gives the same jobs in the same order.

Of running jobs: YuniKorn's documentation, "Preemption"; its ``findEligiblePreemptionVictims``; HTCondor manual, Machine ClassAd Attributes
(State, JobStart, RetirementTimeRemaining, PreemptingRank).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import (
    MAX_PRIORITY,
    MIN_PRIORITY,
    ClaimsInUse,
    Environment,
    Mask,
    QueuedRequest,
    QueueSettings,
    Request,
    Resources,
    SortPolicy,
    Table,
    bind,
    evaluate_table,
    parse,
)
from negotiator_queue_order.queues import Matrix, usage_shares

_IN_USE = bind(parse('MY.State == "Claimed" && MY.PartitionableSlot =!= true'))
_ENDING = bind(parse("MY.PreemptingRank =!= undefined || MY.PreemptingUser =!= undefined"))
_RETIRES = bind(parse("MY.RetirementTimeRemaining > 0"))
_STARTED = bind(parse("MY.JobStart ?: MY.EnteredCurrentState"))


@attrs.frozen(eq=False)
class RunningJobs:
    """The jobs that may be ended, one on each of their slots, (K,).

    ``requests`` (U,) has one for all jobs that are charged alike, and ``kind`` (K,) the index of each job's. ``ending`` are the
    requests of further jobs that end already, and their numbers.
    """

    requests: Sequence[Request]
    slots: NDArray[np.intp]
    kind: Ints
    priority: Ints
    started: Numbers  # in seconds since the epoch, 0 if unknown
    ending: Sequence[tuple[Request, int]]
    size: int  # of the table of slots
    running: Mask  # (K,) False once a match of the cycle ends the job

    @classmethod
    def of(cls, claims: Sequence[ClaimsInUse], slots: Table, env: Environment) -> Self:
        """Find the jobs: a slot that is shared, is being taken from its job, or gives its job time to retire is left out."""
        whole = evaluate_table(_IN_USE, slots, env=env).is_true()
        taken = evaluate_table(_ENDING, slots, env=env).is_true()
        own = [each for each in claims if not each.pending]
        rows = np.concatenate([np.zeros(0, np.intp), *(each.slots for each in own)])
        ended = np.concatenate([np.zeros(0, np.bool_), *map(_ended, own)])
        kind = np.repeat(np.arange(len(own)), [len(each.slots) for each in own])
        alone = whole & (np.bincount(rows[rows >= 0], minlength=len(slots)) == 1)
        retires = evaluate_table(_RETIRES, slots, env=env).is_true()
        # One more element, for a slot that is not in the table.
        may_end = np.append(alone & ~taken & ~retires, False)[rows] & ~ended
        ending = np.bincount(kind[np.append(alone & taken, False)[rows] | ended], minlength=len(own)).tolist()
        started = np.nan_to_num(evaluate_table(_STARTED, slots, env=env).numbers(0.0))
        return cls(
            tuple(each.request for each in own),
            rows[may_end],
            kind[may_end],
            _priorities(own)[may_end],
            np.broadcast_to(started, len(slots))[rows[may_end]],
            tuple((each.request, count) for each, count in zip(own, ending, strict=True) if count),
            len(slots),
            np.ones(int(np.count_nonzero(may_end)), np.bool_),
        )

    @property
    def users(self) -> NDArray[np.object_]:
        """The submitter of the job on each slot, (S,), empty if no job there may be ended."""
        return self._of_slots([each.submitter for each in self.requests])

    @property
    def queues(self) -> NDArray[np.object_]:
        """The queue of the job on each slot, (S,), empty if no job there may be ended."""
        return self._of_slots([each.queue for each in self.requests])

    def amounts(self, resources: Sequence[str]) -> Matrix:
        """Return what one job of each kind uses, (U, R)."""
        rows = [[each.resources.get(name, 0) for name in resources] for each in self.requests]
        return np.array(rows, np.float64).reshape(len(rows), len(resources))

    def at(self, slot: int) -> int:
        """Return the index of the job on a slot."""
        return int(self._by_slot[slot])

    @cached_property
    def _by_slot(self) -> Ints:
        found = np.full(self.size, -1, np.int64)
        found[self.slots] = np.arange(len(self.slots))
        return found

    def _of_slots(self, names: Sequence[str]) -> NDArray[np.object_]:
        found = np.full(self.size, "", np.object_)
        if len(self.slots):
            found[self.slots] = np.array(names, np.object_)[self.kind]
        return found


def _ended(claims: ClaimsInUse) -> Mask:
    return np.zeros(len(claims.slots), np.bool_) if claims.ended is None else claims.ended


def _priorities(claims: Sequence[ClaimsInUse]) -> Ints:
    """Return the priorities of all jobs; those of a table are read once."""
    tables = {id(each.jobs): each.jobs for each in claims}
    known = {key: job_priorities(jobs) for key, jobs in tables.items()}
    return np.concatenate([np.zeros(0, np.int64), *(known[id(each.jobs)][each.rows] for each in claims)])


Ints = NDArray[np.int64]
Numbers = NDArray[np.float64]


@attrs.frozen(eq=False)
class JobColumns:
    """What the order reads of all jobs of a cycle, (J,) each."""

    clusters: Numbers
    dates: Numbers
    procs: Numbers
    priorities: Ints

    @classmethod
    def of(cls, jobs: Table) -> Self:
        """Read ClusterId, QDate, ProcId and JobPrio; 0 for a missing one."""
        names = ("ClusterId", "QDate", "ProcId")
        clusters, dates, procs = (np.nan_to_num(jobs.numbers(name, default=0.0)) for name in names)
        return cls(clusters, dates, procs, job_priorities(jobs))


@attrs.define(eq=False)
class LeafJobs:
    """The waiting jobs of one leaf queue.

    The arrays of shape (N,) have an element for each job: ``request`` is the index of its request in ``requests``, ``copy`` its
    index in the request's rows, ``application`` the number of its application. ``left`` are the indices of the jobs that may
    still get slots, in the order in which they are served.
    """

    properties: QueueSettings
    guaranteed: Resources
    requests: Sequence[QueuedRequest]
    request: Ints
    copy: Ints
    application: Ints
    priority: Ints
    submitted: Numbers  # (N,) of the application
    age: tuple[Numbers, ...]  # (N,) each
    resources: tuple[str, ...]
    amounts: Matrix  # (requests, R)
    usage: Matrix  # (applications, R)
    left: Ints
    levels: Ints  # the distinct priorities of the jobs, ascending
    pending: Ints  # the number of jobs of each priority without a slot, those that get none included
    unserved: Mask  # (N,) the jobs that have no slot

    @classmethod
    def of(
        cls,
        requests: Sequence[QueuedRequest],
        jobs: JobColumns,
        properties: QueueSettings,
        guaranteed: Resources,
        amounts: Mapping[int, Resources],
        used: Mapping[str, Resources],
    ) -> Self:
        """Return the jobs of the requests of one queue.

        :param amounts: what one job of each request counts for, by the number of the request.
        :param used: the amounts that applications use, by their names.
        """
        rows = np.concatenate([queued.rows for queued in requests])
        sizes = [len(queued.rows) for queued in requests]
        request = np.repeat(np.arange(len(requests)), sizes)
        copy = np.concatenate([np.arange(size) for size in sizes])
        schedds = {
            name: each for each, name in enumerate(sorted({queued.request.schedd for queued in requests}))
        }
        schedd = np.array([schedds[queued.request.schedd] for queued in requests])[request]
        clusters, dates, procs = jobs.clusters[rows], jobs.dates[rows], jobs.procs[rows]
        _, first, application = np.unique(
            np.stack([schedd, clusters], axis=1), axis=0, return_index=True, return_inverse=True
        )
        application = application.reshape(-1)
        submitted = np.full(len(first), np.inf)
        np.minimum.at(submitted, application, dates)
        priority = jobs.priorities[rows]
        levels, counts = np.unique(priority, return_counts=True)
        resources = tuple(sorted({name for each in requests for name in amounts[each.number]}))
        counted = [[amounts[each.number].get(name, 0) for name in resources] for each in requests]
        usage = np.zeros((len(first), len(resources)))
        if used and properties.sort is SortPolicy.FAIR:
            names = [requests[request[job]].request.applications[copy[job]] for job in first.tolist()]
            usage[:] = [[used.get(name, {}).get(resource, 0) for resource in resources] for name in names]
        found = cls(
            properties,
            guaranteed,
            requests,
            *(request, copy, application, priority, submitted[application]),
            age=(dates, clusters, procs),
            resources=resources,
            amounts=np.array(counted, np.float64).reshape(len(requests), len(resources)),
            usage=usage,
            left=np.arange(len(rows)),
            levels=levels,
            pending=counts,
            unserved=np.ones(len(rows), np.bool_),
        )
        found.sort()
        return found

    def sort(self) -> None:
        """Put the jobs that are left in order."""
        jobs = self.left
        priority = -self.priority[jobs]
        within = (self.application[jobs], priority, *(each[jobs] for each in self.age))
        keys: list[tuple[NDArray[Any], ...]] = [(self.submitted[jobs],), (priority,)]
        if self.properties.sort is SortPolicy.FAIR:
            keys[0] = tuple(self._shares(jobs, within).T)
        if self.properties.by_priority:
            keys.reverse()
        order = [*keys[0], *keys[1], self.submitted[jobs], *within]
        self.left = jobs[np.lexsort(order[::-1])]

    def next_run(self) -> tuple[int, int]:
        """Return the index of the first job's request, and how many jobs of it come before any other job."""
        requests = self.request[self.left]
        others = np.flatnonzero(requests != requests[0])
        return int(requests[0]), int(others[0]) if len(others) else len(requests)

    def among_first(self, request: int, count: int) -> Ints:
        """Return the jobs of a request among the first so many."""
        first = self.left[:count]
        found: Ints = first[self.request[first] == request]
        return found

    def of_request(self, request: int) -> Ints:
        """Return all jobs of a request that are left, in their order."""
        found: Ints = self.left[self.request[self.left] == request]
        return found

    def served(self, jobs: Ints) -> None:
        """Remove jobs that got slots."""
        self.unserved[jobs] = False
        np.add.at(self.usage, self.application[jobs], self.amounts[self.request[jobs]])
        np.subtract.at(self.pending, np.searchsorted(self.levels, self.priority[jobs]), 1)
        self._remove(jobs)

    def refused(self, jobs: Ints) -> None:
        """Remove jobs that get no slots in this cycle; the other jobs of their applications may come earlier now."""
        self._remove(jobs)
        if self.properties.sort is SortPolicy.FAIR and self._of_applications(jobs).any():
            self.sort()

    def offer_again(self, jobs: Mask) -> None:
        """Offer the jobs of a mask, (N,), that have no slot."""
        self.left = np.flatnonzero(self.unserved & jobs)
        self.sort()

    @property
    def rows(self) -> Ints:
        """The row of each job in the table of jobs, (N,)."""
        return np.concatenate([queued.rows for queued in self.requests])

    @property
    def highest(self) -> int:
        """The highest priority of the jobs without a slot."""
        return int(self.levels[self.pending > 0].max(initial=MIN_PRIORITY))

    def _remove(self, jobs: Ints) -> None:
        gone = np.zeros(len(self.request), np.bool_)
        gone[jobs] = True
        self.left = self.left[~gone[self.left]]

    def _of_applications(self, jobs: Ints) -> Mask:
        found = np.zeros(len(self.usage), np.bool_)
        found[self.application[jobs]] = True
        return found[self.application[self.left]]

    def _shares(self, jobs: Ints, within: tuple[NDArray[Any], ...]) -> Numbers:
        """Return what each job's application uses before the job gets its slot, the largest part first, (K, R)."""
        order = np.lexsort(within[::-1])
        application = self.application[jobs][order]
        amounts = self.amounts[self.request[jobs][order]]
        before = np.cumsum(amounts, axis=0) - amounts
        starts = np.flatnonzero(np.diff(application, prepend=-1))
        lengths = np.diff(np.append(starts, len(application)))
        usage = np.empty_like(before)
        usage[order] = self.usage[application] + before - np.repeat(before[starts], lengths, axis=0)
        return usage_shares(usage, self.guaranteed, self.resources)


def job_priorities(jobs: Table) -> Ints:
    """Return the JobPrio of all jobs as 32-bit integers, 0 for a missing one."""
    numbers = np.nan_to_num(jobs.numbers("JobPrio", default=0.0), nan=0.0)
    return np.clip(numbers, MIN_PRIORITY, MAX_PRIORITY).astype(np.int64)
