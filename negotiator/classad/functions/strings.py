"""Functions of strings, strcat .. split, and of lists in one string: stringListSize .. stringListsIntersect."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from negotiator.classad.context import AdValue, EvaluationFailed, ListValue
from negotiator.classad.functions.regex import PatternFailure, check_pattern, occurs, options_of
from negotiator.classad.functions.registry import (
    argument_values,
    as_bytes,
    element_values,
    register,
    string_list,
    strings,
)
from negotiator.classad.values import (
    ERROR,
    MAX_BYTES,
    SPACES,
    UNDEFINED,
    Exceptional,
    fold_bytes,
    from_bytes,
    real_prefix,
    to_bytes,
    truncate64,
    until_nul,
    wrap32,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from negotiator.classad.context import AdScope, ClassAdValue, Environment
    from negotiator.classad.functions.registry import Meter
    from negotiator.classad.syntax import Expr

_LOWER_TO_UPPER = bytes.maketrans(b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DELIMITERS = b", "
_MEMBER_DELIMITERS = b", \t\r\n"
_LEAST_REAL32 = 1.1754943508222875e-38
_GREATEST_REAL32 = 3.4028234663852886e38
_INTEGER_BYTES = b"+-0123456789"
_SCANNED = re.compile(rb"[+-]?(?:0x[0-9a-f.]|(?!0x)[0-9]|\.[0-9]|nan|inf(?!i)|infinity)", re.IGNORECASE)


@register("strcat", 0, None, selective=True, levels=1)
def strcat(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``strcat(x, ...)``: the texts joined; the first undefined or error, if any."""
    output = bytearray()
    for value in args:
        piece = as_bytes(value)
        if isinstance(piece, Exceptional):
            return piece
        output += piece
        if len(output) > MAX_BYTES:
            return ERROR
    return from_bytes(bytes(output))


@register("join", 0, None, selective=True, levels=1)
def join(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:
    """``join(separator, x, ...)``, ``join(separator, list)`` or ``join(list)``: the texts joined with the separator.

    Undefined texts are left out, and so are separators before the first text. If all texts and the separator are
    undefined, the value is undefined.
    """
    inside = _list_to_join(args)
    if inside is None:
        return _joined(args)
    return _joined(chain(args[:-1] or [""], element_values(inside, env)))


def _list_to_join(args: Sequence[ClassAdValue]) -> ListValue | None:
    """Return the last of one or two arguments if it is a list; it is evaluated before the first."""
    if len(args) > 2 or not args:
        return None
    try:
        last = args[-1]
    except EvaluationFailed:  # the call fails if it comes to this argument
        return None
    return last if isinstance(last, ListValue) else None


def _joined(pieces: Iterable[ClassAdValue]) -> ClassAdValue:
    output = bytearray()
    between = b""
    undefined = defined = False
    for at, value in enumerate(pieces):
        piece = as_bytes(value)
        if piece is UNDEFINED:
            undefined = True
        elif isinstance(piece, Exceptional):
            return ERROR
        elif at == 0:
            between = piece
        else:
            defined = True
            output += (between if output else b"") + piece
        if len(output) > MAX_BYTES:
            return ERROR
    return UNDEFINED if undefined and not defined else from_bytes(bytes(output))


@register("substr", 2, 3)
def substr(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``substr(s, offset[, length])``: bytes of a string; a negative offset or length counts from its end."""
    if any(value is UNDEFINED for value in args):
        return UNDEFINED
    text, *numbers = args
    if not isinstance(text, str) or any(type(number) is not int for number in numbers):
        return ERROR
    offset, *length = (wrap32(number) for number in numbers if type(number) is int)
    data = to_bytes(text)
    start = max(len(data) + offset, 0) if offset < 0 else min(offset, len(data))
    if not length:
        return from_bytes(data[start:])
    end = start + length[0] if length[0] >= 0 else len(data) + length[0]
    return from_bytes(data[start : max(end, start)])


@register("toUpper", 1, 1)
def to_upper(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``toUpper(x)``: the text of ``x`` with a to z in upper case."""
    data = as_bytes(args[0])
    return data if isinstance(data, Exceptional) else from_bytes(data.translate(_LOWER_TO_UPPER))


@register("toLower", 1, 1)
def to_lower(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``toLower(x)``: the text of ``x`` with A to Z in lower case."""
    data = as_bytes(args[0])
    return data if isinstance(data, Exceptional) else from_bytes(fold_bytes(data))


def _order(left: bytes, right: bytes) -> int:
    return (left > right) - (left < right)


def _compared(args: Sequence[ClassAdValue], *, caseless: bool) -> ClassAdValue:
    if any(value is UNDEFINED for value in args):
        return UNDEFINED
    left, right = (as_bytes(value) for value in args)
    if isinstance(left, Exceptional) or isinstance(right, Exceptional):
        return ERROR
    left, right = until_nul(left), until_nul(right)
    return _order(fold_bytes(left), fold_bytes(right)) if caseless else _order(left, right)


@register("strcmp", 2, 2)
def strcmp(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``strcmp(x, y)``: -1, 0 or 1 if the text of ``x`` is before, equal to or after that of ``y``."""
    return _compared(args, caseless=False)


@register("stricmp", 2, 2)
def stricmp(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``stricmp(x, y)``: ``strcmp`` without the case of ASCII letters."""
    return _compared(args, caseless=True)


@register("size", 1, 1)
def size(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``size(x)``: the number of bytes of a string, of elements of a list, or of attributes of an ad."""
    value = args[0]
    if isinstance(value, str):
        return len(value) if value.isascii() else len(to_bytes(value))
    if isinstance(value, ListValue):
        return len(value.items)
    if isinstance(value, AdValue):
        return len(value.ad)
    return UNDEFINED if value is UNDEFINED else ERROR


@register("split", 1, 2, lazy=True)
def split(args: tuple[Expr, ...], scope: AdScope, env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``split(s[, separators])``: the parts between the separating bytes (comma, space, tab by default).

    White space next to another separator is ignored. Between two equal separators there is an empty string.
    """
    text, *separators = argument_values(args, scope)
    if not isinstance(text, str) or not all(isinstance(value, str) for value in separators):
        return ERROR
    between = to_bytes(separators[0]) if separators and isinstance(separators[0], str) else b", \t"
    return string_list(_split(to_bytes(text), between), scope)


def _split(data: bytes, separators: bytes) -> list[bytes]:
    parts: list[bytes] = []
    start = 0
    previous = b""
    between = re.escape(bytes(sorted(set(separators))))
    found = re.finditer(b"[" + between + b"]", data) if separators else ()
    for separator in found:
        at, byte = separator.start(), separator[0]
        if at > start:
            parts.append(data[start:at])
        elif byte == previous:
            parts.append(b"")
        if byte not in SPACES:
            previous = byte
        start = at + 1
    return [*parts, data[start:]] if start < len(data) else parts


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


def _is_item(args: Sequence[ClassAdValue], by: Callable[[bytes], bytes]) -> ClassAdValue:
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
    return _is_item(args, bytes)


@register("stringListIMember", 2, 3, weight=8)
def string_list_imember(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``stringListIMember(x, list[, delimiters])``: ``stringListMember`` without case."""
    return _is_item(args, fold_bytes)


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
    if not all(isinstance(value, str) for value in args):
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
