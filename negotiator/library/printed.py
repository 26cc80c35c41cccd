"""Prints pools, tables, results and explanations: as text in a terminal, and as HTML in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Final

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
        return str(self)

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
