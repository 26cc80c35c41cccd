"""The formats of ads: which one a text is in, where an ad of the new syntax ends, and the values of JSON and XML.

A format is detected by the beginning of a text, never by the name of its file. In JSON, as HTCondor prints it, what JSON
has no value for is a string ``/Expr(...)/``. In XML there are ``<s>``, ``<i>``, ``<l>`` and so on; strings and names
have the escapes of the language (``C:\\\\Users``, ``\\303\\251``) below those of XML.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from negotiator.classad.syntax.errors import InvalidAdValueError, ParseError
from negotiator.classad.syntax.lexer import resolve_escapes
from negotiator.classad.syntax.parser import parse, parse_record
from negotiator.classad.syntax.printing import stored_order, unparse, unparse_old
from negotiator.classad.syntax.tree import Expr, ListExpr, Literal, RecordExpr
from negotiator.classad.values import ERROR, UNDEFINED, Exceptional

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLANK: Final = re.compile(r"[\s\ufeff]*+")
_COMMENTS: Final = re.compile(r"(?:\s++|//[^\n]*+|/\*(?s:.*?)\*/)*")
_LONG: Final = re.compile(
    r"^[ \t]*+(?:'?[A-Za-z_][A-Za-z0-9_.]*+'?[ \t]*+=(?![=~])|\*\*\* |-- )", re.MULTILINE
)
# Brackets in strings, quoted names and comments do not count. A string without an end takes the rest of the text.
_BRACKET: Final = re.compile(
    r"""[][]|"[^"\\]*+(?:\\(?s:.)[^"\\]*+)*(?:"|\Z)|'[^'\\]*+(?:\\(?s:.)[^'\\]*+)*(?:'|\Z)|//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z)"""
)
_EXPRESSION: Final = re.compile(r"/Expr\((.*)\)/", re.DOTALL)
_INT64: Final = range(-(1 << 63), 1 << 63)
_JSON_ESCAPES: Final = str.maketrans(
    {chr(code): f"\\u00{code:02X}" for code in range(1, 32)}
    | {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", '"': '\\"'}
)
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,30}")
_REAL: Final = re.compile(r"[+-]?(?:[0-9.]+(?:e[+-]?[0-9]+)?|inf|nan)", re.IGNORECASE)


class AdFormat(enum.Enum):
    """The formats that ads are printed in."""

    LONG = "long form"
    JSON = "JSON"
    XML = "XML"
    NEW = "new syntax"


def is_blank(head: str) -> bool:
    """True if a text has no characters but blanks and byte order marks."""
    return _BLANK.fullmatch(head) is not None


def detect_format(head: str) -> AdFormat | None:
    """Return the format of a text that begins with ``head``; None if it holds no ads."""
    start = _skip(_BLANK, head, 0)
    first = head[start : start + 1]
    if first == "<":
        return AdFormat.XML
    if first == "/":
        start = _skip(_COMMENTS, head, start)
        first = head[start : start + 1]
    if first and first in "[{":
        inner = _skip(_COMMENTS, head, start + 1)
        second = head[inner : inner + 1]
        if first == "{":
            return AdFormat.NEW if second == "[" else AdFormat.JSON
        return AdFormat.NEW if second.isalpha() or second in ("_", "'", ";") else AdFormat.JSON
    return AdFormat.LONG if _LONG.search(head) else None


def _skip(pattern: re.Pattern[str], head: str, start: int) -> int:
    match = pattern.match(head, start)
    return match.end() if match else start


def record_end(text: str, start: int = 0) -> int:
    """Return the offset after the first ad in square brackets at or after ``start``; -1 if it is not closed."""
    depth = 0
    for match in _BRACKET.finditer(text, start):
        if match[0] == "[":
            depth += 1
        elif match[0] == "]":
            depth -= 1
            if depth <= 0:
                return match.end()
    return -1


def first_record(text: str, start: int = 0) -> RecordExpr:
    """Return the ad at the beginning of a text. Text after the ad is ignored.

    :raises ParseError: there is no ad, or it is invalid.
    """
    end = record_end(text, start)
    record = parse_record(text[start:] if end < 0 else text[start:end])
    if any(not name for name, _ in record.items):
        raise ParseError("the name of an attribute is empty", text[start:end], 1, 1)
    return record


