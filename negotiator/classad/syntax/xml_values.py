"""Makes expressions of the elements of an ad in XML, as HTCondor prints it: ``<s>``, ``<i>``, ``<l>`` and so on.

Strings and names have the escapes of the language (``C:\\\\Users``, ``\\303\\251``) below those of XML.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from negotiator.classad.syntax.errors import InvalidAdValueError
from negotiator.classad.syntax.lexer import resolve_escapes
from negotiator.classad.syntax.parser import parse
from negotiator.classad.syntax.tree import Expr, ListExpr, Literal, RecordExpr
from negotiator.classad.values import ERROR, UNDEFINED, Exceptional

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,30}")
_REAL: Final = re.compile(r"[+-]?(?:[0-9.]+(?:e[+-]?[0-9]+)?|inf|nan)", re.IGNORECASE)
_INT64: Final = range(-(1 << 63), 1 << 63)


def xml_value(tag: str, attribute: str, text: str, inside: Sequence[tuple[str, Expr]]) -> Expr:
    """Return the expression for an element.

    :param attribute: ``v`` of a ``<b>``.
    :param inside: the names and values of the elements inside it; those in a list have no names.
    :raises ParseError: an expression is invalid.
    :raises InvalidAdValueError: the element does not hold a value of its type.
    """
    match tag:
        case "s":
            return Literal(_string(text))
        case "c":
            return RecordExpr(tuple(inside))
        case "l":
            return ListExpr(tuple(expr for _, expr in inside))
        case "e":
            return parse(text)
        case "un":
            return Literal(UNDEFINED)
        case "er":
            return Literal(ERROR)
        case "at" | "rt":
            quoted = text.strip().replace("\\", "\\\\").replace('"', '\\"')
            return parse(f'{"absTime" if tag == "at" else "relTime"}("{quoted}")')
        case _:
            return Literal(_constant(tag, attribute, text.strip()))


def _string(text: str) -> str:
    value = resolve_escapes(text)
    if value is None:
        raise InvalidAdValueError("a string cannot hold the character NUL")
    return value


def _constant(tag: str, value: str, text: str) -> Exceptional | bool | int | float:
    if tag == "i" and _INTEGER.fullmatch(text):
        return int(text) if int(text) in _INT64 else ERROR  # as in HTCondor; in an expression it would be 0
    if tag == "r" and _REAL.fullmatch(text):
        try:
            return float(text)
        except ValueError:
            pass
    if tag == "b" and value in ("t", "f"):
        return value == "t"
    raise InvalidAdValueError(f"<{tag}> does not hold a value of its type")
