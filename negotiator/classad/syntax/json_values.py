"""Makes expressions of decoded JSON, as HTCondor prints ads in it. An expression is a string ``/Expr(...)/``."""

from __future__ import annotations

import re
from typing import Final

from negotiator.classad.syntax.errors import InvalidAdValueError
from negotiator.classad.syntax.parser import parse
from negotiator.classad.syntax.tree import Expr, ListExpr, Literal, RecordExpr
from negotiator.classad.values import UNDEFINED

_EXPRESSION: Final = re.compile(r"/Expr\((.*)\)/", re.DOTALL)
_INT64: Final = range(-(1 << 63), 1 << 63)


class JsonObject(list[tuple[str, object]]):
    """The pairs of an object, in order, since names may differ in case only."""


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def json_value(value: object) -> Expr:
    """Return the expression for a value, whose objects are ``JsonObject`` or dicts.

    :raises ParseError: a text in ``/Expr(...)/`` is invalid.
    :raises InvalidAdValueError: no ad can hold the value.
    """
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool | float):
        return Literal(value)
    if isinstance(value, int):
        return Literal(value if value in _INT64 else 0)  # an integer beyond 64 bits is 0 in ClassAds
    if value is None:
        return Literal(UNDEFINED)
    if isinstance(value, JsonObject):
        return _record(value)
    if isinstance(value, dict) and all(map(_is_string, value)):
        return _record(JsonObject(value.items()))
    if isinstance(value, list | tuple):
        return ListExpr(tuple(map(json_value, value)))
    raise InvalidAdValueError(f"an ad cannot hold a Python {type(value).__name__}")


def _record(pairs: JsonObject) -> RecordExpr:
    for name, _ in pairs:
        check_json_name(name)
    return RecordExpr(tuple((name, json_value(value)) for name, value in pairs))


def _string(value: str) -> Expr:
    expression = _EXPRESSION.fullmatch(value)
    if expression:
        return parse(expression[1])
    _check(value, "a string")
    return Literal(value)


def check_json_name(name: str) -> None:
    """Check the name of an attribute.

    :raises InvalidAdValueError: no attribute can have it.
    """
    if not name.strip():
        raise InvalidAdValueError("an attribute has no name")
    _check(name, "the name of an attribute")


def _check(text: str, what: str) -> None:
    if "\0" in text:
        raise InvalidAdValueError(f"{what} holds the character NUL")
    if not text.isascii():
        try:
            text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise InvalidAdValueError(f"{what} holds a character that has no bytes") from None
