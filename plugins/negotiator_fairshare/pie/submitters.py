"""The submitters of a pool: those of its ads, or without any those of its jobs; by the priorities of their jobs, and depth first.

With global job priorities a submitter takes part once for each priority of its jobs. Depth first, a match stands for as many jobs of its
request as the slot holds: condor_negotiator counts Cpus and Memory only, as integers, of static slots too; what is not a number, and a
request below 1, counts as 1.

Source: HTCondor manual, USE_GLOBAL_JOB_PRIOS, NEGOTIATOR_DEPTH_FIRST; condor_negotiator 25.14.1, also for neighbours that are joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import Environment, QueuedRequest, Side, Table, evaluate_table, parse

_LARGEST = 2.0**53
_PRIORITY = re.compile(r"(?<![^\s,])-?[0-9]{1,10}(?![^\s,])")
#: Priorities of one ad: hostile ads may have any number.
_MOST = 1000
_RESOURCES = tuple((parse(f"MY.{name}"), parse(f"MY.Request{name}")) for name in ("Cpus", "Memory"))
_MOST_JOBS = 2**31


@attrs.frozen
class SubmitterAd:
    """One submitter at one schedd. ``heard`` is LastHeardFrom, in seconds since the epoch; ``place`` its place as read.

    ``weighted_idle`` and ``weighted_running`` are the weights of its jobs; their numbers, if the ad has no weights.
    ``priorities`` are the least and the largest JobPrio of its jobs; None for jobs of any.
    """

    name: str
    schedd: str
    idle: int
    running: int
    heard: int
    place: int
    weighted_idle: float
    weighted_running: float
    priorities: tuple[int, int] | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The submitter and the schedd in lower case, as requests name them."""
        return self.name.lower(), self.schedd.lower()


def submitter_ads(submitters: Table, requests: Sequence[QueuedRequest]) -> tuple[SubmitterAd, ...]:
    """Return the submitters that take part; without a valid name, with no jobs, or with SkipMatchmaking none does.

    The ads of schedds have the numbers of their jobs. An ad written by hand may have neither IdleJobs nor RunningJobs: the
    jobs of its requests are counted instead.
    """
    names, schedds = submitters.strings("Name"), submitters.strings("ScheddName")
    numbers = np.array([submitters.numbers(name) for name in ("IdleJobs", "RunningJobs")])
    heard = _whole(submitters.numbers("LastHeardFrom"))
    uncounted = np.flatnonzero(np.isnan(numbers).all(axis=0))
    if len(uncounted):
        waiting = _waiting(requests)
        for row in uncounted.tolist():
            numbers[0, row] = waiting.get(((names[row] or "").lower(), (schedds[row] or "").lower()), 0)
    idle, running = map(_whole, numbers)
    weighted_idle, weighted_running = (
        _weights(submitters.numbers(f"Weighted{name}"), counts)
        for name, counts in zip(("IdleJobs", "RunningJobs"), numbers, strict=True)
    )
    skip = evaluate_table(parse("MY.SkipMatchmaking"), submitters).is_true()
    return tuple(
        SubmitterAd(
            *(name, schedds[row] or "", idle[row], running[row], heard[row], row),
            *(weighted_idle[row], weighted_running[row]),
        )
        for row, name in enumerate(names)
        if name and not any(map(str.isspace, name)) and idle[row] + running[row] > 0 and not skip[row]
    )


def submitters_of_jobs(requests: Sequence[QueuedRequest]) -> tuple[SubmitterAd, ...]:
    """Return the submitters of requests, for a pool without submitter ads."""
    return tuple(
        SubmitterAd(name, schedd, count, 0, 0, place, float(count), 0.0)
        for place, ((name, schedd), count) in enumerate(sorted(_waiting(requests).items()))
        if name
    )


def distinct(submitters: Sequence[SubmitterAd]) -> tuple[str, ...]:
    """Return the names of submitters, each once, in their order."""
    return tuple(dict.fromkeys(each.name for each in submitters))


