"""Prints tables: on a terminal in its width and with colours, as plain aligned text elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import click

from negotiator.cli import table_layout
from negotiator.cli.table_layout import TableColumn, cell_len, terminal_size
from negotiator.records.plain_table import plain_lines
from negotiator.records.text import printable as printable

Row: TypeAlias = Sequence[str]

#: Columns of sentences and expressions, whose long words may be broken; names never are.
PROSE = {"REASON", "DETAIL", "RESULT", "DESCRIPTION", "LAST FAILURE", "WHAT"}

#: The colours of answers, by column.
COLOURS: Mapping[str, Mapping[str, str]] = {
    "VERDICT": {
        "matched": "green",
        "denied": "red",
        "waiting": "yellow",
        "misconfigured": "magenta",
        "broken_plugin": "bright_red",
    },
    "GRANTED": {"yes": "green", "no": "red"},
}


def terminal_columns() -> int | None:
    """Return the width of the terminal that standard output is; None if it is none (``FORCE_COLOR`` makes it one)."""
    if not (os.environ.get("FORCE_COLOR") or sys.stdout.isatty()):
        return None
    return terminal_size(sys.stdout)[0]


def terminal_lines() -> int | None:
    """Return the height of the terminal that standard output is, less the line of the next prompt; None if it is none.

    A pipe or a file has no height, whatever the environment says: what is printed there is whole.
    """
    return terminal_size(sys.stdout)[1] - 1 if sys.stdout.isatty() else None


def uses_colour() -> bool:
    """True if standard output is a terminal, unless ``NO_COLOR`` is set or ``--no-color`` given."""
    context = click.get_current_context(silent=True)
    refused = os.environ.get("NO_COLOR") or (context is not None and context.color is False)
    return terminal_columns() is not None and not refused


def coloured(header: str, cell: str) -> str:
    """Return a cell in the colour of its answer."""
    colour = COLOURS.get(header, {}).get(cell.strip())
    return click.style(cell, fg=colour) if colour else cell


def print_wrapped(text: str, *, bold: bool = False) -> None:
    """Print a sentence; on a terminal in its width, wrapped between words."""
    for line in wrapped_lines(text):
        click.echo(click.style(line, bold=True) if bold else line, color=uses_colour())


def wrapped_lines(text: str) -> Sequence[str]:
    """Return the lines of a sentence: on a terminal in its width, wrapped between words."""
    room = terminal_columns()
    return [text] if room is None else table_layout.wrapped(text, room)


def hanging_lines(head: str, text: str, shown_head: str = "") -> list[str]:
    """Return the lines of a text after a head; on a terminal in its width, wrapped below the beginning of the text.

    :param shown_head: the head with colours.
    """
    room = terminal_columns()
    if room is None:
        return [f"{shown_head or head}{text}"]
    first, *more = table_layout.wrapped(text, max(room - cell_len(head), table_layout.NARROW), prose=True)
    indent = " " * cell_len(head)
    return [f"{shown_head or head}{first}", *(f"{indent}{line}" for line in more)]


def print_table(title: str, headers: Sequence[str], rows: Sequence[Row], right: Sequence[int] = ()) -> None:
    """Print a table below its title, and a blank line; ``right`` are the columns to align right. Without rows, print nothing.

    On a terminal, long cells are wrapped to its width and empty columns are omitted. Where a name would have to be broken,
    the columns of a row are printed on several lines.
    """
    lines = table_lines(title, headers, rows, right)
    for line in lines:
        click.echo(line, color=uses_colour())
    if lines:
        click.echo()


def table_lines(
    title: str, headers: Sequence[str], rows: Sequence[Row], right: Sequence[int] = ()
) -> list[str]:
    """Return the lines of a table as :func:`print_table` prints them, with colours, without the blank line."""
    if not rows:
        return []
    cells = [[printable(cell) for cell in row] for row in rows]
    room = terminal_columns()
    if room is None:
        return [title, *plain_lines(headers, cells, right)]
    return [*_lines_within(title, _columns(headers, cells, right), room)]


def _columns(headers: Sequence[str], cells: Sequence[Row], right: Sequence[int]) -> list[TableColumn]:
    """Return the columns that are not empty."""
    return [
        TableColumn(header, [row[place] for row in cells], right=place in right, prose=header in PROSE)
        for place, header in enumerate(headers)
        if any(row[place] for row in cells)
    ]


def _lines_within(title: str, columns: Sequence[TableColumn], room: int) -> Iterator[str]:
    yield from (click.style(text, bold=True) for text in wrapped_lines(title))
    lines = table_layout.lines_of_columns(columns, room)
    layout = []
    for number, line in enumerate(lines):
        indent = table_layout.INDENT if number else ""
        layout.append((indent, line, table_layout.widths(line, room - len(indent))))
    longest = 0
    for indent, line, widths in layout:
        heads = (column.justified(column.header, width) for column, width in zip(line, widths, strict=True))
        yield click.style(f"{indent}{table_layout.GAP.join(heads)}".rstrip(), bold=True)
        longest = max(longest, len(indent) + sum(widths) + len(table_layout.GAP) * (len(widths) - 1))
    yield "─" * min(longest, room)
    for row in range(len(columns[0].cells)):
        for indent, line, widths in layout:
            for cells in table_layout.row_lines(line, widths, row):
                shown = (coloured(column.header, cell) for column, cell in zip(line, cells, strict=True))
                yield f"{indent}{table_layout.GAP.join(shown)}".rstrip()
