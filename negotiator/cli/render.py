"""Prints tables: on a terminal in its width and with colours, as plain aligned text elsewhere."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence

import click

from negotiator.cli import table_layout
from negotiator.cli.table_layout import Column
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


def print_table(
    title: str, headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()
) -> None:
    """Print a table below its title; ``right`` are the columns to align right. Without rows, print nothing.

    On a terminal, long cells are wrapped to its width and empty columns are omitted. If a name would have to be broken,
    each row is printed as a block of lines.
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


def _columns(headers: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[int]) -> list[Column]:
    """Return the columns that are not empty."""
    return [
        Column(header, [row[place] for row in cells], right=place in right, prose=header in PROSE)
        for place, header in enumerate(headers)
        if any(row[place] for row in cells)
    ]


def _print_wrapped(title: str, columns: Sequence[Column], room: int) -> None:
    colour = uses_colour()
    click.secho(title, bold=True, color=colour)
    widths = table_layout.widths(columns, room)
    if widths is None:
        for block in table_layout.blocks(columns, room):
            for column, label, text in block:
                shown = f"{click.style(label, bold=True)}{table_layout.GAP}{coloured(column.header, text)}"
                click.echo(shown.rstrip(), color=colour)
            click.echo()
        return
    heads = [column.justified(column.header, width) for column, width in zip(columns, widths, strict=True)]
    click.secho(table_layout.GAP.join(heads).rstrip(), bold=True, color=colour)
    click.echo("─" * (sum(widths) + len(table_layout.GAP) * (len(widths) - 1)))
    for lines in table_layout.rows(columns, widths):
        for line in lines:
            shown = (coloured(column.header, cell) for column, cell in zip(columns, line, strict=True))
            click.echo(table_layout.GAP.join(shown).rstrip(), color=colour)
    click.echo()
