"""*Why*: why a job, or the jobs of a user or a queue, get no slot, or a slot no job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from negotiator.app.why.answer import WhyAnswer, WhyTable
from negotiator.app.why.subject import WhyKind
from negotiator.service.pages.views.audit import Field
from negotiator.service.pages.views.elements import MOST_ROWS, Link, Rows, link, message

#: Fields of the form, with their labels.
FIELDS: Final = {
    WhyKind.JOB: "Job or cluster",
    WhyKind.USER: "User",
    WhyKind.QUEUE: "Queue",
    WhyKind.SLOT: "Slot",
}


@attrs.frozen
class WhyCell:
    """A cell below its header; ``is_number`` aligns it right."""

    header: str
    text: str
    is_number: bool


@attrs.frozen
class WhyCells:
    """A table: its title, its headers and its rows, the first cell of which names the row."""

    title: str
    headers: tuple[WhyCell, ...]
    rows: Rows
    noun: str


@attrs.frozen(kw_only=True)
class WhyView:
    """The page: the form, why there is no answer, and the answer, the decisive reason first."""

    fields: tuple[Field, ...]
    failure: str
    subject: str = ""
    sentences: tuple[str, ...] = ()
    tables: tuple[WhyCells, ...] = ()
    decisions: Link | None = None


def why_view(given: Mapping[str, str], found: WhyAnswer | None, failure: str) -> WhyView:
    """Return the page.

    :param given: the fields of the form.
    :param failure: why nothing was found, empty if nothing was looked for or something was found.
    """
    fields = tuple(Field(kind, label, message(given.get(kind, ""))) for kind, label in FIELDS.items())
    if found is None:
        return WhyView(fields=fields, failure=message(failure))
    first, *sentences = found.text.sentences
    return WhyView(
        fields=fields,
        failure="",
        subject=message(first),
        sentences=tuple(map(message, sentences)),
        tables=tuple(map(_cells, found.text.tables)),
        decisions=link(
            "decisions of cycles about it", "decisions", **{found.subject.kind: found.subject.name}
        ),
    )


def _cells(table: WhyTable) -> WhyCells:
    places = sorted(
        range(len(table.headers)), key=lambda place: place != table.name
    )  # the name of a row is first
    headers = tuple(
        WhyCell("", message(table.headers[place]).capitalize(), place in table.numbers) for place in places
    )
    rows = [
        tuple(
            WhyCell(header.text, message(row[place]), header.is_number)
            for header, place in zip(headers, places, strict=True)
        )
        for row in table.rows[:MOST_ROWS]
    ]
    return WhyCells(message(table.title), headers, Rows.first(rows, len(table.rows)), table.noun)
