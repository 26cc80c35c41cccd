"""One kind of ads on its way through a station: which are still in, and why the others are not."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np

from negotiator.classad import Table
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.result import DiscardedAds
from negotiator.hooks.records import AdKind, Mask
from negotiator.records import Mode, Reason

#: So many names stand beside a count: enough to look one up, small whatever the pool's size.
EXAMPLES = 3

_NAMES: dict[AdKind, Callable[[Table, int], str]] = {
    AdKind.SCHEDD: lambda table, row: table.ad(row).string("Name") or f"row {row}",
    AdKind.SUBMITTER: lambda table, row: table.ad(row).string("Name") or f"row {row}",
    AdKind.STARTD: lambda table, row: table.ad(row).string("Name") or f"row {row}",
    AdKind.JOB: lambda table, row: job_columns.job_id(table.ad(row)),
}


@attrs.define
class AdmissionFilter:
    """One kind of ads while its gates are asked: who is still in, and why the others are not."""

    kind: AdKind
    table: Table
    keep: Mask
    discarded: list[DiscardedAds]

    @classmethod
    def of(cls, kind: AdKind, table: Table) -> AdmissionFilter:
        """All ads of a table, each still in."""
        return cls(kind, table, np.ones(len(table), dtype=np.bool_), [])

    def discard(self, mask: Mask, reason: Reason) -> None:
        """Keep out the rows of the mask that are still in; where the reason does not enforce, only count them."""
        rows = np.flatnonzero(mask & self.keep)
        if len(rows):
            names = tuple(_NAMES[self.kind](self.table, int(row)) for row in rows[:EXAMPLES])
            self.discarded.append(DiscardedAds(self.kind, reason, len(rows), names))
        if reason.mode is Mode.ENFORCE:
            self.keep &= ~mask

    def left(self) -> Table:
        """The ads that are still in."""
        return self.table.take(self.keep)

    def out(self) -> Table:
        """The ads that were kept out."""
        return self.table.take(~self.keep)
