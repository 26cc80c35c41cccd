"""Prints tables: with rich on a terminal, as plain aligned text elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from negotiator.records.text import printable as printable

#: Minimal width of a column whose cells are that long: a number that is cut would be read as a smaller one.
NARROW = 16


def print_table(
    title: str, headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()
) -> None:
    """Print a table below its title; ``right`` are the columns to align right. Without rows, print nothing.

    On a terminal, long cells are folded to its width, and empty columns are omitted.
    """
    if not rows:
        return
    cells = [[printable(cell) for cell in row] for row in rows]
    console = Console()
    if console.is_terminal:
        _print_folded(console, title, headers, cells, right)
        return
    click.echo(title)
    widths = [max(map(len, column)) for column in zip(headers, *cells, strict=True)]
    for row in ([*headers], *cells):
        line = (
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        click.echo(f"  {'  '.join(line)}".rstrip())
    click.echo()


def _print_folded(
    console: Console, title: str, headers: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[int]
) -> None:
    """Fold wide cells; if even that does not fit, print each row as a block of lines."""
    filled = [column for column in range(len(headers)) if any(row[column] for row in cells)]
    table = Table(
        title=Text(title), title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False
    )
    needed = 0
    for column in filled:
        widest = max(map(cell_len, (headers[column], *(row[column] for row in cells))))
        least = min(widest, NARROW)
        justify: JustifyMethod = "right" if column in right else "left"
        table.add_column(headers[column], justify=justify, overflow="fold", min_width=least)
        needed += least + 3  # with the space between columns
    for row in cells:
        table.add_row(*(Text(row[column]) for column in filled))
    if needed <= console.width:
        console.print(table)
        return
    console.print(Text(title, style="bold"))
    for row in cells:
        block = Table.grid("header", "cell", padding=(0, 2))
        for column in filled:
            block.add_row(headers[column], Text(row[column], overflow="fold"))
        console.print(block, "")
