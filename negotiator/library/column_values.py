"""The cells of one column as a NumPy array of one type, with a mask of those that have a value."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Column, Kind, unparse_value
from negotiator.pool.secrets import redact

#: A cell; None if it has no value.
Cell: TypeAlias = bool | int | float | str | None


class CellType(enum.Enum):
    """The type of all cells of a column that have a value."""

    BOOLEAN = "boolean"
    INTEGER = "integer"  # 64 bits
    REAL = "real"  # binary64
    TEXT = "text"


_DTYPES: Final = {CellType.BOOLEAN: np.bool_, CellType.INTEGER: np.int64, CellType.REAL: np.float64}
_WITH_VALUES: Final = (Kind.BOOLEAN, Kind.INTEGER, Kind.REAL, Kind.STRING, Kind.OTHER)


@attrs.frozen(eq=False)
class ColumnValues:
    """The cells of a column.

    ``values`` is (N,) of bool, int64 or float64; of a text the place in ``strings``, int64. ``valid`` (N,) is true for cells
    that have a value; the others are 0 in ``values``.
    """

    type: CellType
    values: NDArray[Any]
    valid: NDArray[np.bool_]
    strings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def cell(self, row: int) -> Cell:
        """Return the value of a row."""
        if not self.valid[row]:
            return None
        found: Cell = self.values[row].item()
        return self.strings[int(self.values[row])] if self.type is CellType.TEXT else found

    def cells(self) -> list[Cell]:
        """Return the values of all rows."""
        found, valid = self.values.tolist(), self.valid.tolist()
        if self.type is CellType.TEXT:
            strings = self.strings
            return [
                strings[code] if has_value else None for code, has_value in zip(found, valid, strict=True)
            ]
        return [cell if has_value else None for cell, has_value in zip(found, valid, strict=True)]

    def take(self, rows: NDArray[np.intp]) -> ColumnValues:
        """Return the column of these rows, in their order."""
        return ColumnValues(self.type, self.values[rows], self.valid[rows], self.strings)


def text_column(texts: Iterable[str | None]) -> ColumnValues:
    """Return a column of texts; bytes that are not UTF-8 become U+FFFD."""
    codes: dict[str, int] = {}
    found = [-1 if text is None else codes.setdefault(text, len(codes)) for text in texts]
    values = np.array(found, np.int64)
    return ColumnValues(CellType.TEXT, np.maximum(values, 0), values >= 0, tuple(map(_utf8, codes)))


def typed_column(cell_type: CellType, cells: Sequence[Cell]) -> ColumnValues:
    """Return a column of cells of one type."""
    if cell_type is CellType.TEXT:
        return text_column(None if cell is None else str(cell) for cell in cells)
    valid = np.fromiter((cell is not None for cell in cells), np.bool_, len(cells))
    return ColumnValues(cell_type, np.array([cell or 0 for cell in cells], _DTYPES[cell_type]), valid)


def ad_column(column: Column) -> ColumnValues:
    """Return the values of an attribute in one type.

    Integers and reals together are reals. Values of other kinds together, lists, ads and times are text as the language
    prints it. Absent, undefined, error and what was not evaluated have no value.
    """
    found = column.narrowed()
    kinds = {kind for kind in _WITH_VALUES if found.has(kind) and len(found)}
    if kinds == {Kind.BOOLEAN}:
        return _numbers(CellType.BOOLEAN, found, found.data[Kind.BOOLEAN])
    if kinds == {Kind.INTEGER}:
        return _numbers(CellType.INTEGER, found, found.data[Kind.INTEGER])
    if kinds and kinds <= {Kind.INTEGER, Kind.REAL}:
        return _numbers(CellType.REAL, found, found.as_float())
    if kinds == {Kind.STRING}:
        return _strings(found)
    valid = _valid(found).tolist()
    return text_column(_text(found, row) if has_value else None for row, has_value in enumerate(valid))


def _valid(column: Column) -> NDArray[np.bool_]:
    kinds = np.broadcast_to(column.kinds, (len(column),))
    return np.isin(kinds, np.array(_WITH_VALUES, np.uint8))


def _numbers(cell_type: CellType, column: Column, data: NDArray[Any]) -> ColumnValues:
    valid = _valid(column)
    dtype = _DTYPES[cell_type]
    # The data of rows of other kinds are arbitrary.
    return ColumnValues(cell_type, np.where(valid, data, dtype(0)).astype(dtype), valid)


def _strings(column: Column) -> ColumnValues:
    valid = _valid(column)
    codes = np.broadcast_to(column.data[Kind.STRING], (len(column),))
    used, places = np.unique(codes[valid], return_inverse=True)
    values = np.zeros(len(column), np.int64)
    values[valid] = places
    strings = column.pool.strings
    return ColumnValues(CellType.TEXT, values, valid, tuple(_utf8(strings[code]) for code in used.tolist()))


def _text(column: Column, row: int) -> str:
    value = column.value(row)
    return value if isinstance(value, str) else redact(unparse_value(value))


def _utf8(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
