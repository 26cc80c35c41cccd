"""What an expression can be, when only its text is known: sorts of values, and what operators make of them.

A *sort* is a kind of value of the language, but that true and false are two. Of an expression the set of sorts is kept
that its value can have, and the value itself where there is only one. What the operators do is not told a second time
here: they are asked what they make of one value of each sort.
"""

from __future__ import annotations

import enum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import attrs

from negotiator.classad.context import BINARY, UNARY, AdValue, ListValue, truth
from negotiator.classad.scalar import evaluate
from negotiator.classad.syntax import ListExpr, Literal, LiteralValue, RecordExpr
from negotiator.classad.values import ERROR, UNDEFINED, AbsTime, Exceptional, RelTime

if TYPE_CHECKING:
    from negotiator.classad.context import Value


class ValueType(enum.Flag):
    """The sorts of values; an instance is a set of them."""

    UNDEFINED = enum.auto()
    ERROR = enum.auto()
    TRUE = enum.auto()
    FALSE = enum.auto()
    INTEGER = enum.auto()
    REAL = enum.auto()
    STRING = enum.auto()
    LIST = enum.auto()
    AD = enum.auto()
    ABSTIME = enum.auto()
    RELTIME = enum.auto()


NOTHING: Final = ValueType(0)
BOOLEAN: Final = ValueType.TRUE | ValueType.FALSE
NO_VALUE: Final = ValueType.UNDEFINED | ValueType.ERROR
NUMBER: Final = BOOLEAN | ValueType.INTEGER | ValueType.REAL
TIME: Final = ValueType.ABSTIME | ValueType.RELTIME
COMPOUND: Final = ValueType.LIST | ValueType.AD
UNCONDITIONAL: Final = ValueType.STRING | COMPOUND | TIME
"""What is an error where a condition is wanted."""
ANY: Final = NO_VALUE | NUMBER | UNCONDITIONAL

_SINGLE: Final = NO_VALUE | BOOLEAN  # the sorts of one value each
_IDENTITY: Final = frozenset({"=?=", "=!="})
_ONE_OF: Final[dict[ValueType, Value]] = {
    ValueType.UNDEFINED: UNDEFINED,
    ValueType.ERROR: ERROR,
    ValueType.TRUE: True,
    ValueType.FALSE: False,
    ValueType.INTEGER: 1,
    ValueType.REAL: 1.0,
    ValueType.STRING: "a",
    ValueType.LIST: evaluate(ListExpr(())),
    ValueType.AD: evaluate(RecordExpr(())),
    ValueType.ABSTIME: AbsTime(1),
    ValueType.RELTIME: RelTime(1.0),
}
_BY_TYPE: Final = {
    int: ValueType.INTEGER,
    float: ValueType.REAL,
    str: ValueType.STRING,
    ListValue: ValueType.LIST,
    AdValue: ValueType.AD,
    AbsTime: ValueType.ABSTIME,
    RelTime: ValueType.RELTIME,
}


def sort_of(value: Value) -> ValueType:
    """Return the sort of a value."""
    if isinstance(value, Exceptional):
        return ValueType.ERROR if value is ERROR else ValueType.UNDEFINED
    if isinstance(value, bool):
        return ValueType.TRUE if value else ValueType.FALSE
    return _BY_TYPE[type(value)]


@attrs.frozen
class PossibleValue:
    """What the value of an expression can be: one of ``sorts``, and ``known`` where it is of the sort of that.

    The value of undefined, error, true and false is known by their sort.
    """

    sorts: ValueType
    known: LiteralValue | None = attrs.field(default=None, eq=lambda value: (type(value), repr(value)))

    @property
    def value(self) -> LiteralValue | None:
        """The only value it can be; None where there are more."""
        if self.sorts in _ALONE:
            return _ALONE[self.sorts]
        return self.known if self.known is not None and self.sorts == sort_of(self.known) else None

    def may_be(self, sorts: ValueType) -> bool:
        """Return whether it can be of one of these sorts."""
        return bool(self.sorts & sorts)

    def is_within(self, sorts: ValueType) -> bool:
        """Return whether it can be of no other sorts than these."""
        return not self.sorts & ~sorts


