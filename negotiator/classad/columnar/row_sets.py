"""Sets of rows: those that are evaluated in the same way, those that can pay, and those in which a condition is true.

One slot whose Start calls ``unparse`` must not make a pool of slots be evaluated row by row: the rows whose own expressions need
the scalar evaluator are set apart, and all others stay columns.

Equal expressions are evaluated once, and one row stands for all. An ad that has used up its steps must not do so: its values are
errors, and those of the other rows are not.

The rows in which a condition is true take a bit each: an eighth of the memory of a mask, and of the time to combine them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from negotiator.classad.columnar.footprints import CostBounds, Footprint, attributes_footprint
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from negotiator.classad.context import Allowance
    from negotiator.classad.syntax import AttributeMap
    from negotiator.classad.tables import AttributeTable, BoolArray, Column, IndexArray

_EASY: Final = CostBounds(depth=50, steps=10_000)

_DEEP: Final = CostBounds(depth=150, steps=400_000)
"""Bounds of rows that surely, and that perhaps, are evaluated by columns."""

_MAX_READS: Final = 64
"""Rows that read so many different sets of attributes are distinguished; all further ones are together."""

_FEW: Final = 8
"""So many rows are added one by one."""

_MANY: Final = 4096
"""So many bytes are counted word by word."""


@attrs.frozen(eq=False)
class RowClass:
    """Some rows of a table, ascending, as a table of their own; ``by_columns``: they may be evaluated by columns."""

    rows: IndexArray
    table: AttributeTable
    by_columns: bool


@attrs.frozen(eq=False)
class RowClasses:
    """The rows of a table by how hard their expressions are, and by the attributes that they read."""

    by_cost: tuple[RowClass, ...]
    by_reads: tuple[RowClass, ...]

    @classmethod
    def of(cls, table: AttributeTable, names: Iterable[str]) -> RowClasses:
        """Return the classes of rows for expressions that read these attributes of them, in lower case.

        The expressions in them are followed through the rows; what they read of the other ad counts as constants.
        """
        groups, reads = reads_of_rows(table, names)
        costs = np.array([_cost(each) for each in reads], np.int64)
        numbers: dict[frozenset[tuple[bool, str]], int] = {}
        labels = [min(numbers.setdefault(each.names, len(numbers)), _MAX_READS) for each in reads]
        return cls(
            _classes(table, costs[groups]),
            _classes(table, np.array(labels, np.int64)[groups], easy=_MAX_READS),
        )


def reads_of_rows(table: AttributeTable, names: Iterable[str]) -> tuple[IndexArray, list[Footprint]]:
    """Return groups of rows with equal expressions among the attributes that these lead to, and what each group reads.

    The groups, (N,), are numbered from 0; constants are all alike.
    """
    names = frozenset(names)
    together = attributes_footprint(names, table)
    written = [name for name in together.row_names() if table.has_expressions(name)]
    groups, first = table.group_expressions(written)
    if len(first) < 2:
        return groups, [together]
    order = np.argsort(groups, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(groups))[:-1])
    return groups, [attributes_footprint(names, table.take(rows)) for rows in members]


def is_easy(reads: Footprint) -> bool:
    """True if an expression with this footprint surely is evaluated by columns."""
    return _cost(reads) == 0


def _cost(reads: Footprint) -> int:
    if reads.opaque or reads.moves_scope or reads.bounds is None:
        return 2
    for cost, limit in enumerate((_EASY, _DEEP)):
        if reads.bounds.depth <= limit.depth and reads.bounds.steps <= limit.steps:
            return cost
    return 2


def _classes(table: AttributeTable, codes: IndexArray, easy: int = 1) -> tuple[RowClass, ...]:
    """Return the rows of each code, those above ``easy`` as rows that are not evaluated by columns."""
    found: Sequence[int] = np.unique(codes).tolist()
    if len(found) == 1:
        return (RowClass(np.arange(len(table)), table, found[0] <= easy),)
    rows = [np.flatnonzero(codes == code) for code in found]
    return tuple(RowClass(own, table.take(own), code <= easy) for code, own in zip(found, rows, strict=True))


class PayingRows:
    """The rows of a table, without those found to have no steps left."""

    __slots__ = ("_exhausted", "_table")

    def __init__(self, table: AttributeTable) -> None:
        self._table = table
        self._exhausted: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None

    def first(self, allowance: Callable[[AttributeMap], Allowance], rows: IndexArray | None = None) -> int:
        """Return the first of some rows whose ad has steps left; the first one if none has.

        :param rows: (R,), at least one; None for all rows of the table.
        """
        start = 0 if rows is None else int(rows[0])
        if self._exhausted is None:
            if not allowance(self._table.ad(start)).exhausted:
                return start
            self._exhausted = np.zeros(len(self._table), np.bool_)
        known = self._exhausted if rows is None else self._exhausted[rows]
        while not known[place := int(known.argmin())]:
            row = place if rows is None else int(rows[place])
            if not allowance(self._table.ad(row)).exhausted:
                return row
            known[place] = self._exhausted[row] = True
        return start


@attrs.define(eq=False)
class TrueRows:
    """The rows in which a condition is true, a bit for each of ``size``, and their number.

    ``bits`` is None if the condition is true in all rows, or in none. ``reserved`` is the memory that ``extended`` may take.
    """

    size: int
    count: int
    bits: NDArray[np.uint8] | None
    reserved: int = 0
    _extended: TrueRows | None = attrs.field(default=None, init=False, repr=False)

    @classmethod
    def from_column(cls, column: Column) -> TrueRows:
        """Return the rows in which a column is true as a condition (SEMANTICS section 5: numbers other than 0 are)."""
        if column.kind is not Kind.BOOLEAN:
            return cls.from_mask(column.is_true())
        values = column.data[Kind.BOOLEAN]
        return cls.from_mask(values if values.ndim else np.broadcast_to(values, (len(column),)))

    @classmethod
    def from_mask(cls, rows: BoolArray) -> TrueRows:
        """Return the rows of a mask, (N,)."""
        if rows.strides == (0,) and len(rows):  # one value for all rows
            return cls(len(rows), len(rows) * int(rows[0]), None)
        count = int(np.count_nonzero(rows))
        return cls(len(rows), count, np.packbits(rows) if 0 < count < len(rows) else None)

    def at(self, rows: NDArray[np.intp]) -> BoolArray:
        """Return in which of some rows the condition is true, (K,)."""
        if self.bits is None:
            return np.full(len(rows), self.count > 0)
        found: BoolArray = (self.bits[rows >> 3] << (rows & 7).astype(np.uint8) & 0x80) != 0
        return found

    def without(self, others: TrueRows) -> TrueRows:
        """Return the rows of this one that are not among others of the same table."""
        if others.bits is None:
            return TrueRows(self.size, 0, None) if others.count else self
        own = np.packbits(self.rows) if self.bits is None else self.bits
        return self.of_bits(self.size, own & ~others.bits)

    def both(self, other: TrueRows) -> TrueRows:
        """Return the rows in which this condition and another one over the same rows are true."""
        if not self.count or other.bits is None:
            return self if not self.count or other.count else other
        return other if self.bits is None else self.of_bits(self.size, self.bits & other.bits)

    @classmethod
    def of_bits(cls, size: int, bits: NDArray[np.uint8]) -> TrueRows:
        """Return the rows of a mask of ``size`` rows, a bit for each, those after the last row 0."""
        count = number_of_bits(bits)
        return cls(size, count, bits if 0 < count < size else None)

    @property
    def rows(self) -> BoolArray:
        """The rows as a mask, (N,), read-only; it is made anew with each call."""
        if self.bits is None:
            return np.broadcast_to(np.bool_(self.count > 0), (self.size,))
        rows = np.unpackbits(self.bits, count=self.size).view(np.bool_)
        rows.setflags(write=False)
        return rows

    def extended(self, rows: NDArray[np.intp], size: int) -> TrueRows:
        """Return the rows that a condition of some rows leaves of a table of ``size`` rows: where it is true, and all others.

        :param rows: the rows that it applies to, one for each of these, always the same ones.
        """
        if self._extended is None:
            left = np.ones(size, np.bool_)
            left[rows] = self.rows
            self._extended = TrueRows.from_mask(left)
        return self._extended

    @property
    def has_false(self) -> bool:
        """True if the condition is not true in some row."""
        return self.count < self.size

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return self.reserved + (1 if self.bits is None else self.bits.nbytes)


def number_of_bits(bits: NDArray[np.uint8]) -> int:
    """Return how many bits are set; of many word by word, which takes an eighth of the time of byte by byte."""
    if len(bits) < _MANY:
        return int(np.add.reduce(np.bitwise_count(bits), dtype=np.int64))
    whole = len(bits) // 8 * 8
    words = np.bitwise_count(bits[:whole].view(np.uint64))
    return int(words.sum(dtype=np.int64)) + int(np.bitwise_count(bits[whole:]).sum())


@attrs.define(eq=False)
class PackedMask:
    """Rows of a table of ``size`` rows that are added over time, a bit for each, and their number."""

    size: int
    count: int = 0
    bits: NDArray[np.uint8] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.bits = np.zeros((self.size + 7) // 8, np.uint8)

    def add(self, rows: NDArray[np.intp]) -> None:
        """Add rows, each given once; those that are there already stay."""
        if len(rows) < _FEW:
            for row in rows.tolist():
                mask = 0x80 >> (row & 7)
                if not self.bits[row >> 3] & mask:
                    self.bits[row >> 3] |= mask
                    self.count += 1
            return
        new = rows[~TrueRows(self.size, self.count, self.bits).at(rows)]
        np.bitwise_or.at(self.bits, new >> 3, np.uint8(0x80) >> (new & 7).astype(np.uint8))
        self.count += len(new)

    @property
    def rows(self) -> TrueRows:
        """The rows that were added so far; valid until more are added."""
        return TrueRows(self.size, self.count, self.bits if 0 < self.count < self.size else None)
