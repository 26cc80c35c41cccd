"""Makes expressions of Python objects: what may be assigned to an attribute of a ``ClassAd``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

import attrs

from negotiator.classad.bindings.enumerations import Value
from negotiator.classad.bindings.errors import ClassAdException, ClassAdValueError
from negotiator.classad.bindings.expression_holder import ExpressionHolder
from negotiator.classad.syntax import Expr, ListExpr, Literal, RecordExpr
from negotiator.classad.values import ERROR, UNDEFINED, AbsTime, from_bytes

MAX_DEPTH: Final = 100
"""Lists and mappings inside each other; one that contains itself has no end."""

MAX_ITEMS: Final = 250_000
"""Elements of one value, all lists and mappings together; an iterator may have no end."""

_Item = TypeVar("_Item")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
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
            return string_literal(value)
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


def string_literal(value: str | bytes) -> Literal:
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
