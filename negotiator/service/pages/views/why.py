"""*Why*: why a job, or the jobs of a user, a queue or the pool, get no slot, or a slot no job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import attrs

from negotiator.app.why.answer import WhyAnswer, WhyTable, WhyText
from negotiator.app.why.idle import IdleBy, IdleReport, idle_groups
from negotiator.app.why.subject import WhyKind
from negotiator.app.why.texts import idle_text
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
    """A cell below its header; ``is_number`` aligns it right, ``href`` is where the name of a row leads to."""

    header: str
    text: str
    is_number: bool
    href: str = ""


@attrs.frozen
class WhyCells:
    """A table: its title, its headers and its rows, the first cell of which names the row."""

    title: str
    headers: tuple[WhyCell, ...]
    rows: Rows
    noun: str


@attrs.frozen
class ShownText:
    """Sentences and tables of an answer."""

    sentences: tuple[str, ...]
    tables: tuple[WhyCells, ...]

    @classmethod
    def of(cls, text: WhyText, lead: Callable[[str], str] = lambda _name: "") -> ShownText:
        """Return an answer for a page; ``lead`` returns where the name of a row leads to."""
        return cls(tuple(map(message, text.sentences)), tuple(_cells(table, lead) for table in text.tables))


@attrs.frozen(kw_only=True)
class WhyView:
    """The page: the form, why there is no answer, and the answer, the decisive reason first."""

    fields: tuple[Field, ...]
    failure: str
    subject: str = ""
    text: ShownText = ShownText((), ())
    decisions: Link | None = None


@attrs.frozen(kw_only=True)
class IdleView:
    """The page of idle jobs: the form, why there is no answer, and the answer."""

    choices: tuple[IdleBy, ...] = tuple(IdleBy)
    by: IdleBy
    fields: tuple[Field, ...]
    failure: str
    subject: str = ""
    text: ShownText = ShownText((), ())


def why_view(given: Mapping[str, str], found: WhyAnswer | None, failure: str) -> WhyView:
    """Return the page.

    :param given: the fields of the form.
    :param failure: why nothing was found, empty if nothing was looked for or something was found.
    """
    fields = tuple(Field(kind, label, message(given.get(kind, ""))) for kind, label in FIELDS.items())
    if found is None:
        return WhyView(fields=fields, failure=message(failure))
    subject, text = _split(found.text)
    return WhyView(
        fields=fields,
        failure="",
        subject=subject,
        text=ShownText.of(text),
        decisions=link(
            "decisions of cycles about it", "decisions", **{found.subject.kind: found.subject.name}
        ),
    )


def idle_view(given: Mapping[str, str], by: IdleBy, found: IdleReport | None, failure: str) -> IdleView:
    """Return the page of idle jobs; ``found`` is about those that were asked for, None after a failure."""
    fields = tuple(
        Field(kind, FIELDS[kind], message(given.get(kind, ""))) for kind in (WhyKind.USER, WhyKind.QUEUE)
    )
    if found is None:
        return IdleView(by=by, fields=fields, failure=message(failure))
    groups = idle_groups(found.idle, by, by_text=True)
    holders = {each.name for each in groups if by is not IdleBy.REASON and each.most.user}

    def lead(name: str) -> str:
        return link(name, "why", **{by: name}).href if name in holders else ""

    subject, text = _split(idle_text(found, by, groups))
    return IdleView(by=by, fields=fields, failure="", subject=subject, text=ShownText.of(text, lead))


def _split(text: WhyText) -> tuple[str, WhyText]:
    """Return the first sentence, which is the heading, and the rest."""
    first, *sentences = text.sentences
    return message(first), WhyText(tuple(sentences), text.tables)


def _cells(table: WhyTable, lead: Callable[[str], str]) -> WhyCells:
    places = sorted(
        range(len(table.headers)), key=lambda place: place != table.name
    )  # the name of a row is first
    headers = tuple(
        WhyCell("", message(table.headers[place]).capitalize(), place in table.numbers) for place in places
    )
    rows = [
        tuple(
            WhyCell(
                header.text,
                message(row[place]),
                header.is_number,
                lead(row[place]) if place == table.name else "",
            )
            for header, place in zip(headers, places, strict=True)
        )
        for row in table.rows[:MOST_ROWS]
    ]
    return WhyCells(message(table.title), headers, Rows.first(rows, len(table.rows)), table.noun)
