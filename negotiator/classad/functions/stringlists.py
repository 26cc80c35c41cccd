"""Functions of lists in one string: stringListSize, stringListMember, stringListsIntersect and the like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from negotiator.classad.context import EvaluationFailed
from negotiator.classad.functions.conversions import strings
from negotiator.classad.functions.patterns import PatternFailure, check_pattern
from negotiator.classad.functions.regex import occurs, options_of
from negotiator.classad.functions.registry import register
from negotiator.classad.values import (
    ERROR,
    SPACES,
    UNDEFINED,
    Exceptional,
    fold_bytes,
    real_prefix,
    to_bytes,
    truncate64,
    until_nul,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from negotiator.classad.context import ClassAdValue, Environment
    from negotiator.classad.functions.patterns import Meter

_DELIMITERS = b", "
_MEMBER_DELIMITERS = b", \t\r\n"
_LEAST_REAL32 = 1.1754943508222875e-38
_GREATEST_REAL32 = 3.4028234663852886e38
_INTEGER_BYTES = b"+-0123456789"


def _items(text: str, delimiters: bytes) -> list[bytes]:
    """Return the items between the delimiters, stripped of white space. Empty items are left out."""
    parts = _parts(until_nul(to_bytes(text)), delimiters)
    return [item for part in parts if (item := part.strip(SPACES))]


def _parts(data: bytes, delimiters: bytes) -> list[bytes]:
    if not delimiters:
        return [data]
    first = delimiters[:1]
    table = bytes.maketrans(delimiters, first * len(delimiters))
    return data.translate(table).split(first)


def _delimiters(value: ClassAdValue, default: bytes) -> bytes:
    return until_nul(to_bytes(value)) if isinstance(value, str) else default


def _all_strings(args: Sequence[ClassAdValue]) -> bool:
    return all(isinstance(value, str) for value in args)


def _list_of(args: Sequence[ClassAdValue]) -> list[bytes] | None:
    text, delimiters = args[0], args[1] if len(args) == 2 else None
    if not isinstance(text, str) or not isinstance(delimiters, str | None):
        return None
    return _items(text, _DELIMITERS if delimiters is None else _delimiters(delimiters, b""))


@register("stringListSize", 1, 2, weight=8)
def string_list_size(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``stringListSize(list[, delimiters])``: the number of items."""
    items = _list_of(args)
    return ERROR if items is None else len(items)


_SCANNED = re.compile(rb"[+-]?(?:0x[0-9a-f.]|(?!0x)[0-9]|\.[0-9]|nan|inf(?!i)|infinity)", re.IGNORECASE)


def _scanned(item: bytes) -> float | None:
    """Return the number at the start of an item, read like ``sscanf("%lf")``, which is stricter than ``strtod``."""
    begin = _SCANNED.match(item)
    if begin is None:
        return None
    number = real_prefix(item.decode("latin-1"))
    return 0.0 if number is None else number


def _summary(
    args: Sequence[ClassAdValue],
    start: float,
    fold_in: Callable[[float, float], float],
    *,
    mean: bool = False,
) -> ClassAdValue:
    items = _list_of(args)
    if items is None:
        return ERROR
    accumulated, is_real = start, False
    for item in items:
        number = _scanned(item)
        if number is None:
            return ERROR
        is_real = is_real or bool(item.strip(_INTEGER_BYTES))
        accumulated = fold_in(number, accumulated)
    if not items:
        return UNDEFINED if start else 0.0
    if mean:
        accumulated /= len(items)
    return accumulated if is_real else truncate64(accumulated)


def _add(number: float, accumulated: float) -> float:
    return number + accumulated