_ALONE: Final[dict[ValueType, LiteralValue]] = {
    ValueType.UNDEFINED: UNDEFINED,
    ValueType.ERROR: ERROR,
    ValueType.TRUE: True,
    ValueType.FALSE: False,
}
ANYTHING: Final = PossibleValue(ANY)


def exactly(value: Value) -> PossibleValue:
    """Return what can only be this value (a list or an ad: any)."""
    if isinstance(value, Exceptional | bool | ListValue | AdValue):
        return PossibleValue(sort_of(value))
    return PossibleValue(sort_of(value), value)


def either_of(*choices: PossibleValue) -> PossibleValue:
    """Return what can be any of these."""
    sorts = NOTHING
    known: list[LiteralValue] = []
    for choice in choices:
        sorts |= choice.sorts
        if choice.known is not None:
            known.append(choice.known)
    if not known or any(Literal(each) != Literal(known[0]) for each in known):
        return PossibleValue(sorts)
    sort = sort_of(known[0])
    alike = all(choice.known is not None or not choice.may_be(sort) for choice in choices)
    return PossibleValue(sorts, known[0]) if alike else PossibleValue(sorts)


def without(possible: PossibleValue, sorts: ValueType) -> PossibleValue:
    """Return what is left where it is of none of these sorts."""
    rest = possible.sorts & ~sorts
    known = possible.known
    return PossibleValue(rest, known if known is not None and rest & sort_of(known) else None)


def condition(possible: PossibleValue) -> PossibleValue:
    """Return what it is as a condition: true, false, undefined or error."""
    sorts = possible.sorts & _SINGLE
    if possible.may_be(UNCONDITIONAL):
        sorts |= ValueType.ERROR
    for sort in possible.sorts & (ValueType.INTEGER | ValueType.REAL):
        known = possible.known
        sorts |= BOOLEAN if known is None or sort_of(known) is not sort else sort_of(truth(known))
    return PossibleValue(sorts)


def unary(op: str, operand: PossibleValue) -> PossibleValue:
    """Return what an operator makes of an operand."""
    if op == "!":
        operand = condition(operand)
    value = operand.value
    if value is not None:
        return exactly(UNARY[op](value))
    sorts = NOTHING
    for sort in operand.sorts:
        sorts |= _general(sort_of(UNARY[op](_ONE_OF[sort])), exact=sort in _SINGLE)
    return PossibleValue(sorts)


def binary(op: str, left: PossibleValue, right: PossibleValue) -> PossibleValue:
    """Return what an operator makes of two operands."""
    if op in {"&&", "||"}:
        left, right = condition(left), condition(right)
    one, other = left.value, right.value
    if one is not None and other is not None:
        return exactly(BINARY[op](one, other))
    return PossibleValue(_of_sorts(op, left.sorts, right.sorts))


@lru_cache(maxsize=4096)
def _of_sorts(op: str, left: ValueType, right: ValueType) -> ValueType:
    found = NOTHING
    for one in left:
        for other in right:
            found |= _of_pair(op, one, other)
    return found


def _of_pair(op: str, left: ValueType, right: ValueType) -> ValueType:
    """Return what an operator can make of one value of each of two sorts."""
    one, other = _ONE_OF[left], _ONE_OF[right]
    exact = left in _SINGLE and right in _SINGLE
    if op in {"/", "%"} and other is False and not exact:
        other = True  # what is divided by 0 has a result of another sort: below
    result = sort_of(BINARY[op](one, other))
    if op in _IDENTITY and type(one) is not type(other):
        return result
    sorts = _general(result, exact=exact)
    if (
        not exact
        and result in ValueType.INTEGER | ValueType.REAL
        and (op in {"/", "%"} or result is ValueType.REAL)
    ):
        sorts |= ValueType.ERROR  # division by 0, and what is too large
    return sorts


def _general(result: ValueType, *, exact: bool) -> ValueType:
    """Return what the result for one value of a sort says of all values of the sort."""
    return BOOLEAN if result in BOOLEAN and not exact else result
