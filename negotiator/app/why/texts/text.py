"""Sentences and tables of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from negotiator.app.phrases import rule
from negotiator.explain.job import Condition, NearMiss
from negotiator.records import CORE, Reason


@attrs.frozen
class WhyTable:
    """A table below its title; ``numbers`` are the places of columns of numbers, ``noun`` is what a row is.

    ``name`` is the place of the column that tells rows apart.
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()
    noun: str = "row"
    name: int = 0


@attrs.frozen
class WhyText:
    """The sentences of an answer, the subject and the decisive reason first, and the tables that have rows."""

    sentences: tuple[str, ...]
    tables: tuple[WhyTable, ...]

    @classmethod
    def of(cls, sentences: Sequence[str], tables: Sequence[WhyTable]) -> WhyText:
        """Leave out empty tables."""
        return cls(tuple(sentences), tuple(each for each in tables if each.rows))


def conditions_table(title: str, conditions: Iterable[Condition], *more: tuple[str, ...]) -> WhyTable:
    """Return the table of conditions, in their order, with further rows after them."""
    rows = [
        (reason_text(each.reason, each.near), str(each.rejected), str(each.alone), str(each.lever))
        for each in conditions
    ]
    headers = ("CONDITION", "REJECTS", "ONLY THIS", "WHO CAN CHANGE IT")
    return WhyTable(title, headers, (*rows, *more), (1, 2), "condition")


def all_texts(conditions: Iterable[Condition]) -> str:
    """Return conditions that would all have to change, in one line."""
    return " and ".join(each.reason.text for each in conditions)


def reason_text(reason: Reason, near: NearMiss | None = None) -> str:
    """Return the text of a reason, the rule of a policy with its place, and the nearest value that would do."""
    where = "" if reason.provenance.plugin == CORE else f" ({rule(reason)})"
    return f"{reason.text}{where}{f'; nearest: {near}' if near else ''}"
