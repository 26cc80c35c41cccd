"""The jobs of requests that have no slot yet, as requests for turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import QueuedRequest

Ints = NDArray[np.int64]


@attrs.define(eq=False)
class UnservedJobs:
    """How many jobs of each ad have no slot, (J,), by row of the table of jobs, and of each request, by number."""

    of_ad: Ints
    of_request: dict[int, int]

    @classmethod
    def of(cls, requests: Sequence[QueuedRequest], jobs: int) -> Self:
        """Return the jobs at the beginning."""
        of_ad = np.zeros(jobs, np.int64)
        for queued in requests:
            of_ad[queued.ads] = 1  # an ad beyond ``rows`` has at least one job
        for queued in requests:
            rows, counts = np.unique(queued.rows, return_counts=True)
            of_ad[rows] = counts
        return cls(of_ad, {queued.number: queued.request.count for queued in requests})

    def turn(self, queued: QueuedRequest, copies: Ints, scores: NDArray[np.float64] | None) -> QueuedRequest:
        """Return the request of a turn for some of its jobs.

        :param copies: the places of the jobs in ``queued.rows``, (M,).
        """
        names = queued.request.applications
        chosen = tuple(names[copy] for copy in copies.tolist())
        request = attrs.evolve(queued.request, applications=chosen, count=self.of_request[queued.number])
        rows = queued.rows[copies]
        own, counts = np.unique(rows, return_counts=True)
        # An ad with jobs beyond this turn's is not served by them: it has one row more.
        rows = np.concatenate([rows, own[self.of_ad[own] > counts]])
        ads = queued.ads[self.of_ad[queued.ads] > 0]
        return QueuedRequest(queued.number, request, rows, len(copies), ads, kind=queued.kind, scores=scores)

    def served(self, queued: QueuedRequest, copies: Ints) -> None:
        """Count jobs that got slots."""
        np.subtract.at(self.of_ad, queued.rows[copies], 1)
        self.of_request[queued.number] -= len(copies)
