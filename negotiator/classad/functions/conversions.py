"""Conversions between kinds of values, which most functions start with (SEMANTICS section 6: int, real, string).

Each returns the converted value, or UNDEFINED or ERROR if it cannot be converted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from negotiator.classad.context import AdValue, ListValue, unparse_value
from negotiator.classad.values import (
    ERROR,
    UNDEFINED,
    AbsTime,
    Exceptional,
    RelTime,
    abs_time_text,
    real_prefix,
    rel_time_text,
    to_bytes,
    truncate32,
    truncate64,
)

if TYPE_CHECKING:
    from negotiator.classad.context import ClassAdValue

_STEPS_TO_PRINT = 3  # for each letter of a list or an ad


def as_real(value: ClassAdValue) -> float | Exceptional:
    """Convert to a real: of text the number at its start, of a span of time the whole seconds."""
    if isinstance(value, float):
        return value
    if isinstance(value, int):  # also a boolean
        return float(value)
    if isinstance(value, str):
        number = real_prefix(value)
        return ERROR if number is None else number
    if isinstance(value, AbsTime):
        return float(value.seconds)
    if isinstance(value, RelTime):
        return float(truncate32(value.seconds))
    return UNDEFINED if value is UNDEFINED else ERROR


def as_integer(value: ClassAdValue) -> int | Exceptional:
    """Convert to an integer. Reals, including those at the start of text, are truncated."""
    if isinstance(value, int):
        return int(value)
    if isinstance(value, AbsTime):
        return value.seconds
    real = as_real(value)
    return real if isinstance(real, Exceptional) else truncate64(real)


def as_string(value: ClassAdValue) -> str | Exceptional:
    """Convert to a string. Every value but undefined and error has a text."""
    if isinstance(value, str | Exceptional):
        return value
    if isinstance(value, AbsTime):
        return abs_time_text(value)
    if isinstance(value, RelTime):
        return rel_time_text(float(truncate32(value.seconds)))
    text = unparse_value(value)
    if isinstance(value, ListValue | AdValue):
        value.scope.state.charge(len(text) * _STEPS_TO_PRINT)
    return text


def as_bytes(value: ClassAdValue) -> bytes | Exceptional:
    """Convert to a string and return its bytes."""
    text = as_string(value)
    return to_bytes(text) if isinstance(text, str) else text


def is_number(value: ClassAdValue) -> bool:
    """Return whether the value is a boolean, an integer or a real."""
    return isinstance(value, int | float)


def is_compound(value: ClassAdValue) -> bool:
    """Return whether the value is a list or an ad."""
    return isinstance(value, ListValue | AdValue)


def strings(values: tuple[ClassAdValue, ...]) -> tuple[str, ...] | Exceptional:
    """Return the values if all are strings. Otherwise return ERROR, or UNDEFINED if one is undefined and none an error."""
    if all(isinstance(value, str) for value in values):
        return tuple(value for value in values if isinstance(value, str))
    if any(value is ERROR for value in values):
        return ERROR
    return UNDEFINED if any(value is UNDEFINED for value in values) else ERROR
