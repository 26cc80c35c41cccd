"""Columns of texts as numbers, so that a text is processed once for all rows that have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Column, Kind
from negotiator.cycle.numbering import Numbers, combined, first_rows

#: The number of any value that is not a text.
NO_TEXT = -1

#: (N,) of str.
Strings: TypeAlias = NDArray[np.object_]


@attrs.frozen(eq=False)
class TextColumn:
    """The values of an expression as texts: (N,) numbers, equal for equal texts; -1 without a text."""

    codes: Numbers
    column: Column

    @classmethod
    def of(cls, column: Column) -> TextColumn:
        """Return the texts of a column."""
        size = len(column)
        if not column.has(Kind.STRING):
            return cls(np.full(size, NO_TEXT, np.int64), column)
        is_text = np.broadcast_to(column.where(Kind.STRING), (size,))
        codes = np.where(is_text, np.broadcast_to(column.data[Kind.STRING], (size,)), NO_TEXT)
        return cls(codes.astype(np.int64), column)

    def text(self, row: int) -> str:
        """Return the text of a row, empty if missing."""
        code = int(self.codes[row])
        return self.column.pool.strings[code] if code != NO_TEXT else ""

    def texts(self, rows: NDArray[np.intp]) -> list[str]:
        """Return the texts of some rows, empty where missing."""
        strings = self.column.pool.strings
        return [strings[code] if code != NO_TEXT else "" for code in self.codes[rows].tolist()]

    def mapped(self, name: str, function: Callable[[str], str]) -> TextColumn:
        """Return the texts that a function returns for them; it is called once for each text in all tables.

        ``name`` identifies the function in a cache, so its result must depend on the text alone.
        """
        there = self.codes != NO_TEXT
        codes = np.full(len(self.codes), NO_TEXT, np.int64)
        codes[there] = self.column.pool.mapped(name, function, self.codes[there])
        return TextColumn(codes, self.column)


def made_of(columns: Sequence[TextColumn], function: Callable[..., str]) -> Strings:
    """Apply a function to the texts of each row, (N,); it is called once for all rows with the same texts."""
    numbers, count = combined(*(column.codes for column in columns))
    first = first_rows(numbers, count).tolist()
    made = np.empty(count, np.object_)
    made[:] = [function(*(column.text(row) for column in columns)) for row in first]
    return made[numbers]
