"""Where the rows and columns of a table come from: ads of a pool, or records of a cycle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, Protocol, Self, TypeAlias, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Kind, Table
from negotiator.classad.syntax import fold, unparse_old
from negotiator.library.column_values import (
    Cell,
    CellType,
    ColumnValues,
    ad_column,
    text_column,
    typed_column,
)
from negotiator.pool.secrets import is_secret, redact

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
