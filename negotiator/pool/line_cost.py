"""What the lines of an ad in long form cost, and whose ad it is, before they are parsed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from negotiator.classad import UNDEFINED, Ad, ParseError
from negotiator.classad.syntax import Literal, fold, parse_old
from negotiator.pool.limits import MAX_LINE
from negotiator.pool.reading_budget import (
    CELL_BYTES,
    LAYOUT_BYTES,
    OWNER_MARKS,
    PLAIN_ATTRIBUTES,
    VALUE_BYTES,
    AdCost,
    AdOwner,
    owner_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from negotiator.classad import Expr
    from negotiator.classad.tables import AdDictionary, Row

_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*"', re.DOTALL)
_LONGEST_MARK: Final = 2048


def cost_of_lines(lines: Iterable[str], dictionary: AdDictionary) -> AdCost:
    """Return the cost of lines of one ad: those that are remembered, or too long to be parsed, cost nothing."""
    names: set[str] = set()
    stored = parsed = 0
    for line in lines:
        if len(line) > MAX_LINE or dictionary.remembers(line):
            continue
        name, _, right = line.partition("=")
        name, text = name.strip(), right.strip()
        if dictionary.is_new_name(name):
            names.add(name)
        stored += VALUE_BYTES + width(line)
        if not _STRING.fullmatch(text) and not dictionary.is_parsed(text):
            parsed += len(text)
    return AdCost(len(names), stored, parsed)


def cost_of_row(row: Row, dictionary: AdDictionary) -> AdCost:
    """Return the cost of an ad's attributes beyond those of a plain ad."""
    many = max(0, len(row) - PLAIN_ATTRIBUTES)
    if not many:
        return AdCost()
    return AdCost(text=many * (CELL_BYTES if dictionary.has_layout(row) else CELL_BYTES + LAYOUT_BYTES))


def width(text: str) -> int:
    """Return the bytes that a text takes in memory, at most."""
    return len(text) if text.isascii() else 4 * len(text)


def owner_of_lines(row: Row, lines: Iterable[str], dictionary: AdDictionary, file: str) -> AdOwner:
    """Return who is charged for an ad, given the cells of some of its lines and the text of the others."""
    cells = dictionary.cells_named(row, OWNER_MARKS)
    found = [(fold(dictionary.name(cell)), dictionary.expr(cell)) for cell in cells]
    for line in lines:
        name, _, text = line.partition("=")
        name = fold(name.strip())
        if name in OWNER_MARKS:
            found.append((name, _parsed(text.strip())))
    return owner_of(Ad(found), file)


def _parsed(text: str) -> Expr:
    """Return the expression of a short text; undefined for all others, since only constants tell an owner."""
    try:
        return parse_old(text) if len(text) <= _LONGEST_MARK else Literal(UNDEFINED)
    except ParseError:
        return Literal(UNDEFINED)
