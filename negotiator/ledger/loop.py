"""Admission row by row, exactly: what everything faster must agree with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeAlias

import attrs

_Row: TypeAlias = tuple[tuple[Hashable, int, int], ...]
_Taken: TypeAlias = defaultdict[Hashable, int]


@attrs.frozen(eq=False)
class ChargeColumn:
    """One charge over the rows, each part (C,): the counter of a row, its amount, and what is free for it.

    ``free`` is the limit less what was used before; it may be negative.
    """

    counters: Iterable[Hashable]
    amounts: Iterable[int]
    free: Iterable[int]


def greedy(columns: Sequence[ChargeColumn], size: int, wanted: int, *, shared: bool) -> list[int]:
    """Go through the rows in order and grant each whose charges all fit, until as many as wanted are granted.

    ``shared`` says that several columns may name the same counter. Gives for each row that was looked at the number of
    the first column that did not fit, or -1 where it was granted.
    """
    if not columns:
        return [-1] * min(size, wanted)
    charge = _charge_totals if shared else _charge
    taken: _Taken = defaultdict(int)
    stops: list[int] = []
    left = wanted
    parts = (zip(column.counters, column.amounts, column.free, strict=False) for column in columns)
    for row in zip(
        *parts, strict=False
    ):  # endless where all columns are: what is the same for all rows repeats
        if not left or len(stops) == size:
            break
        stops.append(charge(taken, row))
        left -= stops[-1] < 0
    return stops


def _charge(taken: _Taken, row: _Row) -> int:
    """Charge one row if all of it fits: -1, or the number of what did not fit."""
    for number, (counter, amount, free) in enumerate(row):
        if amount and amount > free - taken[counter]:
            return number
    for counter, amount, _ in row:
        if amount:
            taken[counter] += amount
    return -1


def _charge_totals(taken: _Taken, row: _Row) -> int:
    """Do the same where what a row adds to a counter may come from several columns."""
    totals: _Taken = defaultdict(int)
    for counter, amount, _ in row:
        totals[counter] += amount
    for number, (counter, _, free) in enumerate(row):
        if totals[counter] and totals[counter] > free - taken[counter]:
            return number
    for counter, total in totals.items():
        taken[counter] += total
    return -1
