"""The possible values of an expression of which only the text is known: sets of types, and operators on these sets.

The types are those of the language, except that true and false are separate types. An expression has the set of types of its
possible values, and the value itself if only one is possible. The rules of the operators are not repeated here: each operator
is called with one sample value of each type, and the type of its result is used.
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
    from negotiator.classad.context import ClassAdValue


class ValueType(enum.Flag):
    """The types of values; an instance is a set of them."""

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
"""Types that are an error as a condition."""
ANY: Final = NO_VALUE | NUMBER | UNCONDITIONAL

_SINGLE: Final = NO_VALUE | BOOLEAN  # the types that have one value each
_IDENTITY: Final = frozenset({"=?=", "=!="})
_SAMPLES: Final[dict[ValueType, ClassAdValue]] = {
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


def type_of(value: ClassAdValue) -> ValueType:
    """Return the type of a value."""
    if isinstance(value, Exceptional):
        return ValueType.ERROR if value is ERROR else ValueType.UNDEFINED
    if isinstance(value, bool):
        return ValueType.TRUE if value else ValueType.FALSE
    return _BY_TYPE[type(value)]


@attrs.frozen
class PossibleValue:
    """The possible values of an expression: any value of ``types``; of the type of ``known``, only ``known`` itself.

    Undefined, error, true and false are known by their type.
    """

    types: ValueType
    known: LiteralValue | None = attrs.field(default=None, eq=lambda value: (type(value), repr(value)))

    @property
    def value(self) -> LiteralValue | None:
        """The only possible value; None if there are several."""
        if self.types in _SINGLE_VALUES:
            return _SINGLE_VALUES[self.types]
        return self.known if self.known is not None and self.types == type_of(self.known) else None

    def may_be(self, types: ValueType) -> bool:
        """True if the value can have one of these types."""
        return bool(self.types & types)

    def is_within(self, types: ValueType) -> bool:
        """True if the value can only have these types."""
        return not self.types & ~types


_SINGLE_VALUES: Final[dict[ValueType, LiteralValue]] = {
    ValueType.UNDEFINED: UNDEFINED,
    ValueType.ERROR: ERROR,
    ValueType.TRUE: True,
    ValueType.FALSE: False,
}
ANYTHING: Final = PossibleValue(ANY)


def exactly(value: ClassAdValue) -> PossibleValue:
    """Return the possible value that can only be this one (for a list or an ad: any)."""
    if isinstance(value, Exceptional | bool | ListValue | AdValue):
        return PossibleValue(type_of(value))
    return PossibleValue(type_of(value), value)


def either_of(*choices: PossibleValue) -> PossibleValue:
    """Return the possible value that can be any of these."""
    types = NOTHING
    known: list[LiteralValue] = []
    for choice in choices:
        types |= choice.types
        if choice.known is not None:
            known.append(choice.known)
    if not known or any(Literal(each) != Literal(known[0]) for each in known):
        return PossibleValue(types)
    type_ = type_of(known[0])
    alike = all(choice.known is not None or not choice.may_be(type_) for choice in choices)
    return PossibleValue(types, known[0]) if alike else PossibleValue(types)


def without(possible: PossibleValue, types: ValueType) -> PossibleValue:
    """Return the possible value without these types."""
    rest = possible.types & ~types
    known = possible.known
    return PossibleValue(rest, known if known is not None and rest & type_of(known) else None)


def condition(possible: PossibleValue) -> PossibleValue:
    """Return the possible results of using the value as a condition: true, false, undefined or error."""
    types = possible.types & _SINGLE
    if possible.may_be(UNCONDITIONAL):
        types |= ValueType.ERROR
    for type_ in possible.types & (ValueType.INTEGER | ValueType.REAL):
        known = possible.known
        types |= BOOLEAN if known is None or type_of(known) is not type_ else type_of(truth(known))
    return PossibleValue(types)


def unary(op: str, operand: PossibleValue) -> PossibleValue:
    """Return the possible results of a unary operator."""
    if op == "!":
        operand = condition(operand)
    value = operand.value
    if value is not None:
        return exactly(UNARY[op](value))
    types = NOTHING
    for type_ in operand.types:
        types |= _general(type_of(UNARY[op](_SAMPLES[type_])), exact=type_ in _SINGLE)
    return PossibleValue(types)


def binary(op: str, left: PossibleValue, right: PossibleValue) -> PossibleValue:
    """Return the possible results of a binary operator."""
    if op in {"&&", "||"}:
        left, right = condition(left), condition(right)
    one, other = left.value, right.value
    if one is not None and other is not None:
        return exactly(BINARY[op](one, other))
    return PossibleValue(_of_types(op, left.types, right.types))


@lru_cache(maxsize=4096)
def _of_types(op: str, left: ValueType, right: ValueType) -> ValueType:
    found = NOTHING
    for one in left:
        for other in right:
            found |= _of_pair(op, one, other)
    return found


def _of_pair(op: str, left: ValueType, right: ValueType) -> ValueType:
    """Return the types of an operator's results for values of two types."""
    one, other = _SAMPLES[left], _SAMPLES[right]
    exact = left in _SINGLE and right in _SINGLE
    if op in {"/", "%"} and other is False and not exact:
        other = True  # division by 0 gives an error, which is added below
    result = type_of(BINARY[op](one, other))
    if op in _IDENTITY and type(one) is not type(other):
        return result
    types = _general(result, exact=exact)
    if (
        not exact
        and result in ValueType.INTEGER | ValueType.REAL
        and (op in {"/", "%"} or result is ValueType.REAL)
    ):
        types |= ValueType.ERROR  # division by 0, and results that are too large
    return types


def _general(result: ValueType, *, exact: bool) -> ValueType:
    """Return the types of results for all values of a type, given that for one of them."""
    return BOOLEAN if result in BOOLEAN and not exact else result
