"""Tables of the Python interface: rows that convert to data frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Generic, TypeVar, overload

import attrs
import numpy as np

from negotiator.app.phrases import number
from negotiator.app.why.text_tables import WhyTable, WhyText
from negotiator.classad.syntax import fold
from negotiator.errors import NotFoundError
from negotiator.library.printed import Printed
from negotiator.library.table_rows import Cell, CellType, TableRows
from negotiator.records.text import suggest

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

RowT_co = TypeVar("RowT_co", covariant=True)

_MOST_ROWS: Final = 10  # that are printed
_MOST_COLUMNS: Final = 8
_LONGEST_CELL: Final = 60


@attrs.frozen(eq=False, repr=False)
class Table(Printed, Generic[RowT_co]):
    """Rows with named columns, read like a list; it prints its first rows, and converts to pandas, polars and Arrow.

    A row of ``pool.slots`` and ``pool.jobs`` is a dictionary of the attributes that have a value; a row of ``result.matches``
    and ``result.denials`` is a record. All cells of a column are bool, int, float or str, or None without a value.

    >>> import negotiator as n
    >>> jobs = n.read_pool("examples/first-pool").jobs
    >>> jobs[3]["Owner"], len(jobs)
    ('tester', 19)
    >>> jobs.select("ClusterId", "ProcId", "JobStatus")[:2]
    2 jobs, 3 columns
    <BLANKLINE>
      ClusterId  ProcId  JobStatus
              8       0          2
              8       1          2
    """

    # No collections.abc.Sequence: polars and pandas would read a sequence row by row, and guess the types of its columns.
    _rows: TableRows[RowT_co]
    _noun: str = "row"
    _shown: tuple[str, ...] = ()  # the columns that are printed first

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return self._rows.names

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> RowT_co: ...
    @overload
    def __getitem__(self, place: slice) -> Table[RowT_co]: ...
    def __getitem__(self, place: int | slice) -> RowT_co | Table[RowT_co]:
        if isinstance(place, slice):
            return attrs.evolve(self, rows=self._rows.take(np.arange(len(self))[place]))
        return self._rows.row(range(len(self))[place])

    def __iter__(self) -> Iterator[RowT_co]:
        return iter(self._rows)

    def column(self, name: str) -> list[Cell]:
        """Return the cells of a column, None for those without a value.

        :param name: in any case of its letters.
        :raises NotFoundError: there is no such column.
        """
        return self._rows.column(self._known(name)).cells()

    def select(self, *names: str) -> Table[RowT_co]:
        """Return the same rows with these columns only, in this order; a row itself stays as it is.

        Columns are found in any case of their letters, as ClassAds find attributes, and get the names as they are given here.

        :raises NotFoundError: there is no such column.
        """
        return attrs.evolve(
            self, rows=self._rows.select({name: self._known(name) for name in names}), shown=names
        )

    def as_written(self) -> Table[RowT_co]:
        """Return the same ads with all cells as text, expressions as ``condor_q -long`` prints them.

        Records of a cycle have no expressions: their table stays as it is.
        """
        return attrs.evolve(self, rows=self._rows.written())

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas DataFrame, with the nullable types ``boolean``, ``Int64``, ``Float64`` and ``string``.

        :raises MissingLibraryError: pandas is not installed.
        """
        from negotiator.library.data_frames import to_pandas

        return to_pandas(self._rows)

    def to_polars(self) -> pl.DataFrame:
        """Return a polars DataFrame, with the types Boolean, Int64, Float64 and String.

        :raises MissingLibraryError: polars is not installed.
        """
        from negotiator.library.data_frames import to_polars

        return to_polars(self._rows)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a stream of the Arrow C interface (PyCapsule), for pyarrow, polars, DuckDB and others.

        :param requested_schema: is ignored, as the interface allows: the consumer casts.
        :raises MissingLibraryError: ``negotiator[arrow]`` is not installed.
        """
        from negotiator.library.arrow import arrow_stream

        return arrow_stream(self._rows)

    def _known(self, name: str) -> str:
        if name in self.columns:
            return name
        folded = fold(name)
        for each in self.columns:
            if fold(each) == folded:
                return each
        hint = suggest(name, self.columns, listed=False)
        raise NotFoundError(
            f"no column {name!r} in a table of {number(len(self.columns), 'column')}"
            + (f": {hint}" if hint else ": Table.columns has their names")
        )

    def _text(self) -> WhyText:
        names = tuple(name for name in self._shown if name in self.columns) or self.columns
        first = self._rows.take(np.arange(min(len(self), _MOST_ROWS)))
        columns = {name: first.column(name) for name in names[:_MOST_COLUMNS]}
        rows = zip(*([*map(_shown_cell, each.cells())] for each in columns.values()), strict=True)
        numbers = [place for place, each in enumerate(columns.values()) if each.type is not CellType.TEXT]
        heading = f"{number(len(self), self._noun)}, {number(len(self.columns), 'column')}"
        left_out = [
            *([f"the first {len(first)} rows"] if len(first) < len(self) else ()),
            *([number(len(columns), "column")] if len(columns) < len(self.columns) else ()),
        ]
        heading += f"; here {' and '.join(left_out)}" if left_out else ""
        return WhyText.of([heading], [WhyTable("", (*columns,), (*rows,), (*numbers,), self._noun)])


def _shown_cell(cell: Cell) -> str:
    if cell is None:
        return ""
    text = f"{cell:g}" if isinstance(cell, float) else str(cell)
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"
