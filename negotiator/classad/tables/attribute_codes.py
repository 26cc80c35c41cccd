"""An attribute of a table, dictionary-encoded: for each ad the code of its expression, in little memory.

Most attributes have few distinct values in a pool, so this is small, and grouping rows is cheap. Codes respect types:
``1``, ``1.0``, ``true``, ``"a"`` and ``"A"`` are different expressions. Most attributes are the same in all ads, many are
in a few ads only, and the rest have a value for each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.tables.column import Column, IndexArray, StringPool, make
from negotiator.classad.tables.distinct_values import ABSENT, DistinctValues

if TYPE_CHECKING:
    from collections.abc import Iterable

    from negotiator.classad.syntax import Expr

Codes32: TypeAlias = NDArray[np.int32]

_SPARSE: Final = 8
"""An attribute that fewer than one in so many rows have is stored by the rows that have it."""

_NONE: Final = np.zeros(0, np.int32)


class CodeColumn:
    """The codes of one attribute, ``ABSENT`` for rows without it.

    They are in one of three forms: *run*, one code for consecutive rows and ``ABSENT`` for all others; *sparse*, the rows
    that have the attribute, ascending, and their codes; *dense*, a code for each row.
    """

    __slots__ = ("_dense", "_run", "_run_code", "_sparse_codes", "_sparse_rows")

    def __init__(self) -> None:
        self._run = range(0)
        self._run_code = ABSENT
        self._sparse_rows: NDArray[np.int32] | None = None
        self._sparse_codes: Codes32 = _NONE
        self._dense: Codes32 | None = None

    def put(self, rows: IndexArray, codes: Codes32, size: int) -> None:
        """Set the codes of rows, each given once, of a table of ``size`` rows."""
        if not len(rows) or self._extend_run(rows, codes):
            return
        self._choose_form(len(rows), size)
        if self._dense is not None:
            self._dense[rows] = codes
        else:
            self._insert(rows, codes)

    def put_run(self, run: range, code: int, size: int) -> None:
        """Set one code, other than ``ABSENT``, for consecutive rows of a table of ``size`` rows."""
        if not run:
            return
        is_run = self._dense is None and self._sparse_rows is None
        if is_run and (not self._run or (self._run_code == code and self._run.stop == run.start)):
            self._run, self._run_code = range(self._run.start if self._run else run.start, run.stop), code
        else:
            self.put(np.arange(run.start, run.stop), np.full(len(run), code, np.int32), size)

    def drop(self, rows: IndexArray, size: int) -> None:
        """Remove the attribute from rows."""
        self.put(rows, np.full(len(rows), ABSENT, np.int32), size)

    def read(self, size: int) -> Codes32:
        """Return the codes of all rows: shape ``(size,)``, or ``()`` if all are the same."""
        if self._dense is not None and len(self._dense) >= size:
            return self._dense[:size]
        if self._sparse_rows is None and self._run == range(size):
            return np.asarray(self._run_code, np.int32)
        codes = np.full(size, ABSENT, np.int32)
        if self._dense is not None:
            codes[: len(self._dense)] = self._dense
        elif self._sparse_rows is not None:
            codes[self._sparse_rows] = self._sparse_codes
        else:
            codes[self._run.start : self._run.stop] = self._run_code
        return codes

    def code(self, row: int) -> int:
        """Return the code of one row."""
        if self._dense is not None:
            return int(self._dense[row]) if row < len(self._dense) else ABSENT
        if self._sparse_rows is None:
            return self._run_code if row in self._run else ABSENT
        index = int(np.searchsorted(self._sparse_rows, row))
        is_present = index < len(self._sparse_rows) and self._sparse_rows[index] == row
        return int(self._sparse_codes[index]) if is_present else ABSENT

    def _choose_form(self, added: int, size: int) -> None:
        """Change to the form for a table of ``size`` rows, ``added`` of which are about to get the attribute."""
        if self._dense is not None and len(self._dense) >= size:
            return
        if self._count() + added > size // _SPARSE:
            capacity = (
                0 if self._dense is None else len(self._dense) * 5 // 4
            )  # rows are appended again and again
            codes = np.full(max(size, capacity), ABSENT, np.int32)
            codes[:size] = self.read(size)
            self._dense, self._sparse_rows, self._sparse_codes, self._run = codes, None, _NONE, range(0)
        elif self._dense is not None:
            self._sparse_rows = np.flatnonzero(self._dense != ABSENT).astype(np.int32)
            self._sparse_codes, self._dense = self._dense[self._sparse_rows], None

    def _count(self) -> int:
        """Return the number of rows that have the attribute."""
        if self._dense is not None:
            return int(np.count_nonzero(self._dense != ABSENT))
        return len(self._run) if self._sparse_rows is None else len(self._sparse_rows)

    def _extend_run(self, rows: IndexArray, codes: Codes32) -> bool:
        """Set the codes by extending the run, if possible; return whether it was."""
        if self._dense is not None or self._sparse_rows is not None or bool((codes != codes[0]).any()):
            return False
        inside = (rows >= self._run.start) & (rows < self._run.stop)
        if codes[0] == ABSENT:
            return not inside.any()
        if self._run and codes[0] != self._run_code:
            return False
        if self._run and inside.all():
            return True
        start = self._run.start if self._run else int(rows[0])
        if bool((np.diff(rows) != 1).any()) or (self._run and rows[0] != self._run.stop):
            return False
        self._run_code, self._run = int(codes[0]), range(start, int(rows[-1]) + 1)
        return True

    def _insert(self, rows: IndexArray, codes: Codes32) -> None:
        if self._sparse_rows is None:
            self._sparse_rows = np.array(self._run, np.int32)
            self._sparse_codes = np.full(len(self._run), self._run_code, np.int32)
        all_rows = np.concatenate((self._sparse_rows, rows.astype(np.int32)))
        all_codes = np.concatenate((self._sparse_codes, codes))
        if not bool(
            (all_rows[1:] > all_rows[:-1]).all()
        ):  # not an append: sort, and let the last code of a row win
            order = np.argsort(all_rows, kind="stable")
            all_rows, all_codes = all_rows[order], all_codes[order]
            latest = np.append(all_rows[1:] != all_rows[:-1], True)
            all_rows, all_codes = all_rows[latest], all_codes[latest]
        present = all_codes != ABSENT
        self._sparse_rows, self._sparse_codes = all_rows[present], all_codes[present]


@attrs.frozen(eq=False)
class EncodedAttribute:
    """One attribute of some ads: ``codes`` are the entry of each, (N,), or () if all have the same."""

    codes: NDArray[np.int32]
    entries: DistinctValues
    pool: StringPool

    def take(self, rows: NDArray[Any] | None) -> EncodedAttribute:
        """Return the attribute of these rows, of all rows if None."""
        if rows is None or self.codes.ndim == 0:
            return self
        return EncodedAttribute(self.codes[rows], self.entries, self.pool)

    def code(self, row: int) -> int:
        """Return the entry of an ad."""
        return int(self.codes[row] if self.codes.ndim else self.codes)

    def column(self, size: int) -> Column:
        """Return the attribute as a column of ``size`` rows, with only the kinds that occur in it."""
        column = self.entries.column(self.pool)
        if self.codes.ndim == 0:
            return _spread(column.take(self.codes.reshape(1)), size)
        return column.take(self.codes).narrowed()

    def canonical_codes(self) -> NDArray[np.int64]:
        """Return for each row a code below ``len(entries)``, the same for all rows with the same expression."""
        return self.entries.canonical_codes(self.pool)[self.codes]


def encode(exprs: Iterable[Expr | None], pool: StringPool) -> EncodedAttribute:
    """Return the encoded attribute with these expressions, None for ads without it."""
    rows = list(exprs)
    entries = DistinctValues()
    # Readers share the trees of equal lines, so each object is added once.
    distinct = dict(zip(map(id, rows), rows, strict=True))
    codes = {identity: ABSENT if expr is None else entries.add(expr) for identity, expr in distinct.items()}
    if len(codes) == 1:
        return EncodedAttribute(np.asarray(next(iter(codes.values())), np.int32), entries, pool)
    return EncodedAttribute(
        np.fromiter(map(codes.__getitem__, map(id, rows)), np.int32, len(rows)), entries, pool
    )


def _spread(column: Column, size: int) -> Column:
    """Return a column of ``size`` rows, all equal to the only row of this one."""
    column = column.narrowed()
    data = {kind: np.asarray(values[0] if values.ndim else values) for kind, values in column.data.items()}
    return make(size, column.pool, column.kinds, column.present, data)
