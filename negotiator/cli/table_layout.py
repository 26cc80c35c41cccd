"""Lays out tables on terminals: cells are wrapped between words, and names are never broken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
from rich.cells import cell_len, chop_cells

GAP = "  "
#: Least width of a column of prose with longer cells.
NARROW = 24


@attrs.frozen
class Column:
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


def widths(columns: Sequence[Column], room: int) -> list[int] | None:
    """Return the widths of columns in ``room`` characters, gaps included; None if a name would have to be broken."""
    room -= len(GAP) * (len(columns) - 1)
    least = [column.least for column in columns]
    if sum(least) > room:
        return None
    chosen = [min(column.natural, max(room, least[place])) for place, column in enumerate(columns)]
    while sum(chosen) > room:
        shrinking = (place for place, width in enumerate(chosen) if width > least[place])
        chosen[max(shrinking, key=chosen.__getitem__)] -= 1
    return chosen


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


def rows(columns: Sequence[Column], chosen: Sequence[int]) -> Iterator[list[list[str]]]:
    """Yield the lines of each row, and of each line the cells, in the widths of the columns."""
    for cells in zip(*(column.cells for column in columns), strict=True):
        texts = [
            wrapped(cell, width, prose=column.prose)
            for column, cell, width in zip(columns, cells, chosen, strict=True)
        ]
        yield [
            [
                column.justified(lines[number] if number < len(lines) else "", width)
                for column, lines, width in zip(columns, texts, chosen, strict=True)
            ]
            for number in range(max(map(len, texts)))
        ]


def blocks(columns: Sequence[Column], room: int) -> Iterator[list[tuple[Column, str, str]]]:
    """Yield each row as lines: the column, the label (empty on further lines) and the text."""
    label = max(cell_len(column.header) for column in columns)
    for cells in zip(*(column.cells for column in columns), strict=True):
        block = []
        for column, cell in zip(columns, cells, strict=True):
            for number, line in enumerate(
                wrapped(cell, max(room - label - len(GAP), 20), prose=column.prose)
            ):
                block.append((column, (column.header if number == 0 else "").ljust(label), line.strip()))
        yield block


def _longest(cell: str) -> int:
    """Return the width of the longest word of a cell, with the blanks before the cell."""
    indent = len(cell) - len(cell.lstrip(" "))
    return max((cell_len(word) for word in cell.split()), default=0) + indent
