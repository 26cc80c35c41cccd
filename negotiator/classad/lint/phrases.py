"""Phrases of messages for the possible values of an expression."""

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
    """Return a phrase for few possible values: ``always false``, ``undefined or an error``."""
    value = possible.value
    if value is not None:
        return f"always {'an error' if value is ERROR else spelled(value)}"
    return _or([word for types, word in _OUTCOMES if possible.may_be(types)])


def kind(possible: PossibleValue) -> str:
    """Return the type of a value, undefined and error aside: ``a string``, ``an integer or a real``."""
    return _or([word for types, word in _KINDS if possible.may_be(types)])


def kinds(possible: PossibleValue) -> ValueType:
    """Return the types that a value can have, undefined and error aside, true and false as one."""
    types = possible.types & ~NO_VALUE
    return types | BOOLEAN if types & BOOLEAN else types


def spelled(value: LiteralValue) -> str:
    """Return a constant as an expression writes it."""
    return ExpressionText().shown(Literal(value))


def _or(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "".join(words)