@register("stringListSum", 1, 2, weight=8)
def string_list_sum(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``stringListSum(list[, delimiters])``: the sum, a real if an item is written as one; 0.0 for an empty list."""
    return _summary(args, 0.0, _add)


@register("stringListAvg", 1, 2, weight=8)
def string_list_average(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``stringListAvg(list[, delimiters])``: the mean, truncated to an integer unless an item is written as a real."""
    return _summary(args, 0.0, _add, mean=True)


@register("stringListMin", 1, 2, weight=8)
def string_list_min(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``stringListMin(list[, delimiters])``: the least item, but never above the greatest 32-bit real."""
    return _summary(args, _GREATEST_REAL32, lambda number, least: min(least, number))


@register("stringListMax", 1, 2, weight=8)
def string_list_max(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``stringListMax(list[, delimiters])``: the greatest item, but never below the least normal 32-bit real (0)."""
    return _summary(args, _LEAST_REAL32, lambda number, most: max(most, number))


def _of_member(args: Sequence[ClassAdValue]) -> tuple[bytes, list[bytes], bytes] | Exceptional:
    """Return item, list and delimiters of the functions that treat undefined as the empty string."""
    if any(value is not UNDEFINED and not isinstance(value, str) for value in args):
        return ERROR
    if args[0] is UNDEFINED and args[1] is UNDEFINED:
        return UNDEFINED
    item, text, *rest = (value if isinstance(value, str) else "" for value in args)
    delimiters = _delimiters(args[2] if rest else UNDEFINED, _MEMBER_DELIMITERS)
    return until_nul(to_bytes(item)), _items(text, delimiters), delimiters


def _member(args: Sequence[ClassAdValue], by: Callable[[bytes], bytes]) -> ClassAdValue:
    parts = _of_member(args)
    if isinstance(parts, Exceptional):
        return parts
    item, items, _ = parts
    return by(item) in map(by, items)


def _subset(args: Sequence[ClassAdValue], by: Callable[[bytes], bytes]) -> ClassAdValue:
    parts = _of_member(args)
    if isinstance(parts, Exceptional):
        return parts
    item, items, delimiters = parts
    if not item:
        return True
    wanted = [part for piece in _parts(item, delimiters) if (part := piece.strip(SPACES))]
    known = set(map(by, items))
    return bool(wanted) and all(by(part) in known for part in wanted)


@register("stringListMember", 2, 3, weight=8)
def string_list_member(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``stringListMember(x, list[, delimiters])``: whether ``x`` is an item."""
    return _member(args, bytes)


@register("stringListIMember", 2, 3, weight=8)
def string_list_imember(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``stringListIMember(x, list[, delimiters])``: ``stringListMember`` without case."""
    return _member(args, fold_bytes)


@register("stringListSubsetMatch", 2, 3, weight=8)
def string_list_subset(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``stringListSubsetMatch(some, list[, delimiters])``: whether every item of ``some`` is in the list.

    The empty string is a subset of every list, a string of delimiters only of none.
    """
    return _subset(args, bytes)


@register("stringListISubsetMatch", 2, 3, weight=8)
def string_list_isubset(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``stringListISubsetMatch(some, list[, delimiters])``: ``stringListSubsetMatch`` without case."""
    return _subset(args, fold_bytes)


@register("stringList_regexpMember", 2, 4, weight=8, metered=True)
def string_list_regexp_member(args: Sequence[ClassAdValue], env: Environment, meter: Meter) -> ClassAdValue:  # noqa: ARG001
    """``stringList_regexpMember(pattern, list[, delimiters[, options]])``: whether the pattern occurs in an item.

    Options may be upper or lower case here. Undefined for an empty list.
    """
    if not _all_strings(args):
        return ERROR
    pattern, text, *rest = (value for value in args if isinstance(value, str))
    delimiters = _delimiters(rest[0], b"") if rest else _DELIMITERS
    flags = options_of(rest[1].lower()) if len(rest) == 2 else 0
    expression = until_nul(to_bytes(pattern))
    try:
        check_pattern(expression, flags)
    except PatternFailure:
        return ERROR
    items = dict.fromkeys(_items(text, delimiters))
    return any(occurs(expression, item, flags, meter) for item in items) if items else UNDEFINED


@register("stringListsIntersect", 2, 3, selective=True, weight=8)
def string_lists_intersect(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``stringListsIntersect(a, b[, delimiters])``: whether some item is in both. White space is part of an item."""
    try:
        texts = strings(tuple(args))
    except EvaluationFailed:
        return ERROR
    if not isinstance(texts, tuple):
        return texts
    delimiters = (until_nul(to_bytes(texts[2])) if len(texts) == 3 else b"") or b" ,"
    left, right = (set(_parts(until_nul(to_bytes(text)), delimiters)) - {b""} for text in texts[:2])
    return not left.isdisjoint(right)
