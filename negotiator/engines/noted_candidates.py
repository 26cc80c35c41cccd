"""Candidates of one request that note the slots that each condition leaves, so that conditions of many requests are sent once."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.columnar import TrueRows
from negotiator.cycle.candidate_set import CandidateSet
from negotiator.hooks.records import Mask
from negotiator.records import Mode, Reason

#: Memory for conditions of some slots that were extended to all slots, in bytes; beyond it they are made anew.
_MOST_EXTENDED: Final = 64 << 20


@attrs.define(eq=False)
class ExtendedConditions:
    """Conditions that apply to some of ``size`` slots, extended to all of them, by the identity of the condition."""

    size: int
    _known: dict[tuple[int, int], tuple[TrueRows, NDArray[np.intp], TrueRows]] = attrs.field(
        factory=dict, init=False
    )
    _bytes: int = attrs.field(default=0, init=False)

    def of(self, truth: TrueRows, rows: NDArray[np.intp]) -> TrueRows:
        """Return the slots that a condition of the slots ``rows``, (R,), leaves: those where it is true, and all others."""
        key = id(truth), id(rows)
        known = self._known.get(key)
        if known is not None:
            return known[-1]
        left = np.ones(self.size, np.bool_)
        left[rows] = truth.rows
        found = TrueRows.from_mask(left)
        if self._bytes > _MOST_EXTENDED:
            self._known.clear()
            self._bytes = 0
        self._known[key] = truth, rows, found  # both are held, so that their identity is not used again
        self._bytes += found.nbytes + truth.nbytes
        return found


@attrs.define
class NotedCandidates(CandidateSet):
    """A candidate set whose conditions are noted: ``conditions`` are the slots that each of them leaves."""

    extended: ExtendedConditions = attrs.field(kw_only=True)
    conditions: list[TrueRows] = attrs.field(factory=list, init=False)

    def keep_true(self, truth: TrueRows, rows: NDArray[np.intp] | None = None) -> tuple[int, int]:
        """See ``CandidateSet.keep_true``."""
        self.conditions.append(truth if rows is None else self.extended.of(truth, rows))
        return super().keep_true(truth, rows)

    def keep_true_of_each(
        self, truth: TrueRows, rows: NDArray[np.intp], codes: NDArray[np.intp], conditions: int
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """See ``CandidateSet.keep_true_of_each``."""
        self.conditions.append(self.extended.of(truth, rows))
        return super().keep_true_of_each(truth, rows, codes, conditions)

    def remove(self, mask: Mask, reason: Reason) -> None:
        """See ``CandidateSet.remove``."""
        if reason.mode is Mode.ENFORCE:
            self.conditions.append(TrueRows.from_mask(~mask))
        super().remove(mask, reason)
