"""Lays out tables on terminals: cells are wrapped between words, and names are never broken.

Texts have as many columns as a terminal gives them: rich is asked about those that are not ASCII, and imported for them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final, TextIO

import attrs

_USUAL: Final = (80, 24)
GAP = "  "
#: Before the further lines of a row whose columns do not fit on one line.
INDENT = "    "
#: Least width of a column of prose with longer cells.
NARROW = 24


def terminal_size(stream: TextIO | None) -> tuple[int, int]:
    """Return the columns and lines of the terminal that a stream is; ``COLUMNS`` and ``LINES`` of the environment take precedence.

    ``shutil.get_terminal_size`` asks file descriptor 1, which is a copy of standard error while plugins run.
    """
    try:
        found = tuple(os.get_terminal_size(stream.fileno())) if stream is not None else _USUAL
    except (OSError, ValueError, AttributeError):
        found = _USUAL
    given = (os.environ.get(name, "") for name in ("COLUMNS", "LINES"))
    columns, lines = (
        int(text) if text.isdecimal() and int(text) else size or usual
        for text, size, usual in zip(given, found, _USUAL, strict=True)
    )
    return columns, lines


def cell_len(text: str) -> int:
    """Return the number of columns of a printable text."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len as measured  # noqa: PLC0415 - takes long

    return measured(text)


def set_cell_size(text: str, total: int) -> str:
    """Return a text cut or filled to a number of columns."""
    if text.isascii():
        return text[: max(total, 0)].ljust(total)
    from rich.cells import set_cell_size as resized  # noqa: PLC0415 - takes long

    return resized(text, total)


def chop_cells(text: str, width: int) -> list[str]:
    """Return the pieces of a text, each of at most so many columns."""
    from rich.cells import chop_cells as chopped  # noqa: PLC0415 - takes long

    return chopped(text, width)


@attrs.frozen
class TableColumn:
    """A column: its cells, whether they are aligned right, and whether long words may be broken (sentences, expressions)."""

    header: str
    cells: Sequence[str]
    right: bool = False
    prose: bool = False

    @property
    def natural(self) -> int:
        """The width in which no cell is wrapped."""
        return max(map(cell_len, (self.header, *self.cells)))

    @property
    def least(self) -> int:
        """The width below which a name would be broken."""
        if self.prose:
            return min(self.natural, NARROW)
        return max(cell_len(self.header), *(_longest(cell) for cell in self.cells), 0)

    def justified(self, text: str, width: int) -> str:
        """Return a line of a cell in the width of the column."""
        blank = " " * (width - cell_len(text))
        return f"{blank}{text}" if self.right else f"{text}{blank}"


def widths(columns: Sequence[TableColumn], room: int) -> list[int]:
    """Return the widths of columns in ``room`` characters, gaps included; more if a name would have to be broken."""
    room -= len(GAP) * (len(columns) - 1)
    least = [column.least for column in columns]
    chosen = [min(column.natural, max(room, least[place])) for place, column in enumerate(columns)]
    while sum(chosen) > max(room, sum(least)):
        shrinking = (place for place, width in enumerate(chosen) if width > least[place])
        chosen[max(shrinking, key=chosen.__getitem__)] -= 1
    return chosen


def lines_of_columns(columns: Sequence[TableColumn], room: int) -> list[list[TableColumn]]:
    """Return the columns of each line of a row: the table is wrapped between columns where no name may be broken."""
    lines: list[list[TableColumn]] = []
    left = 0
    for column in columns:
        needed = column.least + len(GAP)
        if not lines or needed > left:
            lines.append([])
            left = room + len(GAP) - (len(INDENT) if len(lines) > 1 else 0)
        lines[-1].append(column)
        left -= needed
    return lines


def wrapped(text: str, width: int, *, prose: bool = False) -> list[str]:
    """Return the lines of a text. Words longer than a line are broken in prose only; leading blanks indent every line."""
    if cell_len(text) <= width:
        return [text]
    indent = " " * (len(text) - len(text.lstrip(" ")))
    lines: list[str] = []
    current = ""
    for word in text.split():
        longer = f"{current} {word}" if current else f"{indent}{word}"
        if not current or cell_len(longer) <= width:
            current = longer
        else:
            lines.append(current)
            current = f"{indent}{word}"
        if prose and cell_len(current) > width:
            *full, current = chop_cells(current, max(width, 2))
            lines += full
    return [*lines, current]


def row_lines(columns: Sequence[TableColumn], chosen: Sequence[int], row: int) -> Iterator[list[str]]:
    """Yield the lines of a row, and of each line the cells, in the widths of the columns."""
    texts = [
        wrapped(column.cells[row], width, prose=column.prose)
        for column, width in zip(columns, chosen, strict=True)
    ]
    for number in range(max(map(len, texts))):
        yield [
            column.justified(lines[number] if number < len(lines) else "", width)
            for column, lines, width in zip(columns, texts, chosen, strict=True)
        ]


def _longest(cell: str) -> int:
    """Return the width of the longest word of a cell, with the blanks before the cell."""
    indent = len(cell) - len(cell.lstrip(" "))
    return max((cell_len(word) for word in cell.split()), default=0) + indent


def cut(text: str, room: int | None) -> str:
    """Return a sentence that fits into a line, with an ellipsis if its end is cut off; None is for any length."""
    if room is None or cell_len(text) <= room:
        return text
    return f"{set_cell_size(text, room - 1).rstrip()}…"
