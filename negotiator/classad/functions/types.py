"""Tests of the kind of a value and conversions: isUndefined .. isRelTime, int, real, string, bool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from negotiator.classad.context import AdValue, ListValue
from negotiator.classad.functions.conversions import as_integer, as_real, as_string
from negotiator.classad.functions.registry import register
from negotiator.classad.values import ERROR, UNDEFINED, AbsTime, RelTime, fold_bytes, to_bytes, truncate32

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from negotiator.classad.context import ClassAdValue, Environment
    from negotiator.classad.functions.registry import ValueFunction


def _test(of: Callable[[ClassAdValue], bool]) -> ValueFunction:
    def test(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
        return of(args[0])

    return test


register("isUndefined", 1, 1)(_test(lambda value: value is UNDEFINED))
register("isError", 1, 1)(_test(lambda value: value is ERROR))
register("isBoolean", 1, 1)(_test(lambda value: type(value) is bool))
register("isInteger", 1, 1)(_test(lambda value: type(value) is int))
register("isReal", 1, 1)(_test(lambda value: type(value) is float))
register("isString", 1, 1)(_test(lambda value: isinstance(value, str)))
register("isList", 1, 1)(_test(lambda value: isinstance(value, ListValue)))
register("isClassAd", 1, 1)(_test(lambda value: isinstance(value, AdValue)))
register("isAbsTime", 1, 1)(_test(lambda value: isinstance(value, AbsTime)))
register("isRelTime", 1, 1)(_test(lambda value: isinstance(value, RelTime)))


@register("int", 1, 1)
def to_integer(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``int(x)``: ``x`` as an integer: a real truncated, of text the number at its start."""
    return as_integer(args[0])


@register("real", 1, 1)
def to_real(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``real(x)``: ``x`` as a real: of text the number at its start."""
    return as_real(args[0])


@register("string", 1, 1)
def to_string(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``string(x)``: the text of ``x``."""
    return as_string(args[0])


@register("bool", 1, 1)
def to_boolean(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``bool(x)``: the truth of a number or a span of time, or the word true or false in any case."""
    value = args[0]
    if isinstance(value, int | float):
        return value != 0
    if isinstance(value, str):
        return {b"true": True, b"false": False}.get(fold_bytes(to_bytes(value)), UNDEFINED)
    if isinstance(value, RelTime):
        return truncate32(value.seconds) != 0
    return UNDEFINED if value is UNDEFINED else ERROR
