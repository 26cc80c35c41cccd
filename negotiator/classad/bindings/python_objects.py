"""What the Python interface has besides ads and expressions: its enumerations and errors, and Python objects as expressions.

The names and numbers are those of HTCondor's ``classad2``.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, TypeVar

import attrs

from negotiator.classad.scalar import trace
from negotiator.classad.syntax import (
    ClassAdError,
    Expr,
    ListExpr,
    Literal,
    ParseError,
    RecordExpr,
    parse,
    unparse,
)
from negotiator.classad.values import ERROR, UNDEFINED, AbsTime, from_bytes

if TYPE_CHECKING:
    from negotiator.classad.context import Environment
    from negotiator.classad.scalar import TraceStep
    from negotiator.classad.syntax import AttributeMap

CLASSAD_VERSION: Final = "25.14.1"
"""HTCondor's release whose language and bindings this package has."""

_COMPARED_STRING: Final = "strings can only be compared to strings"

MAX_DEPTH: Final = 100
"""Lists and mappings inside each other; one that contains itself has no end."""

MAX_ITEMS: Final = 250_000
"""Elements of one value, all lists and mappings together; an iterator may have no end."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Value(enum.IntEnum):
    """The two values of the language that Python has no type for."""

    Error = 1
    Undefined = 2


class ParserType(enum.IntEnum):
    """The formats that ``parseOne``, ``parseAds`` and ``parseNext`` read.

    ``Auto`` is new syntax or long form, by the first character of each ad. ``FileAuto`` is any of the four, by the beginning
    of the text.
    """

    Auto = -1
    Old = 0
    XML = 1
    JSON = 2
    New = 3
    FileAuto = 4


Parser: Final = ParserType
"""The name that version 1 of HTCondor's bindings had for ``ParserType``."""


class ClassAdException(ClassAdError):  # noqa: N818 - HTCondor's name
    """An ad or an expression could not be parsed, made or evaluated."""


class ClassAdValueError(ClassAdException, ValueError):
    """A text or a value is invalid, where HTCondor's ``classad2`` raises ``ValueError``."""


def version() -> str:
    """Return the version of HTCondor's ClassAd library that this package behaves like."""
    return CLASSAD_VERSION


_Failure = tuple["Expr", "AttributeMap | None", "AttributeMap | None", "Environment"]
_last: list[str | _Failure] = [""]


def note_message(message: str) -> None:
    """Make a message the last error."""
    _last[0] = message


def note_failure(expr: Expr, my: AttributeMap | None, target: AttributeMap | None, env: Environment) -> None:
    """Make an evaluation without a value, or whose value is error, the last error. The reason is found when asked for."""
    _last[0] = (expr, my, target, env)


def lastError() -> str:  # noqa: N802 - HTCondor's name
    """Return why the last text did not parse, or why the last value was an error; "" before the first error."""
    last = _last[0]
    if not isinstance(last, str):
        last = _last[0] = _reason(trace(*last).root)
    return last


def _reason(step: TraceStep) -> str:
    """Return the note of the innermost step whose value is an error."""
    notes: list[str] = []
    pending = [step]
    while pending:
        step = pending.pop()
        if step.note and (step.value is ERROR or step.value is None):
            notes.append(step.note)
        pending += reversed(step.steps)
    note = notes[0] if notes else "the value is error"
    return _COMPARED_STRING if "does not compare" in note and "a string" in note else note


class ExpressionHolder(ABC):
    """An object of the Python interface that stands for an expression."""

    @abstractmethod
    def to_expression(self) -> Expr:
        """Return the expression, which never changes: a later change of the object makes another one."""


_Item = TypeVar("_Item")
_VALUES: Final = {Value.Error: Literal(ERROR), Value.Undefined: Literal(UNDEFINED)}


def to_expression(value: object) -> Expr:
    """Return the expression for a Python object.

    None is undefined; a ``datetime`` is an absolute time, in local time if it has no zone; a mapping is an ad; bytes are a
    string; any other iterable is a list. As in HTCondor a string ends at its first NUL.

    :raises ClassAdException: no expression stands for the object, or it is too deep or too large.
    """
    return _Conversion().expression(value, 0)


def check_name(name: object) -> str:
    """Return the name of an attribute.

    :raises TypeError: it is not a string.
    :raises ClassAdValueError: it has a character that no name can have.
    """
    if not isinstance(name, str):
        raise TypeError("ClassAd keys are strings")
    if "\0" in name:
        raise ClassAdValueError("embedded null character: remove it from the name of the attribute")
    if not name.isascii():
        _check_characters(name)
    return name


