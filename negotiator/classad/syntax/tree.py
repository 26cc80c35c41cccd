"""The tree of an expression: immutable nodes. Equal nodes mean the same.

Trees are cache keys, so literals compare by type too: ``1``, ``1.0`` and ``true`` differ, as do ``0.0`` and ``-0.0``,
although Python calls them equal.
"""

from __future__ import annotations

import enum
from functools import lru_cache
from typing import TypeAlias

import attrs

from negotiator.classad.values import AbsTime, Exceptional, RelTime

LiteralValue: TypeAlias = Exceptional | bool | int | float | str | AbsTime | RelTime


def _typed(value: LiteralValue) -> tuple[type, str]:
    return type(value), repr(value)


class Side(enum.StrEnum):
    """The two ads of a match context: the ad an expression belongs to, and the other one."""

    MY = "MY"
    TARGET = "TARGET"


@attrs.frozen
class Literal:
    """A constant.

    ``relative_time`` is True for a ``relTime("1:00")`` in a text: as in HTCondor its value is a real, but it prints as
    a relative time.
    """

    value: LiteralValue = attrs.field(eq=_typed)
    relative_time: bool = False

    @property
    def printed(self) -> LiteralValue:
        """The value that prints as the constant does."""
        seconds = self.value
        return RelTime(seconds) if self.relative_time and isinstance(seconds, float) else seconds


@attrs.frozen
class Attr:
    """A reference: ``name`` (scope None), ``.name`` (absolute) or ``scope.name``. ``MY.x`` has the scope ``Attr("MY")``.

    ``name`` is as spelled, but compares without case.
    """

    name: str = attrs.field(eq=str.lower)
    scope: Expr | None = None
    absolute: bool = False


@lru_cache(maxsize=1024)
def reference(name: str) -> Attr:
    """Return the reference to an attribute, the same tree each time: what is compiled of a tree is kept with it."""
    return Attr(name)


@attrs.frozen
class AdRef:
    """One of the two ads of a match, also if they define attributes called MY or TARGET.

    No text parses to it. ``bind`` replaces ``MY`` and ``TARGET`` in the expressions of administrators by it, so that a
    user's ad with an attribute called ``TARGET`` cannot redirect them.
    """

    side: Side


@attrs.frozen
class Paren:
    """A parenthesis. It has a node so that an expression prints as it was written."""

    inner: Expr


@attrs.frozen
class Unary:
    """``-``, ``+``, ``!`` or ``~`` before an operand."""

    op: str
    operand: Expr


@attrs.frozen
class Binary:
    """An operator between two operands; ``is`` and ``isnt`` are spelled ``=?=`` and ``=!=``."""

    op: str
    left: Expr
    right: Expr


@attrs.frozen
class Conditional:
    """``test ? yes : no``."""

    test: Expr
    yes: Expr
    no: Expr


@attrs.frozen
class Elvis:
    """``value ?: fallback``."""

    value: Expr
    fallback: Expr


@attrs.frozen
class Subscript:
    """``container[index]``."""

    container: Expr
    index: Expr


@attrs.frozen
class Call:
    """A function call. The name is as spelled, but compares without case."""

    name: str = attrs.field(eq=str.lower)
    args: tuple[Expr, ...] = ()


@attrs.frozen
class ListExpr:
    """``{ a, b }``."""

    items: tuple[Expr, ...]


@attrs.frozen
class RecordExpr:
    """``[ a = 1; b = 2 ]``: attribute names and their expressions, as written."""

    items: tuple[tuple[str, Expr], ...]


Expr: TypeAlias = (
    Literal
    | Attr
    | AdRef
    | Paren
    | Unary
    | Binary
    | Conditional
    | Elvis
    | Subscript
    | Call
    | ListExpr
    | RecordExpr
)