class RecordScanner:
    """Collects the characters of a text until its first ad in square brackets is closed."""

    def __init__(self) -> None:
        self._characters: list[str] = []
        self._depth = 0
        self._inside = ""  # the quote or the comment that the next character is in
        self._escaped = False
        self.complete = False

    @property
    def text(self) -> str:
        """The characters so far."""
        return "".join(self._characters)

    def add(self, character: str) -> None:
        """Add the next character."""
        before = self._characters[-1] if self._characters else ""
        self._characters.append(character)
        if self._inside:
            self._add_inside(before, character)
        elif character in "\"'":
            self._inside = character
        elif before == "/" and character in "/*":
            self._inside = before + character
        elif character == "[":
            self._depth += 1
        elif character == "]":
            self._depth -= 1
            self.complete = self._depth <= 0

    def _add_inside(self, before: str, character: str) -> None:
        if self._inside == "//":
            ended = character == "\n"
        elif self._inside == "/*":
            ended = before == "*" and character == "/"
        else:
            ended = character == self._inside and not self._escaped
            self._escaped = character == "\\" and not self._escaped
        if ended:
            self._inside = ""


class JsonObject(list[tuple[str, object]]):
    """The pairs of an object, in order, since names may differ in case only."""


def json_value(value: object) -> Expr:
    """Return the expression for a value, whose objects are ``JsonObject`` or dicts.

    :raises ParseError: a text in ``/Expr(...)/`` is invalid.
    :raises InvalidAdValueError: no ad can hold the value.
    """
    if isinstance(value, str):
        return _json_string(value)
    if isinstance(value, bool | float):
        return Literal(value)
    if isinstance(value, int):
        return Literal(value if value in _INT64 else 0)  # an integer beyond 64 bits is 0 in ClassAds
    if value is None:
        return Literal(UNDEFINED)
    if isinstance(value, JsonObject):
        return json_record(value)
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return json_record(JsonObject(value.items()))
    if isinstance(value, list | tuple):
        return ListExpr(tuple(map(json_value, value)))
    raise InvalidAdValueError(f"an ad cannot hold a Python {type(value).__name__}")


def json_record(pairs: JsonObject) -> RecordExpr:
    """Return the ad for the pairs of an object; errors as for ``json_value``."""
    for name, _ in pairs:
        check_json_name(name)
    return RecordExpr(tuple((name, json_value(value)) for name, value in pairs))


def _json_string(value: str) -> Expr:
    expression = _EXPRESSION.fullmatch(value)
    if expression:
        return parse(expression[1])
    _check_text(value, "a string")
    return Literal(value)


def check_json_name(name: str) -> None:
    """Check the name of an attribute.

    :raises InvalidAdValueError: no attribute can have it.
    """
    if not name.strip():
        raise InvalidAdValueError("an attribute has no name")
    _check_text(name, "the name of an attribute")


def _check_text(text: str, what: str) -> None:
    if "\0" in text:
        raise InvalidAdValueError(f"{what} holds the character NUL")
    if not text.isascii():
        try:
            text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise InvalidAdValueError(f"{what} holds a character that has no bytes") from None


def json_text(expr: Expr) -> str:
    """Return the text of an expression in JSON, on several lines.

    What JSON has no value for is a string ``/Expr(...)/``: expressions, times, error, infinite numbers.
    """
    out: list[str] = []
    pending: list[tuple[str | Expr, int]] = [(expr, 0)]
    while pending:
        item, indent = pending.pop()
        if isinstance(item, str):
            out.append(item)
        elif isinstance(item, ListExpr | RecordExpr):
            parts = [(part, indent + 2) for part in _container(item, indent)]
            pending += reversed(parts)
        else:
            out.append(_printed(item))
    return "".join(out)


def _container(container: ListExpr | RecordExpr, indent: int) -> Iterator[str | Expr]:
    """Yield the texts and the values that a list or an ad consists of."""
    if isinstance(container, ListExpr):
        opening, closing = "[]"
        items = [("", item) for item in container.items]
    else:
        opening, closing = "{}"
        items = [(f"{_quoted(name)}: ", expr) for name, expr in stored_order(container.items)]
    yield opening
    for position, (label, expr) in enumerate(items):
        yield f"{',' if position else ''}\n{' ' * (indent + 2)}{label}"
        yield expr
    yield f"\n{' ' * indent}{closing}"


def _printed(expr: Expr) -> str:
    value = expr.value if isinstance(expr, Literal) else None
    if isinstance(value, str):
        return _quoted(value)
    if value is UNDEFINED:
        return "null"
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return unparse_old(Literal(value))  # a constant relTime("5") has a real as its value
    return f'"\\/Expr({unparse(expr).translate(_JSON_ESCAPES)})\\/"'


def _quoted(text: str) -> str:
    return f'"{text.translate(_JSON_ESCAPES)}"'


def xml_value(tag: str, attribute: str, text: str, inside: Sequence[tuple[str, Expr]]) -> Expr:
    """Return the expression for an element.

    :param attribute: ``v`` of a ``<b>``.
    :param inside: the names and values of the elements inside it; those in a list have no names.
    :raises ParseError: an expression is invalid.
    :raises InvalidAdValueError: the element does not hold a value of its type.
    """
    match tag:
        case "s":
            return Literal(_xml_string(text))
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


def _xml_string(text: str) -> str:
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
