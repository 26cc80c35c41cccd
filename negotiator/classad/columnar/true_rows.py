"""The rows of a table in which a condition is true, a bit for each: an eighth of the memory of a mask, and of the time to combine them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from negotiator.classad.tables import BoolArray, Column


_FEW: Final = 8
"""So many rows are added one by one."""

_MANY: Final = 4096
"""So many bytes are counted word by word."""


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
