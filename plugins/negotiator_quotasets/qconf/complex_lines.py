"""The table of complexes: one line each, in the columns of complex(5)."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import TypeVar

from negotiator_quotasets.complexes import Complex, ComplexType, Consumable, Relation, Requestable
from negotiator_quotasets.language import quotable
from negotiator_quotasets.qconf.errors import QconfRefusedError

KEYS = ("name", "shortcut", "type", "relop", "requestable", "consumable", "default")
_HEADER = (*KEYS, "urgency")
_URGENCY = "0"  # ignored here, but a column of Grid Engine's files
_MAX_PROBLEMS = 20
_Choice = TypeVar("_Choice", bound=enum.StrEnum)


def format_complexes(complexes: Iterable[Complex]) -> list[str]:
    """Return the lines of the table, with its header."""
    rows: list[tuple[str, ...]] = [(f"#{_HEADER[0]}", *_HEADER[1:])]
    rows += [(*columns_of(each).values(), _URGENCY) for each in complexes]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [" ".join(f"{word:{width}}" for word, width in zip(row, widths, strict=True)) for row in rows]
    return [lines[0], f"#{'-' * (len(lines[0]) - 1)}", *lines[1:]]


def columns_of(complex_: Complex) -> Mapping[str, str]:
    """Return the columns of a complex by name."""
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
    """Parse a table; the column of the urgency is optional and ignored.

    :raises QconfRefusedError: invalid lines, each reported with its number.
    """
    complexes: dict[str, Complex] = {}
    problems: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        columns = line.partition("#")[0].split()
        if not columns:
            continue
        try:
            complex_ = _complex(columns)
        except ValueError as error:
            problems.append(f"{file}:{number}: {error}")
            continue
        if complexes.setdefault(complex_.name, complex_) is not complex_:
            problems.append(f'{file}:{number}: complex attribute "{complex_.name}" appears more than once')
    if problems:
        raise QconfRefusedError(*problems[:_MAX_PROBLEMS], f'error reading file: "{file}"')
    return complexes


def _complex(columns: list[str]) -> Complex:
    if len(columns) not in (len(KEYS), len(_HEADER)):
        raise ValueError(f"a line has the columns {' '.join(_HEADER)}, this one has {len(columns)}")
    return Complex(
        columns[0],
        columns[1],
        _one_of(ComplexType, columns[2]),
        _one_of(Relation, columns[3]),
        _one_of(Requestable, columns[4]),
        _one_of(Consumable, columns[5]),
        columns[6],
    )


def _one_of(choices: type[_Choice], text: str) -> _Choice:
    short = {"Y": "YES", "N": "NO", "F": "FORCED", "J": "JOB"}
    try:
        return choices(short.get(text.upper(), text.upper()))
    except ValueError:
        raise ValueError(f'invalid value "{quotable(text)}": write one of {", ".join(choices)}') from None
