"""Numbering of rows: rows that are alike share a number. No Python runs for a row, except over columns of objects."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

_TABLE = 1 << 22  # integers of a smaller range are looked up in a table, others are sorted


def numbered(values: NDArray[Any]) -> tuple[Numbers, int]:
    """Return a number for each row, (N,), in the order of the values, and how many numbers there are."""
    if not len(values):
        return np.zeros(0, np.int64), 0
    if values.dtype.kind in "iu":
        low = int(values.min())
        width = int(values.max()) - low + 1
        if width == 1:
            return np.zeros(len(values), np.int64), 1
        if width <= max(_TABLE, len(values)):
            shifted = values.astype(np.int64, copy=False) - low
            there = np.zeros(width, np.bool_)
            there[shifted] = True
            order = np.cumsum(there, dtype=np.int64)
            order -= 1
            return order[shifted], int(order[-1]) + 1
    if values.dtype.kind == "O":
        return _numbered_objects(values)
    found, numbers = np.unique(values, return_inverse=True)
    return numbers.astype(np.int64), len(found)


def combined(*columns: NDArray[Any]) -> tuple[Numbers, int]:
    """Number the rows so that those alike in all columns share a number; return also how many numbers there are.

    Each step combines two columns into one and numbers it anew, so that the products never overflow.
    """
    numbers, count = numbered(columns[0])
    for column in columns[1:]:
        more, width = numbered(column)
        if width > 1 and not _decides(numbers, count, more):
            numbers, count = numbered(numbers * width + more)
    return numbers, count


def _decides(numbers: Numbers, count: int, more: Numbers) -> bool:
    """True if rows that share a number share the other one too, as the rows of a user share the user's groups."""
    one = np.zeros(count, np.int64)
    one[numbers] = more
    return bool(np.array_equal(one[numbers], more))


def by_appearance(*columns: NDArray[Any]) -> Numbers:
    """Number the rows as ``combined`` does, but in the order in which each number first appears."""
    numbers, count = combined(*columns)
    place = np.empty(count, np.int64)
    place[np.argsort(first_rows(numbers, count))] = np.arange(count)
    return place[numbers]


def first_rows(numbers: Numbers, count: int) -> Numbers:
    """Return the first row of each number, (count,)."""
    first = np.zeros(count, np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return first


def _numbered_objects(values: NDArray[np.object_]) -> tuple[Numbers, int]:
    """Number objects by a dictionary look-up for each row: sorting them would take far longer."""
    rows = values.tolist()
    distinct = sorted(set(rows))
    number = dict(zip(distinct, range(len(distinct)), strict=True))
    return np.fromiter(map(number.__getitem__, rows), np.int64, len(rows)), len(distinct)
