"""The ids of many jobs as ranges: ``12.0-499`` are the jobs 12.0 to 12.499."""

from __future__ import annotations

import re

import attrs
import numpy as np
from numpy.typing import NDArray

_TEXT = re.compile(r"(-?\d{1,18})(?:\.(-?\d{1,18})(?:-(\d{1,18}))?)?", re.ASCII)


def _no_ranges() -> NDArray[np.int64]:
    return np.zeros((0, 3), np.int64)


@attrs.frozen
class JobRanges:
    """Ranges of jobs, each of one cluster, by cluster and proc; ``bounds`` (N, 3) has cluster, first and last proc."""

    bounds: NDArray[np.int64] = attrs.field(
        factory=_no_ranges, eq=attrs.cmp_using(eq=np.array_equal), repr=False
    )

    @classmethod
    def of(cls, clusters: NDArray[np.int64], procs: NDArray[np.int64]) -> JobRanges:
        """Return the ranges of jobs, given the numbers of each, in any order."""
        if not len(clusters):
            return cls()
        order = np.lexsort((procs, clusters))
        clusters, procs = clusters[order], procs[order]
        follows = (clusters[1:] == clusters[:-1]) & (procs[1:] - procs[:-1] <= 1)  # a job may be given twice
        first = np.concatenate(([0], np.flatnonzero(~follows) + 1))
        last = np.concatenate((first[1:], [len(procs)])) - 1
        return cls(np.array((clusters[first], procs[first], procs[last])).T)

    def __len__(self) -> int:
        return len(self.bounds)

    @property
    def jobs(self) -> int:
        """The number of jobs."""
        return int((self.bounds[:, 2] - self.bounds[:, 1] + 1).sum())

    def from_place(self, place: int) -> JobRanges:
        """Return the ranges from a place on."""
        return JobRanges(self.bounds[place:])

    def texts(self, most: int) -> list[str]:
        """Return the first ranges as texts: ``12.0-499``, or ``13.7`` for a range of one job."""
        return [
            f"{cluster}.{first}-{last}" if last > first else f"{cluster}.{first}"
            for cluster, first, last in self.bounds[:most].tolist()
        ]

    def has(self, job: str) -> bool:
        """True if a job (``12.7``), or any job of a cluster (``12``), is in a range."""
        parsed = _TEXT.fullmatch(job)
        if not parsed:
            return False
        cluster, first, last = self.bounds.T
        found = cluster == int(parsed[1])
        if parsed[2] is not None:
            found &= (first <= int(parsed[2])) & (int(parsed[2]) <= last)
        return bool(found.any())


def parse_ranges(texts: list[str]) -> JobRanges:
    """Return the ranges of texts as ``JobRanges.texts`` makes them; others are ignored."""
    parsed = (_TEXT.fullmatch(text) for text in texts)
    bounds = [
        (int(each[1]), int(each[2]), int(each[3] or each[2]))
        for each in parsed
        if each and each[2] is not None
    ]
    return JobRanges(np.array(bounds, np.int64).reshape(-1, 3))