def _waiting(requests: Sequence[QueuedRequest]) -> dict[tuple[str, str], int]:
    """Return the number of waiting jobs of each submitter at each schedd."""
    waiting: dict[tuple[str, str], int] = {}
    for queued in requests:
        key = queued.request.submitter, queued.request.schedd
        waiting[key] = waiting.get(key, 0) + queued.request.count
    return waiting


def _whole(numbers: NDArray[np.float64]) -> list[int]:
    """Return numbers of hostile ads as integers; what is not a number is 0."""
    found: list[int] = np.nan_to_num(numbers).clip(-_LARGEST, _LARGEST).astype(np.int64).tolist()
    return found


def _weights(weighted: NDArray[np.float64], counts: NDArray[np.float64]) -> list[float]:
    """Return the weights of hostile ads: those that are not finite are the counts, else 0; none is negative."""
    found = np.where(np.isfinite(weighted), weighted, np.nan_to_num(counts))
    weights: list[float] = found.clip(0.0, _LARGEST).tolist()
    return weights


def by_priority(ads: Sequence[SubmitterAd], submitters: Table) -> tuple[SubmitterAd, ...]:
    """Return each submitter once for each priority in its JobPrioArray; one without it as it is."""
    arrays = submitters.strings("JobPrioArray")
    return tuple(each for ad in ads for each in _of_each_priority(ad, arrays[ad.place] or ""))


def _of_each_priority(ad: SubmitterAd, text: str) -> Iterator[SubmitterAd]:
    found = dict.fromkeys(map(int, _PRIORITY.findall(text)[:_MOST]))
    if not found:
        yield ad
    for priority in found:
        yield attrs.evolve(ad, priorities=(priority, priority))


def joined(ads: Sequence[SubmitterAd]) -> list[SubmitterAd]:
    """Join neighbours of one submitter at one schedd: one ad has the jobs of both."""
    found: list[SubmitterAd] = []
    for ad in ads:
        before = found[-1] if found else None
        if before is None or before.key != ad.key or before.priorities is None or ad.priorities is None:
            found.append(ad)
            continue
        both = (*before.priorities, *ad.priorities)
        found[-1] = attrs.evolve(before, priorities=(min(both), max(both)))
    return found


@attrs.frozen(eq=False)
class JobPriorities:
    """The JobPrio of all jobs."""

    jobs: Table

    def served(self, queued: QueuedRequest, priorities: tuple[int, int] | None) -> int:
        """Return how many jobs of a request may be served: the first ones, down to the least of these priorities.

        Jobs above the largest one were rejected before; none is served if the request has no others.
        """
        if priorities is None:
            return queued.request.count
        least, largest = priorities
        own = self.jobs.take(queued.rows).numbers("JobPrio", default=0.0)
        count = int(np.argmin(np.append(own >= least, False)))
        return count if (own[:count] <= largest).any() else 0


#: Numbers of jobs, one a slot, (S,).
JobCounts: TypeAlias = NDArray[np.int64]


@attrs.frozen(eq=False)
class DepthFirst:
    """The slots of a cycle, each filled by one match."""

    slots: Table
    env: Environment

    def jobs_per_slot(self, queued: QueuedRequest) -> JobCounts:
        """Return how many jobs of a request each slot holds: 0 if it is smaller than what the job requests."""
        found = np.full(len(self.slots), _MOST_JOBS, np.int64)
        for amount, requested in _RESOURCES:
            has = evaluate_table(amount, self.slots, env=self.env)
            needs = evaluate_table(requested, self.slots, queued.request.ad, side=Side.TARGET, env=self.env)
            holds = _integers(has.numbers(1.0)).clip(min=0) // _integers(needs.numbers(1.0)).clip(min=1)
            found = np.minimum(found, holds)
        return found


def _integers(values: NDArray[np.float64]) -> JobCounts:
    """Return numbers without their fractions; hostile ones are replaced by the nearest of 32 bits."""
    integers: JobCounts = np.nan_to_num(np.trunc(values)).clip(-_MOST_JOBS, _MOST_JOBS).astype(np.int64)
    return integers
