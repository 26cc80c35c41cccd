"""Sentences and tables of an answer."""

from __future__ import annotations

from collections.abc import Sequence

import attrs


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
