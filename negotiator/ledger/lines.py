"""Charges over the candidates of one request: the input of every way to admit."""

from __future__ import annotations

from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.ledger.charges import Charge, check_amounts
from negotiator.ledger.counters import Counters
from negotiator.ledger.errors import LedgerError
from negotiator.ledger.grouping import Grouping
from negotiator.ledger.groups import CandidateGroups
from negotiator.ledger.keys import LARGEST, Ints, Mask

#: Numbers of slots, (N,).
Rows: TypeAlias = NDArray[np.intp]


@attrs.frozen(eq=False)
class ChargeLine:
    """One charge over the candidates.

    ``amount`` is one integer for all that are ``charged`` (a mask, (C,), None for all of them), or (C,) with 0 where a
    candidate is not charged. ``room`` is the limit minus the usage, one integer or (C,).
    """

    number: int  # of the charge
    groups: CandidateGroups
    amount: int | Ints
    room: int | Ints
    charged: Mask | None

    def amounts(self, rows: Mask) -> Ints:
        """Return the amounts of the candidates in a mask, 0 for the others, (C,)."""
        mask = rows if self.charged is None else rows & self.charged
        return np.where(mask, self.amount, 0)

    def counts(self, rows: Mask) -> Ints:
        """Return 1 for the charged candidates in a mask, 0 for the others, (C,)."""
        return (rows if self.charged is None else rows & self.charged).astype(np.int64)

    def most(self) -> int:
        """Return the largest amount."""
        return self.amount if isinstance(self.amount, int) else int(self.amount.max(initial=0))

    def is_slack(self, copies: int) -> bool:
        """True if that many copies fit on any candidates."""
        least = self.room if isinstance(self.room, int) else int(self.room.min(initial=LARGEST))
        return self.most() * copies <= least

    def refuses(self, taken: Ints, rows: Rows) -> Mask:
        """Return which of some rows, (n,), do not fit, given the amounts taken before each, (n,)."""
        amount = self.amount if isinstance(self.amount, int) else self.amount[rows]
        room = self.room if isinstance(self.room, int) else self.room[rows]
        over = np.asarray(amount > room - taken)
        return over if self.charged is None else over & self.charged[rows]


class Reader:
    """Read charges over candidate rows, (C,). Groupings with the same codes share their groups, which are sorted once."""

    def __init__(self, counters: Counters, rows: Rows) -> None:
        if rows.ndim != 1 or (len(rows) and rows.min() < 0):
            raise LedgerError(
                "bad_charge", "invalid candidates: they must be a list of rows, none of them negative"
            )
        self._counters, self._rows = counters, rows
        self._end = int(rows.max(initial=-1)) + 1
        self._one_group = CandidateGroups(None)
        self._groups: list[tuple[NDArray[np.integer], CandidateGroups]] = []
        self._amounts: dict[int, Ints] = {}

    def line(self, number: int, charge: Charge) -> ChargeLine:
        """Return one charge over the candidates.

        :raises LedgerError: ``bad_charge``, ``wrong_sort``, ``bad_amount``, ``negative_amount``, ``overflow``.
        """
        amount = self._amount(charge.amount)
        limit = LARGEST if charge.limit is None else self._limit(charge.limit)
        groups = self._one_group
        used: int | Ints
        if isinstance(charge.counter, Grouping):
            groups, used = self._grouping(charge.counter)
        else:
            used = self._counters.sum_of(charge.counter)
        charged = groups.charged
        # Columns with one value become one integer: that opens the closed form, and saves an array per charge.
        if not isinstance(amount, int):
            if charged is not None:
                amount = np.where(charged, amount, 0)
            if not amount.all():
                charged = amount > 0
            amount = _one_of(amount, amount if charged is None else amount[charged])
        return ChargeLine(number, groups, amount, limit - used, charged)

    def _grouping(self, grouping: Grouping) -> tuple[CandidateGroups, int | Ints]:
        """Return the groups of a grouping, and the usage in the group of each candidate."""
        groups = self._of(grouping.codes)
        if groups.codes is not None and (
            groups.bound > len(grouping.keys) or groups.codes.min(initial=0) < -1
        ):
            expected = f"from -1 to {len(grouping.keys) - 1}: an index of keys, or -1 for none"
            raise LedgerError("bad_charge", f"invalid codes of a grouping: they must be {expected}")
        if groups.codes is None:
            return groups, 0
        used = self._counters.sums_of(grouping, groups.codes)
        return groups, used if used.any() else 0

    def _of(self, codes: NDArray[np.integer]) -> CandidateGroups:
        # Equal codes give one object: lines over the same groups are merged by its identity.
        for known, groups in self._groups:
            if known is codes or np.array_equal(known, codes):
                return groups
        groups = CandidateGroups(self._column(codes))
        self._groups.append((codes, groups))
        return groups

    def _column(self, values: NDArray[np.integer]) -> Ints:
        """Return the elements for the candidates."""
        if values.ndim != 1 or not np.can_cast(values.dtype, np.int64, "safe") or self._end > len(values):
            expected = f"at least ({self._end},) of int64, not {values.shape} of {values.dtype}"
            raise LedgerError("bad_charge", f"invalid column of a charge: it must be {expected}")
        return values[self._rows].astype(np.int64, copy=False)

    def _amount(self, amount: int | Ints) -> int | Ints:
        if not isinstance(amount, np.ndarray):
            check_amounts((amount,))
            return amount
        if id(amount) not in self._amounts:  # several levels of queues are charged the same
            column = self._column(amount)
            if column.min(initial=0) < 0:
                check_amounts((int(column.min()),))
            self._amounts[id(amount)] = column
        return self._amounts[id(amount)]

    def _limit(self, limit: int | Ints) -> int | Ints:
        """Return a limit from -1 to 2^63 - 1: all limits below 0 refuse the same."""
        if not isinstance(limit, np.ndarray):
            return max(-1, min(limit, LARGEST))
        column = np.maximum(self._column(limit), -1)
        return _one_of(column, column)


def _one_of(column: Ints, values: Ints) -> int | Ints:
    """Return one integer if all values are the same, else the column."""
    if len(values) and values.min() == values.max():
        return int(values[0])
    return column
