"""Prints tables: on a terminal in its width and with colours, as plain aligned text elsewhere."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence

import click

from negotiator.cli import table_layout
from negotiator.cli.table_layout import TableColumn
from negotiator.records.text import printable as printable

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
    return shutil.get_terminal_size().columns


def uses_colour() -> bool:
    """True if standard output is a terminal, unless ``NO_COLOR`` is set."""
    return terminal_columns() is not None and not os.environ.get("NO_COLOR")


def coloured(header: str, cell: str) -> str:
    """Return a cell in the colour of its answer."""
    colour = COLOURS.get(header, {}).get(cell.strip())
    return click.style(cell, fg=colour) if colour else cell


def print_wrapped(text: str, *, bold: bool = False) -> None:
    """Print a sentence; on a terminal in its width, wrapped between words."""
    room = terminal_columns()
    for line in [text] if room is None else table_layout.wrapped(text, room):
        click.echo(click.style(line, bold=True) if bold else line, color=uses_colour())


def print_table(
    title: str, headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()
) -> None:
    """Print a table below its title; ``right`` are the columns to align right. Without rows, print nothing.

    On a terminal, long cells are wrapped to its width and empty columns are omitted. Where a name would have to be broken,
    the columns of a row are printed on several lines.
    """
    if not rows:
        return
    cells = [[printable(cell) for cell in row] for row in rows]
    room = terminal_columns()
    if room is not None:
        _print_wrapped(title, _columns(headers, cells, right), room)
        return
    click.echo(title)
    _print_plain(headers, cells, right)
    click.echo()


def _print_plain(headers: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[int]) -> None:
    widths = [max(map(len, column)) for column in zip(headers, *cells, strict=True)]
    for row in ([*headers], *cells):
        line = (
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        click.echo(f"  {'  '.join(line)}".rstrip())


def _columns(
    headers: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[int]
) -> list[TableColumn]:
    """Return the columns that are not empty."""
    return [
        TableColumn(header, [row[place] for row in cells], right=place in right, prose=header in PROSE)
        for place, header in enumerate(headers)
        if any(row[place] for row in cells)
    ]


def _print_wrapped(title: str, columns: Sequence[TableColumn], room: int) -> None:
    colour = uses_colour()
    print_wrapped(title, bold=True)
    lines = table_layout.lines_of_columns(columns, room)
    layout = []
    for number, line in enumerate(lines):
        indent = table_layout.INDENT if number else ""
        layout.append((indent, line, table_layout.widths(line, room - len(indent))))
    longest = 0
    for indent, line, widths in layout:
        heads = (column.justified(column.header, width) for column, width in zip(line, widths, strict=True))
        click.secho(f"{indent}{table_layout.GAP.join(heads)}".rstrip(), bold=True, color=colour)
        longest = max(longest, len(indent) + sum(widths) + len(table_layout.GAP) * (len(widths) - 1))
    click.echo("─" * min(longest, room))
    for row in range(len(columns[0].cells)):
        for indent, line, widths in layout:
            for cells in table_layout.row_lines(line, widths, row):
                shown = (coloured(column.header, cell) for column, cell in zip(line, cells, strict=True))
                click.echo(f"{indent}{table_layout.GAP.join(shown)}".rstrip(), color=colour)
    click.echo()
