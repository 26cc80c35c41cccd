"""Print tables so that they fit on a terminal: the first rows of each, and the number of the others. In a pipe they are whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import attrs
import click

from negotiator.cli.phrases import number
from negotiator.cli.render import Row, table_lines, terminal_lines, uses_colour, wrapped_lines

_FEWEST = 1  # rows of a table

#: Returns the rows to print, given how many there may be.
Shortened: TypeAlias = Callable[[int], Sequence[Row]]


@attrs.frozen
class ScreenTable:
    """A table that may be shortened: to its first rows, or to those that ``shorten`` selects."""

    title: str
    headers: Sequence[str]
    rows: Sequence[Row]
    right: Sequence[int] = ()
    noun: str = "row"
    shorten: Shortened | None = None

    def lines(self, room: int | None = None) -> list[str]:
        """Return the lines of the table, at most ``room`` unless that is too few for any row; all if None."""
        lines = self._lines(self.rows)
        if room is None or len(lines) <= room:
            return lines
        for count in range(min(len(self.rows) - 1, room), _FEWEST - 1, -1):
            lines = self._short(count)
            if len(lines) <= room:
                break
        return lines

    def _short(self, count: int) -> list[str]:
        rows = self.shorten(count) if self.shorten else self.rows[:count]
        return [*self._lines(rows), f"  and {number(len(self.rows) - len(rows), f'more {self.noun}')}"]

    def _lines(self, rows: Sequence[Row]) -> list[str]:
        return table_lines(self.title, self.headers, rows, self.right)


def print_tables(
    tables: Sequence[ScreenTable], *, full: bool, details: str, heading: Sequence[str] = ()
) -> None:
    """Print the heading and the tables that have rows; without ``full`` on a terminal what fits on it, and then ``details`` below.

    :param details: how to print what was left out.
    """
    heading = [line for each in heading for line in wrapped_lines(each)]
    for line in heading:
        click.echo(line, color=uses_colour())
    filled = [table for table in tables if table.rows]
    shown = [table.lines() for table in filled]
    used = len(heading) + (1 if heading else 0)
    room = None if full else terminal_lines()
    if room is not None and used + sum(len(lines) + 1 for lines in shown) > room:
        shown = _shortened(filled, shown, room - used)
    else:
        details = ""
    for lines in shown:
        if heading or lines is not shown[0]:
            click.echo()
        for line in lines:
            click.echo(line, color=uses_colour())
    if details:
        click.echo(details)
    elif shown:
        click.echo()


def _shortened(tables: Sequence[ScreenTable], complete: Sequence[list[str]], room: int) -> list[list[str]]:
    """Return the lines of tables in ``room`` lines: short tables are complete, the others share what is left."""
    shown = list(complete)
    left = room
    order = sorted(range(len(tables)), key=lambda place: len(complete[place]))
    for position, place in enumerate(order):
        share = left // (len(order) - position) - 1  # a blank line between two tables
        shown[place] = tables[place].lines(share)
        left -= len(shown[place]) + 1
    return shown
