"""How commands print: tables by rich on a terminal, plain aligned text anywhere else."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

_CONTROL = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}


def printable(text: str) -> str:
    """Escape what could move the cursor or forge a line: names and reasons come from ads, and users write ads."""
    return text.translate(_CONTROL).encode("utf-8", "backslashreplace").decode()


def print_table(
    title: str, headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()
) -> None:
    """Print a table below its title; ``right`` are the columns to align right. Without rows nothing is printed."""
    if not rows:
        return
    cells = [[printable(cell) for cell in row] for row in rows]
    console = Console()
    if console.is_terminal:
        table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
        for place, header in enumerate(headers):
            last = place == len(headers) - 1
            justify = "right" if place in right else "left"
            table.add_column(header, justify=justify, overflow="fold", no_wrap=not last)  # type: ignore[arg-type]
        for row in cells:
            table.add_row(*map(Text, row))
        console.print(table)
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
