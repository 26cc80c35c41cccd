"""How commands print: tables by rich on a terminal, plain aligned text anywhere else."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from negotiator.hooks.command_options import POINT_IN_TIME as POINT_IN_TIME

#: No column of a table is narrower, unless all that stands in it is: a number that was cut is another number.
NARROW = 16

_CONTROL = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}
# Ends of lines, and what turns the direction of the text around, in Unicode.
_CONTROL |= {
    code: f"\\u{code:04x}"
    for code in (0x061C, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF)
}


def printable(text: str) -> str:
    """Escape what could move the cursor or forge a line: names and reasons come from ads, and users write ads."""
    return text.translate(_CONTROL).encode("utf-8", "backslashreplace").decode()


def print_table(
    title: str, headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()
) -> None:
    """Print a table below its title; ``right`` are the columns to align right. Without rows nothing is printed.

    On a terminal long cells are folded to its width, and columns in which nothing stands are left out.
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
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        click.echo(f"  {'  '.join(line)}".rstrip())
    click.echo()


def _print_folded(
    console: Console, title: str, headers: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[int]
) -> None:
    """Fold what is wide; where even that does not fit, a row is a block of lines."""
    filled = [place for place in range(len(headers)) if any(row[place] for row in cells)]
    table = Table(
        title=Text(title), title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False
    )
    needed = 0
    for place in filled:
        widest = max(map(cell_len, (headers[place], *(row[place] for row in cells))))
        least = min(widest, NARROW)
        justify: JustifyMethod = "right" if place in right else "left"
        table.add_column(headers[place], justify=justify, overflow="fold", min_width=least)
        needed += least + 3  # and what stands between columns
    for row in cells:
        table.add_row(*(Text(row[place]) for place in filled))
    if needed <= console.width:
        console.print(table)
        return
    console.print(Text(title, style="bold"))
    for row in cells:
        block = Table.grid("header", "cell", padding=(0, 2))
        for place in filled:
            block.add_row(headers[place], Text(row[place], overflow="fold"))
        console.print(block, "")
