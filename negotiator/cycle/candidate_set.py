"""The candidate slots of one request, and the reasons that removed the others."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Table
from negotiator.classad.columnar import TrueRows
from negotiator.cycle.conjunct import Conjunct
from negotiator.cycle.result import Removal
from negotiator.hooks.records import Mask
from negotiator.records import Mode, Reason


@attrs.define
class CandidateSet:
    """The slots that are still candidates of one request, and the reasons that removed the others."""

    slots: Table
    keep: Mask = attrs.field(init=False)  # (N,)
    removals: list[Removal] = attrs.field(factory=list)
    warnings: list[tuple[Reason, Mask]] = attrs.field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.keep = np.ones(len(self.slots), dtype=np.bool_)

    def require(self, truth: TrueRows, reason: Reason, rows: NDArray[np.intp] | None = None) -> None:
        """Apply ``keep_true``, and record what it removes with the reason."""
        self.removals.append(Removal(reason, *self.keep_true(truth, rows)))

    def require_of_slots(self, conjunct: Conjunct, truth: TrueRows) -> Iterator[tuple[int, Removal]]:
        """Apply a conjunct of slots; yield what each written conjunct removes, with its place."""
        written = conjunct.written
        if conjunct.codes is None or conjunct.rows is None:
            counts = self.keep_true(truth, conjunct.rows)
            yield written[0].place, Removal(written[0].reason(), *counts)
            return
        removed, rejected = self.keep_true_of_each(truth, conjunct.rows, conjunct.codes, len(written))
        for code in np.flatnonzero(rejected).tolist():
            each = written[code]
            yield each.place, Removal(each.reason(), int(removed[code]), int(rejected[code]))

    def keep_true(self, truth: TrueRows, rows: NDArray[np.intp] | None = None) -> tuple[int, int]:
        """Keep the slots on which a condition is true, of those that it applies to: ``rows`` (None: all).

        Return how many of the slots that were left it removes, and on how many it is not true.
        """
        # Two counts: the slots removed from those still left (REMOVED), and all that fail the condition (REJECTED).
        keep = self.keep if rows is None else self.keep[rows]
        before = np.count_nonzero(keep)
        keep &= truth.rows
        if rows is not None:
            self.keep[rows] = keep
        return int(before - np.count_nonzero(keep)), truth.size - truth.count

    def keep_true_of_each(
        self, truth: TrueRows, rows: NDArray[np.intp], codes: NDArray[np.intp], conditions: int
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Keep the slots on which their condition is true, ``codes`` (R,) of so many; return both numbers for each of them."""
        true, keep = truth.rows, self.keep[rows]
        false = ~true
        rejected = np.bincount(codes[false], minlength=conditions)
        removed = np.bincount(codes[false & keep], minlength=conditions)
        self.keep[rows] = keep & true
        return removed, rejected

    def remove(self, mask: Mask, reason: Reason) -> None:
        """Remove the slots of the mask; where the reason does not enforce, only count them and warn."""
        rejected = int(np.count_nonzero(mask))
        if not rejected:
            return
        removed = int(np.count_nonzero(mask & self.keep))
        self.removals.append(Removal(reason, removed, rejected))
        if reason.mode is Mode.ENFORCE:
            self.keep &= ~mask
        else:
            self.warnings.append((reason, mask))

    def remove_all(self, reason: Reason) -> None:
        """Remove every slot for one reason."""
        self.remove(np.ones(len(self.slots), dtype=np.bool_), reason)
