"""The submitters of a pool: those of its ads, or without any those of its jobs."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import QueuedRequest, Table, evaluate_table, parse

_LARGEST = 2.0**53


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
