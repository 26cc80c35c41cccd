"""Sentences and tables of an answer."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from negotiator.app.phrases import rule
from negotiator.explain.job.near_miss import NearMiss
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
class WhyWords:
    """The sentences of an answer, the subject and the decisive reason first, and the tables that have rows."""

    sentences: tuple[str, ...]
    tables: tuple[WhyTable, ...]

    @classmethod
    def of(cls, sentences: Sequence[str], tables: Sequence[WhyTable]) -> WhyWords:
        """Leave out empty tables."""
        return cls(tuple(sentences), tuple(each for each in tables if each.rows))


def reason_text(reason: Reason, near: NearMiss | None = None) -> str:
    """Return the text of a reason, the rule of a policy with its place, and the nearest value that would do."""
    where = "" if reason.provenance.plugin == CORE else f" ({rule(reason)})"
    return f"{reason.text}{where}{f'; nearest: {near}' if near else ''}"
