"""The waiting jobs of a leaf queue in the order of its policy, as arrays: no Python runs per job.

Source: YuniKorn's documentation, "Sorting Policies"; its ``sortApplications`` and ``LessThan`` of allocations. An
application is a job cluster at its schedd; it is as old as its oldest waiting job. Its jobs are sorted by priority, then by
age. So an application never moves forward when its jobs get slots. YuniKorn sorts again before each job; here one sorted list
gives the same jobs in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import (
    MAX_PRIORITY,
    MIN_PRIORITY,
    Mask,
    QueuedRequest,
    QueueSettings,
    Resources,
    SortPolicy,
    Table,
)
from negotiator_queue_order.shares import Matrix, usage_shares

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
