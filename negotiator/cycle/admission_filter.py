"""The ads of one kind in a station: the remaining ads, and the reasons that discarded the others."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.result import DiscardedAds
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.records import Mask
from negotiator.records import Mode, Reason

#: The number of names beside a count: enough to look one up, and small in a pool of any size.
EXAMPLES = 3

#: Discarded jobs are listed if they are no more: a live pool has an ad for each request, a pool of files one for each job.
MOST_JOBS = 10_000

_NAMES: dict[AdKind, Callable[[Table, int], str]] = {
    AdKind.SCHEDD: lambda table, row: table.ad(row).string("Name") or f"row {row}",
    AdKind.SUBMITTER: lambda table, row: table.ad(row).string("Name") or f"row {row}",
    AdKind.STARTD: lambda table, row: table.ad(row).string("Name") or f"row {row}",
    AdKind.JOB: lambda table, row: job_columns.job_id(table.ad(row)),
}


@attrs.define
class AdmissionFilter:
    """A table of ads, the mask of the remaining ones, (N,), and the reasons that discarded the others.

    ``outside`` (N,) are the ads that gates put outside of the pool.
    """

    kind: AdKind
    table: Table
    keep: Mask
    discarded: list[DiscardedAds]
    outside: Mask

    @classmethod
    def of(cls, kind: AdKind, table: Table) -> AdmissionFilter:
        """Start with all ads of a table."""
        keep, outside = np.ones(len(table), np.bool_), np.zeros(len(table), np.bool_)
        return cls(kind, table, keep, [], outside)

    def discard(self, mask: Mask, reason: Reason) -> None:
        """Discard the remaining rows of the mask; if the reason does not enforce, only count them."""
        rows = np.flatnonzero(mask & self.keep)
        if len(rows):
            names = tuple(_NAMES[self.kind](self.table, int(row)) for row in rows[:EXAMPLES])
            jobs = self._jobs(rows) if reason.mode is Mode.ENFORCE else ()
            self.discarded.append(DiscardedAds(self.kind, reason, len(rows), names, jobs))
        if reason.mode is Mode.ENFORCE:
            self.keep &= ~mask

    def _jobs(self, rows: NDArray[np.intp]) -> tuple[tuple[str, str], ...]:
        """Return the schedds and ids of discarded jobs."""
        if self.kind is not AdKind.JOB or len(rows) > MOST_JOBS:
            return ()
        jobs = self.table.take(rows)
        return tuple(zip(job_columns.schedds(jobs), job_columns.job_ids(jobs), strict=True))

    def kept_ads(self) -> Table:
        """Return the remaining ads."""
        return self.table.take(self.keep)

    def discarded_ads(self) -> Table:
        """Return the ads that are discarded."""
        return self.table.take(~self.keep)
