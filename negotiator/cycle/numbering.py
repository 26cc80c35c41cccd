"""Numbers for rows: those alike share one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

_TABLE = 1 << 22  # so many numbers are looked up in a table; more are sorted


def numbered(values: NDArray[Any]) -> tuple[Numbers, int]:
    """Number the rows by value, (N,), in the order of the values; and how many numbers there are."""
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
    """Number the rows so that those alike in all columns share a number; and how many numbers there are."""
    numbers, count = numbered(columns[0])
    for column in columns[1:]:
        more, width = numbered(column)
        if width > 1 and not _decides(numbers, count, more):
            numbers, count = numbered(numbers * width + more)
    return numbers, count


def _decides(numbers: Numbers, count: int, more: Numbers) -> bool:
    """Whether rows that share a number share the other one too, as those of a user share the user's groups."""
    one = np.zeros(count, np.int64)
    one[numbers] = more
    return bool(np.array_equal(one[numbers], more))


def first_rows(numbers: Numbers, count: int) -> Numbers:
    """The first row of each number, (count,)."""
    first = np.zeros(count, np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return first


def _numbered_objects(values: NDArray[np.object_]) -> tuple[Numbers, int]:
    """As ``numbered``, by a look-up for each row: sorting that many objects takes far longer."""
    known: dict[Any, int] = {}
    codes = np.fromiter((known.setdefault(value, len(known)) for value in values), np.int64, len(values))
    place = np.empty(len(known), np.int64)
    place[[known[value] for value in sorted(known)]] = np.arange(len(known))
    return place[codes], len(known)
