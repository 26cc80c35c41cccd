"""The parameters and the body of a request, checked by their types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import attrs
import msgspec
from starlette.requests import Request

from negotiator.errors import InvalidCallError

#: Where msgspec's messages name the value.
_WHERE: Final = re.compile(r" - at `\$\.?([^`]*)`$")

T = TypeVar("T")


def read_parameters(request: Request, expected: type[T]) -> T:
    """Return the parameters of the path and the query.

    :raises InvalidCallError: one is unknown, repeated, missing or invalid; the message names it.
    """
    given = dict[str, str](request.path_params)
    for name, value in request.query_params.multi_items():
        if name in given:
            raise InvalidCallError(f"parameter {name[:80]!r} is repeated")
        given[name] = value
    return _converted(given, expected, "parameter", strict=False)


def parse_body(content: bytes, expected: type[T]) -> T:
    """Return the values of a body.

    :raises InvalidCallError: it is not JSON, or a value is unknown, missing or invalid; the message names it.
    """
    try:
        given = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidCallError(f"the body is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise InvalidCallError("the body must be a JSON object")
    return _converted(given, expected, "key", strict=True)


def _converted(given: Mapping[str, Any], expected: type[T], what: str, *, strict: bool) -> T:
    fields = attrs.fields_dict(expected)  # type: ignore[arg-type]  # a class of attrs
    for name in given:
        if name not in fields:
            known = f"known: {', '.join(fields)}" if fields else "none is known here"
            raise InvalidCallError(f"unknown {what} {name[:80]!r} ({known})")
    try:
        found = msgspec.convert(given, expected, strict=strict)
    except msgspec.ValidationError as error:
        text = str(error)
        where = _WHERE.search(text)
        name = f" {where[1]}" if where and where[1] else ""
        raise InvalidCallError(f"{what}{name}: {_WHERE.sub('', text)}") from None
    for name in given:
        if getattr(found, name) is None:  # the text null
            raise InvalidCallError(f"{what} {name}: a value is expected")
    return found
