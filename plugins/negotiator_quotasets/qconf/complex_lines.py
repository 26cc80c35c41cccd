"""Complexes as lines of a table: one each, in the columns of complex(5)."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import TypeVar

from negotiator_quotasets.complexes import Complex, ComplexType, Consumable, Relation, Requestable
from negotiator_quotasets.language import quotable
from negotiator_quotasets.qconf.refusal import QconfRefusedError

KEYS = ("name", "shortcut", "type", "relop", "requestable", "consumable", "default")
_HEAD = (*KEYS, "urgency")
_URGENCY = "0"  # has no meaning here; Grid Engine's files have the column
_MAX_SHOWN = 20
_Word = TypeVar("_Word", bound=enum.StrEnum)


def format_complexes(complexes: Iterable[Complex]) -> list[str]:
    """The table, with its head."""
    rows: list[tuple[str, ...]] = [(f"#{_HEAD[0]}", *_HEAD[1:])]
    rows += [(*values_of(each).values(), _URGENCY) for each in complexes]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [" ".join(f"{word:{width}}" for word, width in zip(row, widths, strict=True)) for row in rows]
    return [lines[0], f"#{'-' * (len(lines[0]) - 1)}", *lines[1:]]


def values_of(complex_: Complex) -> Mapping[str, str]:
    """The columns of a complex, by their names."""
    columns = (
        complex_.name,
        complex_.shortcut,
        complex_.type.value,
        complex_.relation.value,
        complex_.requestable.value,
        complex_.consumable.value,
        complex_.default,
    )
    return dict(zip(KEYS, columns, strict=True))


def parse_complexes(text: str, file: str) -> Mapping[str, Complex]:
    """Read a table; the urgency may be left out, and counts for nothing.

    :raises RefusedError: lines of it can't be read, each with its number.
    """
    found: dict[str, Complex] = {}
    wrong: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            complex_ = _complex(words)
        except ValueError as error:
            wrong.append(f"{file}:{number}: {error}")
            continue
        if found.setdefault(complex_.name, complex_) is not complex_:
            wrong.append(f'{file}:{number}: complex attribute "{complex_.name}" appears more than once')
    if wrong:
        raise QconfRefusedError(*wrong[:_MAX_SHOWN], f'error reading file: "{file}"')
    return found


def _complex(words: list[str]) -> Complex:
    if len(words) not in (len(KEYS), len(_HEAD)):
        raise ValueError(f"a line has the columns {' '.join(_HEAD)}, this one has {len(words)}")
    return Complex(
        words[0],
        words[1],
        _one_of(ComplexType, words[2]),
        _one_of(Relation, words[3]),
        _one_of(Requestable, words[4]),
        _one_of(Consumable, words[5]),
        words[6],
    )


def _one_of(choices: type[_Word], word: str) -> _Word:
    short = {"Y": "YES", "N": "NO", "F": "FORCED", "J": "JOB"}
    try:
        return choices(short.get(word.upper(), word.upper()))
    except ValueError:
        raise ValueError(f'"{quotable(word)}" is none of: {", ".join(choices)}') from None
