"""Data frames of pandas and polars from the columns of a table. Neither is required."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from negotiator.errors import CommandError
from negotiator.library.table_rows import CellType, ColumnValues, TableRows

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


class MissingLibraryError(CommandError, ImportError):
    """A conversion needs a library that is not installed; the message has the command that installs it.

    >>> import negotiator as n
    >>> issubclass(n.MissingLibraryError, ImportError)
    True
    """


def library(name: str, needed_for: str, install: str) -> Any:
    """Return a library.

    :param install: the name that pip installs it by.
    :raises MissingLibraryError: it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingLibraryError(f"{needed_for} needs {name} ({error}): pip install '{install}'") from None


def to_pandas(rows: TableRows[object]) -> pd.DataFrame:
    """Return a pandas DataFrame; see ``Table.to_pandas``."""
    pandas = library("pandas", "to_pandas()", "pandas")
    kinds = {
        CellType.BOOLEAN: pandas.arrays.BooleanArray,
        CellType.INTEGER: pandas.arrays.IntegerArray,
        CellType.REAL: pandas.arrays.FloatingArray,
    }

    def array(values: ColumnValues) -> object:
        if values.type is CellType.TEXT:
            return pandas.array(np.array(values.cells(), np.object_), dtype="string")
        return kinds[values.type](values.values, ~values.valid)

    frame: pd.DataFrame = pandas.DataFrame(
        {name: array(rows.column(name)) for name in rows.names}, index=pandas.RangeIndex(len(rows))
    )
    return frame


def to_polars(rows: TableRows[object]) -> pl.DataFrame:
    """Return a polars DataFrame; see ``Table.to_polars``."""
    polars = library("polars", "to_polars()", "polars")
    types = {
        CellType.BOOLEAN: polars.Boolean,
        CellType.INTEGER: polars.Int64,
        CellType.REAL: polars.Float64,
        CellType.TEXT: polars.String,
    }

    def series(name: str) -> object:
        values = rows.column(name)
        return polars.Series(name, values.cells(), dtype=types[values.type])

    frame: pl.DataFrame = polars.DataFrame([series(name) for name in rows.names])
    return frame
