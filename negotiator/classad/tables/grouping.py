"""Numbers groups of equal rows, without Python code for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from negotiator.classad.tables.column import Column, IndexArray
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable


def number(keys: IndexArray, bound: int) -> tuple[IndexArray, IndexArray]:
    """Number equal keys, integers from 0 below ``bound``, by first appearance; return the numbers and the first rows."""
    size = len(keys)
    if bound <= 8 * size + 1024:  # a table by key is faster than sorting, unless it is much longer
        seen = np.full(bound, -1, np.int64)
        # The last assignment of a key wins: going backwards, that is its first row.
        seen[keys[::-1]] = np.arange(size - 1, -1, -1)
        first = np.sort(seen[seen >= 0])
        numbers = np.empty(bound, np.int64)
        numbers[keys[first]] = np.arange(len(first))
        return numbers[keys], first
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[inverse], first[order]


def group_values(columns: Iterable[Column], size: int) -> tuple[IndexArray, IndexArray]:
    """Number the rows that are equal, in kind and value, in all of these columns, as ``Table.group`` does.

    The columns have ``size`` rows and no values of kind OTHER. Reals are compared by their bits.
    """
    ids, first = np.zeros(size, np.int64), np.zeros(min(1, size), np.int64)
    for column in columns:
        for codes, bound in _codes(column):
            ids, first = number(ids * bound + codes, len(first) * bound)
    return ids, first


def _codes(column: Column) -> Iterable[tuple[IndexArray, int]]:
    """Yield arrays of integers, with their bounds, that are all equal in two rows exactly if the rows are."""
    if column.kinds.ndim:
        yield column.kinds.astype(np.int64), len(Kind)
    for kind, values in column.data.items():
        if values.ndim == 0:
            continue
        if kind is Kind.STRING:
            codes, bound = values.astype(np.int64), len(column.pool.strings)
        elif kind is Kind.BOOLEAN:
            codes, bound = values.astype(np.int64), 2
        else:
            distinct, codes = np.unique(values.view(np.int64), return_inverse=True)
            bound = len(distinct)
        yield np.where(column.where(kind), codes, 0), bound  # the array is arbitrary in rows of other kinds
