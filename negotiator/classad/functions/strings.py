"""Functions of strings: strcat, join, substr, toUpper, toLower, strcmp, stricmp, size, split."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from negotiator.classad.context import AdValue, EvaluationFailed, ListValue
from negotiator.classad.functions.conversions import as_bytes
from negotiator.classad.functions.registry import element_values, register
from negotiator.classad.functions.results import argument_values, string_list
from negotiator.classad.values import (
    ERROR,
    MAX_BYTES,
    SPACES,
    UNDEFINED,
    Exceptional,
    fold_bytes,
    from_bytes,
    to_bytes,
    until_nul,
    wrap32,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from negotiator.classad.context import AdScope, ClassAdValue, Environment
    from negotiator.classad.syntax import Expr

_LOWER_TO_UPPER = bytes.maketrans(b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")


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
