"""Prints pools, tables, results and explanations: as text in a terminal, and as HTML in a notebook."""

from __future__ import annotations

import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Final, Literal

import attrs
from markupsafe import Markup

from negotiator.app.phrases import number
from negotiator.app.why.text_tables import WhyTable, WhyText
from negotiator.records.plain_table import plain_lines
from negotiator.records.text import printable

#: Colours are those of the notebook, light or dark.
_TABLE: Final = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.3em 0 .8em"
_HEAD: Final = "padding:.2em .7em .2em 0;border-bottom:1px solid currentColor;white-space:nowrap"
_CELL: Final = "padding:.15em .7em .15em 0;vertical-align:top;max-width:45em;overflow-wrap:break-word"
_LONGEST: Final = 400  # characters of a cell
_SHORT: Final = 26  # characters of a cell that is not wrapped in a terminal
_NARROWEST: Final = 12  # characters of a column that is


@attrs.frozen(eq=False, repr=False)
class Printed(ABC):
    """Something that prints well: ``str()``, ``repr()``, and as HTML in a notebook."""

    @abstractmethod
    def _text(self) -> WhyText:
        """Return the sentences and tables."""

    @property
    def _most_rows(self) -> int | None:
        """The most rows of a table; None for all."""
        return 10

    def __str__(self) -> str:
        return "\n".join(_lines(self._text(), self._most_rows))

    def __repr__(self) -> str:
        if not sys.stdout.isatty():
            return str(self)
        return "\n".join(wrapped_lines(self._text(), self._most_rows, shutil.get_terminal_size().columns))

    def _repr_html_(self) -> str:
        return "".join(_html(self._text(), self._most_rows))


def _lines(text: WhyText, most: int | None) -> Iterator[str]:
    yield from map(printable, text.sentences)
    for place, table in enumerate(text.tables):
        if place or text.sentences:
            yield ""
        if table.title:
            yield printable(table.title)
        rows = [[printable(cell) for cell in row] for row in table.rows[:most]]
        yield from plain_lines(table.headers, rows, table.numbers)
        if more := _more(table, most):
            yield f"  {more}"


def wrapped_lines(text: WhyText, most: int | None, width: int) -> Iterator[str]:
    """Yield the same in the width of a terminal: sentences are wrapped, and the long cells of tables."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(file=StringIO(), width=width, color_system=None, legacy_windows=False)
    for sentence in text.sentences:
        console.print(Text(printable(sentence)))
    for table in text.tables:
        console.print()
        if table.title:
            console.print(Text(printable(table.title)))
        rows = table.rows[:most]
        widths = [max(map(len, column)) for column in zip(table.headers, *rows, strict=True)]
        places = _fitting(widths, width - 2)
        shown = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
        for place in places:
            side: Literal["left", "right"] = "right" if place in table.numbers else "left"
            is_name = widths[place] <= _SHORT  # it is not broken
            shown.add_column(Text(table.headers[place]), justify=side, no_wrap=is_name, overflow="fold")
        for row in rows:
            shown.add_row(*(Text(printable(row[place])) for place in places))
        console.print(Padding(shown, (0, 0, 0, 2)))
        if dropped := [header for place, header in enumerate(table.headers) if place not in places]:
            console.print(Text(f"  The terminal is too narrow for {', '.join(map(printable, dropped))}."))
        if more := _more(table, most):
            console.print(f"  {more}")
    written = console.file.getvalue() if isinstance(console.file, StringIO) else ""
    yield from (line.rstrip() for line in written.splitlines())


def _fitting(widths: Sequence[int], room: int) -> list[int]:
    """Return the places of the columns that fit: those that cannot be wrapped are left out from the right."""
    needed = [(width if width <= _SHORT else _NARROWEST) + 2 for width in widths]
    places = [*range(len(widths))]
    for place in reversed(places[1:]):
        if sum(needed[each] for each in places) > room and widths[place] <= _SHORT:
            places.remove(place)
    return places


def _more(table: WhyTable, most: int | None) -> str:
    left = 0 if most is None else len(table.rows) - most
    return f"and {number(left, f'more {table.noun}')}" if left > 0 else ""


def _html(text: WhyText, most: int | None) -> Iterator[str]:
    """Yield HTML. All texts are escaped: ads are hostile."""
    yield '<div style="overflow-x:auto;line-height:1.4">'
    for place, sentence in enumerate(text.sentences):
        tag = "strong" if not place else "span"
        yield Markup("<div><{0}>{1}</{0}></div>").format(Markup(tag), printable(sentence))  # noqa: S704 - a constant
    for table in text.tables:
        if table.title:
            yield Markup('<div style="margin-top:.6em"><strong>{}</strong></div>').format(
                printable(table.title)
            )
        yield Markup('<table style="{}"><thead>').format(_TABLE)
        yield _row("th", _HEAD, table.headers, table.numbers)
        yield "</thead><tbody>"
        for row in table.rows[:most]:
            yield _row("td", _CELL, row, table.numbers)
        yield "</tbody></table>"
        if more := _more(table, most):
            yield Markup("<div>{}</div>").format(more)
    yield "</div>"


def _row(tag: str, style: str, cells: Sequence[str], right: Sequence[int]) -> str:
    made = (
        Markup('<{0} style="text-align:{1};{2}">{3}</{0}>').format(
            Markup(tag),  # noqa: S704 - a constant
            "right" if place in right else "left",
            style,
            _shortened(printable(cell)),
        )
        for place, cell in enumerate(cells)
    )
    return f"<tr>{''.join(made)}</tr>"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
