"""How findings speak of expressions and of what they can be."""

from __future__ import annotations

from typing import Final

from negotiator.classad.lint.expression_text import ExpressionText
from negotiator.classad.lint.value_types import BOOLEAN, NO_VALUE, TIME, PossibleValue, ValueType
from negotiator.classad.syntax import Literal, LiteralValue
from negotiator.classad.values import ERROR

_OUTCOMES: Final = (
    (ValueType.TRUE, "true"),
    (ValueType.FALSE, "false"),
    (ValueType.INTEGER | ValueType.REAL, "a number"),
    (ValueType.STRING, "a string"),
    (ValueType.LIST, "a list"),
    (ValueType.AD, "an ad"),
    (TIME, "a time"),
    (ValueType.UNDEFINED, "undefined"),
    (ValueType.ERROR, "an error"),
)
_KINDS: Final = (
    (BOOLEAN, "a boolean"),
    (ValueType.INTEGER, "an integer"),
    (ValueType.REAL, "a real"),
    (ValueType.STRING, "a string"),
    (ValueType.LIST, "a list"),
    (ValueType.AD, "an ad"),
    (ValueType.ABSTIME, "a moment"),
    (ValueType.RELTIME, "a span of time"),
)


def outcome(possible: PossibleValue) -> str:
    """Say what something is that can be few things: ``always false``, ``undefined or an error``."""
    value = possible.value
    if value is not None:
        return f"always {'an error' if value is ERROR else spelled(value)}"
    return _or([word for sorts, word in _OUTCOMES if possible.may_be(sorts)])


def kind(possible: PossibleValue) -> str:
    """Say of what kind something is where it has a value: ``a string``, ``an integer or a real``."""
    return _or([word for sorts, word in _KINDS if possible.may_be(sorts)])


def kinds(possible: PossibleValue) -> ValueType:
    """Return the sorts of something where it has a value, true and false taken as one."""
    sorts = possible.sorts & ~NO_VALUE
    return sorts | BOOLEAN if sorts & BOOLEAN else sorts


def spelled(value: LiteralValue) -> str:
    """Return a constant as it is written."""
    return ExpressionText().shown(Literal(value))


def _or(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "".join(words)
