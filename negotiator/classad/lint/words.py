"""How findings speak of expressions and of what they can be."""

from __future__ import annotations

from typing import Final

from negotiator.classad.lint.place import Spelling
from negotiator.classad.lint.sorts import BOOLEAN, NO_VALUE, TIME, Possible, Sort
from negotiator.classad.tree import Literal, LiteralValue
from negotiator.classad.values import ERROR

_OUTCOMES: Final = (
    (Sort.TRUE, "true"),
    (Sort.FALSE, "false"),
    (Sort.INTEGER | Sort.REAL, "a number"),
    (Sort.STRING, "a string"),
    (Sort.LIST, "a list"),
    (Sort.AD, "an ad"),
    (TIME, "a time"),
    (Sort.UNDEFINED, "undefined"),
    (Sort.ERROR, "an error"),
)
_KINDS: Final = (
    (BOOLEAN, "a boolean"),
    (Sort.INTEGER, "an integer"),
    (Sort.REAL, "a real"),
    (Sort.STRING, "a string"),
    (Sort.LIST, "a list"),
    (Sort.AD, "an ad"),
    (Sort.ABSTIME, "a moment"),
    (Sort.RELTIME, "a span of time"),
)


def outcome(possible: Possible) -> str:
    """Say what something is that can be few things: ``always false``, ``undefined or an error``."""
    value = possible.value
    if value is not None:
        return f"always {'an error' if value is ERROR else spelled(value)}"
    return _or([word for sorts, word in _OUTCOMES if possible.may_be(sorts)])


def kind(possible: Possible) -> str:
    """Say of what kind something is where it has a value: ``a string``, ``an integer or a real``."""
    return _or([word for sorts, word in _KINDS if possible.may_be(sorts)])


def kinds(possible: Possible) -> Sort:
    """Return the sorts of something where it has a value, true and false taken as one."""
    sorts = possible.sorts & ~NO_VALUE
    return sorts | BOOLEAN if sorts & BOOLEAN else sorts


def spelled(value: LiteralValue) -> str:
    """Return a constant as it is written."""
    return Spelling().shown(Literal(value))


def _or(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "".join(words)
