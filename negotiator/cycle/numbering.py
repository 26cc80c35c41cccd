"""Numbering of rows: rows that are alike share a number. No Python runs for a row, except over columns of objects.

Jobs are alike if they are equal in the attributes that an expression or a plugin reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Ad, Table
from negotiator.hooks.records import Mask
from negotiator.ledger import Rows

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


#: Turns of refining a group of jobs by what further expressions read.
_MOST_TURNS = 8
#: Groups of which one job is followed; each job of further ones is by itself: users may write any number of expressions.
_MOST_GROUPS = 256
#: Sets of expressions by which jobs are parted.
_MOST_PARTS = 16


@attrs.define(eq=False)
class AlikeJobs:
    """Groups of the jobs of one table, (R,)."""

    jobs: Table
    _equal: dict[tuple[str, ...], Numbers] = attrs.field(factory=dict, init=False)
    _parts: dict[tuple[str, ...], list[Rows]] = attrs.field(factory=dict, init=False)

    def equal(self, names: tuple[str, ...]) -> Numbers:
        """Return a number for each job: those equal in these attributes as written share it, (R,)."""
        if names not in self._equal:
            self._equal[names] = self.jobs.group(list(names))[0]
        return self._equal[names]

    def with_constants(self, names: tuple[str, ...]) -> Mask:
        """Return which jobs have no expression in these attributes, (R,)."""
        found = np.ones(len(self.jobs), np.bool_)
        for name in names:
            for part in self.jobs.parts(name):
                found[part.rows] = False
        return found

    def parts(self, names: tuple[str, ...]) -> list[Rows]:
        """Return the rows of the jobs that have the same expressions in these attributes, whatever their constants.

        Those without an expression come first. Very many different expressions are left out.
        """
        if names not in self._parts:
            codes = np.zeros(len(self.jobs), np.int64)
            for name in names:
                own = np.zeros(len(self.jobs), np.int64)
                for number, part in enumerate(self.jobs.parts(name), 1):
                    own[part.rows] = number if part.expr is not None else -1
                codes = np.where((codes < 0) | (own < 0), -1, combined(codes, own)[0])
            kinds = np.unique(codes[codes >= 0])[:_MOST_PARTS].tolist()
            self._parts[names] = [np.flatnonzero(codes == kind) for kind in kinds]
        return self._parts[names]

    def refined(
        self, rows: Rows, names: tuple[str, ...], reads: Callable[[Ad], frozenset[str] | None]
    ) -> tuple[Numbers, frozenset[str]]:
        """Return a number for each of some jobs, (K,): those alike in all that is read share it, -1 for one that is alike to none.

        Return also all attributes that are read.

        :param names: what is read of each job.
        :param reads: returns what is read of one job, with what its expressions refer to; None if it may be anything.
        """
        groups, found = np.full(len(rows), -1), set(names)
        looked_at, last, pending = 0, 0, [(np.arange(len(rows)), frozenset[str](), frozenset(names), 0)]
        while pending and len(rows):
            members, known, more, turn = pending.pop()
            if turn > _MOST_TURNS:
                continue
            if not more <= known:
                known |= more
                own = self.equal(tuple(sorted(known)))[rows[members]]
                distinct, numbers = np.unique(own, return_inverse=True)
                parts = members_of(numbers, len(distinct))
                pending += [(members[part], known, known, turn) for part in parts]
                continue
            looked_at += 1
            if looked_at > _MOST_GROUPS:
                break
            read = reads(self.jobs.ad(int(rows[members[0]])))
            if read is None:
                continue
            found |= read
            if not read <= known:
                pending.append((members, known, read, turn + 1))
                continue
            groups[members], last = last, last + 1
        return groups, frozenset(found)


def members_of(groups: Numbers, count: int) -> list[Rows]:
    """Return the rows of each of ``count`` groups, by its number."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.cumsum(np.bincount(groups, minlength=count))[:-1])
