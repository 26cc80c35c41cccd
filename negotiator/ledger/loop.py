"""Admission row by row: the definition that all faster ways must agree with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeAlias

import attrs

_Row: TypeAlias = tuple[tuple[Hashable, int, int], ...]
_Taken: TypeAlias = defaultdict[Hashable, int]


@attrs.frozen(eq=False)
class ChargeColumn:
    """One charge over the rows, each part (C,): the counter of a row, its amount, and the free amount of the counter.

    ``free`` is the limit minus the usage before this admission; it may be negative.
    """

    counters: Iterable[Hashable]
    amounts: Iterable[int]
    free: Iterable[int]


def greedy(columns: Sequence[ChargeColumn], size: int, wanted: int, *, shared: bool) -> list[int]:
    """Grant each row whose charges all fit, in order, until as many as wanted are granted.

    ``shared`` means that several columns may name the same counter. Return, for each row that was examined, the number
    of the first column that did not fit, or -1 if it was granted.
    """
    if not columns:
        return [-1] * min(size, wanted)
    charge = _charge_totals if shared else _charge
    taken: _Taken = defaultdict(int)
    stops: list[int] = []
    left = wanted
    parts = (zip(column.counters, column.amounts, column.free, strict=False) for column in columns)
    # A column with one value for all rows is an endless iterator: the size ends the loop.
    for row in zip(*parts, strict=False):
        if not left or len(stops) == size:
            break
        stops.append(charge(taken, row))
        left -= stops[-1] < 0
    return stops


def _charge(taken: _Taken, row: _Row) -> int:
    """Charge one row if all of it fits, and return -1; else return the number of the column that does not."""
    # Check all columns before charging any: a row is charged all or none.
    for number, (counter, amount, free) in enumerate(row):
        if amount and amount > free - taken[counter]:
            return number
    for counter, amount, _ in row:
        if amount:
            taken[counter] += amount
    return -1


def _charge_totals(taken: _Taken, row: _Row) -> int:
    """Do the same if a row may add to one counter by several columns."""
    totals: _Taken = defaultdict(int)
    for counter, amount, _ in row:
        totals[counter] += amount
    for number, (counter, _, free) in enumerate(row):
        if totals[counter] and totals[counter] > free - taken[counter]:
            return number
    for counter, total in totals.items():
        taken[counter] += total
    return -1