@attrs.define
class _Conversion:
    """One conversion. ``items`` counts the elements so far."""

    items: int = 0

    def expression(self, value: object, depth: int) -> Expr:
        if value is None:
            return Literal(UNDEFINED)
        if isinstance(value, ExpressionHolder):
            return value.to_expression()
        if isinstance(value, Value):
            return _VALUES[value]
        if isinstance(value, bool):
            return Literal(value)
        if isinstance(value, str | bytes):
            return _string_literal(value)
        if isinstance(value, int):
            return _integer(value)
        if isinstance(value, float):
            return Literal(float(value))
        if isinstance(value, datetime):
            return Literal(AbsTime(_utc_seconds(value)))
        return self._container(value, depth)

    def _container(self, value: object, depth: int) -> Expr:
        if depth >= MAX_DEPTH:
            raise ClassAdException(f"lists and mappings are nested more than {MAX_DEPTH} deep")
        if not isinstance(value, type) and hasattr(value, "keys") and hasattr(value, "items"):
            return self._record(value.items(), depth)
        if not isinstance(value, Iterable) or isinstance(value, type):
            name = type(value).__name__
            raise ClassAdException(f"Unable to convert Python object to a ClassAd expression: type {name}")
        return ListExpr(tuple([self.expression(each, depth + 1) for each in self._counted(value)]))

    def _record(self, items: Iterable[tuple[object, object]], depth: int) -> Expr:
        named = [(check_name(name), each) for name, each in self._counted(items)]
        return RecordExpr(tuple([(name, self.expression(each, depth + 1)) for name, each in named if name]))

    def _counted(self, items: Iterable[_Item]) -> Iterator[_Item]:
        for each in items:
            self.items += 1
            if self.items > MAX_ITEMS:
                raise ClassAdException(f"the value has more than {MAX_ITEMS} elements")
            yield each


def _integer(value: int) -> Expr:
    if not -(1 << 63) <= value < 1 << 63:
        raise ClassAdValueError("an integer does not fit 64 bits: make it a float or a string")
    return Literal(int(value))


def _string_literal(value: str | bytes) -> Literal:
    """Return the constant for a string, up to its first NUL; bytes that are not UTF-8 are kept.

    :raises ClassAdValueError: a character has no bytes.
    """
    text = from_bytes(value) if isinstance(value, bytes) else value
    text = text.partition("\0")[0]
    if not text.isascii():
        _check_characters(text)
    return Literal(str(text))


def _check_characters(text: str) -> None:
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ClassAdValueError(f"a string has a character without bytes, at offset {error.start}") from None


def _utc_seconds(moment: datetime) -> int:
    """Return the seconds since the epoch of a moment, without fractions; one without a zone is in local time."""
    try:
        return (moment.astimezone(UTC) - _EPOCH) // timedelta(seconds=1)
    except (OverflowError, OSError, ValueError):
        raise ClassAdValueError(f"the time {moment} is out of range") from None


def quote(input: str | None) -> str:  # noqa: A002 - HTCondor's name
    """Return a string in quotes, with escapes, for use in the text of an expression. None is the empty string.

    :raises TypeError: it is neither a string nor None.
    :raises ClassAdValueError: it holds a NUL, or a character without bytes.
    """
    return unparse(_string_literal(_checked(input)))


def unquote(input: str) -> str:  # noqa: A002 - HTCondor's name
    """Return the string of which this is the text in quotes.

    :raises TypeError: it is not a string.
    :raises ClassAdValueError: the text is not that of one string.
    """
    try:
        expr = parse(_checked(input))
    except ParseError as error:
        raise ClassAdValueError(f"Invalid string to unquote: {error}") from None
    if not isinstance(expr, Literal):
        raise ClassAdValueError("String does not parse to a ClassAd literal")
    if not isinstance(expr.value, str):
        raise ClassAdValueError("ClassAd literal is not a string value")
    return expr.value


def _checked(text: object) -> str:
    if text is None:
        return ""
    if not isinstance(text, str):
        raise TypeError(f"argument 1 must be str or None, not {type(text).__name__}")
    if "\0" in text:
        raise ClassAdValueError("embedded null character: remove it from the string")
    return text
