"""Candidates in groups: those of one group share a counter."""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.ledger.keys import Ints, Mask

_SHORT = 2**16


@attrs.frozen(eq=False)
class CandidateGroups:
    """The group of each candidate: ``codes`` is (C,), -1 without a group; None if all are in one group."""

    codes: Ints | None

    @cached_property
    def charged(self) -> Mask | None:
        """The candidates that are in a group, (C,); None if all are."""
        if self.codes is None or not len(self.codes) or self.codes.min() >= 0:
            return None
        return np.asarray(self.codes >= 0)

    @cached_property
    def bound(self) -> int:
        """One more than the largest code."""
        return 1 if self.codes is None or not len(self.codes) else int(self.codes.max()) + 1

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The candidates sorted by group, in their order within it; and the position where the group of each begins."""
        codes = self.codes if self.codes is not None else np.zeros(0, np.int64)
        # NumPy sorts 16 bits in linear time.
        short = codes.astype(np.uint16) if self.bound < _SHORT else codes
        order = np.argsort(short, kind="stable")
        inside = codes[order]
        begins = np.zeros(len(order), np.intp)
        # The position of each first member, carried on to the rest of its group by the running maximum.
        begins[1:] = np.where(inside[1:] != inside[:-1], np.arange(1, len(order)), 0)
        return order, np.maximum.accumulate(begins)

    def before(self, amounts: Ints) -> Ints:
        """Return, for each candidate, the sum of the amounts, (C,), of those before it in its group.

        The sum of a group must be less than 2^63.
        """
        if self.codes is None:
            return np.cumsum(amounts) - amounts
        order, begins = self._sorted
        # One running sum over all groups. It may wrap around: differences within one group are exact all the same.
        inside = amounts[order]
        sums = np.cumsum(inside) - inside
        result = np.empty_like(sums)
        result[order] = sums - sums[begins]
        return result

    def pick(self, rows: Mask | slice) -> CandidateGroups:
        """Return the groups of some of the candidates."""
        return CandidateGroups(None if self.codes is None else self.codes[rows])
