"""Where the rows and columns of a table come from: ads of a pool, or records of a cycle.

The cells of a column are a NumPy array of one type, with a mask of those that have a value.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, Protocol, Self, TypeAlias, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Column, Kind, Table, unparse_value
from negotiator.classad.syntax import fold, unparse_old
from negotiator.pool.secrets import is_secret, redact

#: A cell; None if it has no value.
Cell: TypeAlias = bool | int | float | str | None
_WITH_VALUES: Final = (Kind.BOOLEAN, Kind.INTEGER, Kind.REAL, Kind.STRING, Kind.OTHER)


class CellType(enum.Enum):
    """The type of all cells of a column that have a value."""

    BOOLEAN = "boolean"
    INTEGER = "integer"  # 64 bits
    REAL = "real"  # binary64
    TEXT = "text"


_DTYPES: Final = {CellType.BOOLEAN: np.bool_, CellType.INTEGER: np.int64, CellType.REAL: np.float64}


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


RowT_co = TypeVar("RowT_co", covariant=True)
RecordT = TypeVar("RecordT")

#: The columns of records: by name the type, and what reads the cell of a record.
RecordColumns: TypeAlias = Mapping[str, tuple[CellType, Callable[[RecordT], Cell]]]


class TableRows(Protocol[RowT_co]):
    """The rows of a table, and its columns by name."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""

    def __len__(self) -> int: ...

    def row(self, place: int) -> RowT_co:
        """Return a row."""

    def __iter__(self) -> Iterator[RowT_co]:
        """Yield all rows."""

    def column(self, name: str) -> ColumnValues:
        """Return the cells of a column."""

    def take(self, places: NDArray[np.intp]) -> Self:
        """Return these rows, in their order."""

    def select(self, names: Mapping[str, str]) -> Self:
        """Return the same rows with these columns only, in this order; ``names`` has their names now by those that they get."""

    def written(self) -> Self:
        """Return the same rows with expressions as text instead of their values."""


@attrs.frozen(eq=False, slots=False)
class AdRows:
    """Ads as rows; a column has the values of an attribute, each evaluated in its ad alone, or the expressions as text.

    Attributes that are secrets are left out.
    """

    ads: Table
    as_text: bool = False
    names: tuple[str, ...] = attrs.field(kw_only=True)
    _columns: dict[str, ColumnValues] = attrs.field(factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, ads: Table) -> AdRows:
        """Return the rows of a table of ads."""
        return cls(ads, names=tuple(_names(ads)))

    def __len__(self) -> int:
        return len(self.ads)

    def row(self, place: int) -> dict[str, Cell]:
        """Return the attributes of an ad that have a value, by name."""
        ad = self.ads.ad(place)
        cells = {name: self.column(name).cell(place) for name in self.names if name in ad}
        return {name: cell for name, cell in cells.items() if cell is not None}

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        columns = {name: self.column(name).cells() for name in self.names}
        for place in range(len(self)):
            yield {name: cell for name, cells in columns.items() if (cell := cells[place]) is not None}

    def column(self, name: str) -> ColumnValues:
        """Return the cells of a column."""
        if name not in self._columns:
            self._columns[name] = self._written(name) if self.as_text else ad_column(self.ads.alone(name))
        return self._columns[name]

    def take(self, places: NDArray[np.intp]) -> AdRows:
        """Return these rows, in their order."""
        return attrs.evolve(self, ads=self.ads.take(places))

    def select(self, names: Mapping[str, str]) -> AdRows:
        """Return the same rows with these columns only, in this order: ads have their attributes by name in any case."""
        return attrs.evolve(self, names=tuple(names))

    def written(self) -> AdRows:
        """Return the same rows with expressions as condor_q -long prints them."""
        return attrs.evolve(self, as_text=True)

    def _written(self, name: str) -> ColumnValues:
        groups, first = self.ads.group([name])
        texts = [self._expression(name, row) for row in first.tolist()]
        return text_column(texts).take(groups)

    def _expression(self, name: str, row: int) -> str | None:
        found = self.ads.ad(row).get(name)
        return None if found is None else redact(unparse_old(found))


def _names(ads: Table) -> Iterator[str]:
    """Yield the names of the attributes, as spelled first, in the order of the ads."""
    left = {name for name in ads.names() if not is_secret(name)} if len(ads) else set()
    row: int = 0
    while left:
        for name in ads.ad(row):
            if fold(name) in left:
                left.discard(fold(name))
                yield name
        if left:
            row = _first_row(ads, left)


def _first_row(ads: Table, names: set[str]) -> int:
    """Return the first row that has one of some attributes; drop those that no row has."""
    for name in sorted(names):
        present = np.flatnonzero(~np.broadcast_to(ads.column(name).where(Kind.ABSENT), (len(ads),)))
        if len(present):
            return int(present[0])
        names.discard(name)
    return 0


@attrs.frozen(eq=False)
class RecordRows(Generic[RecordT]):
    """Records as rows, with some of their attributes as columns."""

    records: Sequence[RecordT]
    columns: RecordColumns[RecordT]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self.columns)

    def __len__(self) -> int:
        return len(self.records)

    def row(self, place: int) -> RecordT:
        """Return a record."""
        return self.records[place]

    def __iter__(self) -> Iterator[RecordT]:
        return iter(self.records)

    def column(self, name: str) -> ColumnValues:
        """Return the cells of a column."""
        cell_type, read = self.columns[name]
        return typed_column(cell_type, [read(each) for each in self.records])

    def take(self, places: NDArray[np.intp]) -> RecordRows[RecordT]:
        """Return these records, in their order."""
        return RecordRows([self.records[place] for place in places.tolist()], self.columns)

    def select(self, names: Mapping[str, str]) -> RecordRows[RecordT]:
        """Return the same rows with these columns only, in this order."""
        return RecordRows(self.records, {name: self.columns[own] for name, own in names.items()})

    def written(self) -> RecordRows[RecordT]:
        """Return the same records: they have no expressions."""
        return self
