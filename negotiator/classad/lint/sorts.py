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

from negotiator.classad.evaluate import evaluate
from negotiator.classad.operators import BINARY, UNARY, truth
from negotiator.classad.tree import ListExpr, Literal, LiteralValue, RecordExpr
from negotiator.classad.values import ERROR, UNDEFINED, AbsTime, AdValue, Exceptional, ListValue, RelTime

if TYPE_CHECKING:
    from negotiator.classad.values import Value


class Sort(enum.Flag):
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


NOTHING: Final = Sort(0)
BOOLEAN: Final = Sort.TRUE | Sort.FALSE
NO_VALUE: Final = Sort.UNDEFINED | Sort.ERROR
NUMBER: Final = BOOLEAN | Sort.INTEGER | Sort.REAL
TIME: Final = Sort.ABSTIME | Sort.RELTIME
COMPOUND: Final = Sort.LIST | Sort.AD
UNCONDITIONAL: Final = Sort.STRING | COMPOUND | TIME
"""What is an error where a condition is wanted."""
ANY: Final = NO_VALUE | NUMBER | UNCONDITIONAL

_SINGLE: Final = NO_VALUE | BOOLEAN  # the sorts of one value each
_IDENTITY: Final = frozenset({"=?=", "=!="})
_ONE_OF: Final[dict[Sort, Value]] = {
    Sort.UNDEFINED: UNDEFINED,
    Sort.ERROR: ERROR,
    Sort.TRUE: True,
    Sort.FALSE: False,
    Sort.INTEGER: 1,
    Sort.REAL: 1.0,
    Sort.STRING: "a",
    Sort.LIST: evaluate(ListExpr(())),
    Sort.AD: evaluate(RecordExpr(())),
    Sort.ABSTIME: AbsTime(1),
    Sort.RELTIME: RelTime(1.0),
}
_BY_TYPE: Final = {
    int: Sort.INTEGER,
    float: Sort.REAL,
    str: Sort.STRING,
    ListValue: Sort.LIST,
    AdValue: Sort.AD,
    AbsTime: Sort.ABSTIME,
    RelTime: Sort.RELTIME,
}


def sort_of(value: Value) -> Sort:
    """Return the sort of a value."""
    if isinstance(value, Exceptional):
        return Sort.ERROR if value is ERROR else Sort.UNDEFINED
    if isinstance(value, bool):
        return Sort.TRUE if value else Sort.FALSE
    return _BY_TYPE[type(value)]


@attrs.frozen
class Possible:
    """What the value of an expression can be: one of ``sorts``, and ``known`` where it is of the sort of that.

    The value of undefined, error, true and false is known by their sort.
    """

    sorts: Sort
    known: LiteralValue | None = attrs.field(default=None, eq=lambda value: (type(value), repr(value)))

    @property
    def value(self) -> LiteralValue | None:
        """The only value it can be; None where there are more."""
        if self.sorts in _ALONE:
            return _ALONE[self.sorts]
        return self.known if self.known is not None and self.sorts == sort_of(self.known) else None

    def may_be(self, sorts: Sort) -> bool:
        """Return whether it can be of one of these sorts."""
        return bool(self.sorts & sorts)

    def is_within(self, sorts: Sort) -> bool:
        """Return whether it can be of no other sorts than these."""
        return not self.sorts & ~sorts


_ALONE: Final[dict[Sort, LiteralValue]] = {
    Sort.UNDEFINED: UNDEFINED,
    Sort.ERROR: ERROR,
    Sort.TRUE: True,
    Sort.FALSE: False,
}
ANYTHING: Final = Possible(ANY)


def exactly(value: Value) -> Possible:
    """Return what can only be this value (a list or an ad: any)."""
    if isinstance(value, Exceptional | bool | ListValue | AdValue):
        return Possible(sort_of(value))
    return Possible(sort_of(value), value)


def either_of(*choices: Possible) -> Possible:
    """Return what can be any of these."""
    sorts = NOTHING
    known: list[LiteralValue] = []
    for choice in choices:
        sorts |= choice.sorts
        if choice.known is not None:
            known.append(choice.known)
    if not known or any(Literal(each) != Literal(known[0]) for each in known):
        return Possible(sorts)
    sort = sort_of(known[0])
    alike = all(choice.known is not None or not choice.may_be(sort) for choice in choices)
    return Possible(sorts, known[0]) if alike else Possible(sorts)


def without(possible: Possible, sorts: Sort) -> Possible:
    """Return what is left where it is of none of these sorts."""
    rest = possible.sorts & ~sorts
    known = possible.known
    return Possible(rest, known if known is not None and rest & sort_of(known) else None)


def condition(possible: Possible) -> Possible:
    """Return what it is as a condition: true, false, undefined or error."""
    sorts = possible.sorts & _SINGLE
    if possible.may_be(UNCONDITIONAL):
        sorts |= Sort.ERROR
    for sort in possible.sorts & (Sort.INTEGER | Sort.REAL):
        known = possible.known
        sorts |= BOOLEAN if known is None or sort_of(known) is not sort else sort_of(truth(known))
    return Possible(sorts)


def unary(op: str, operand: Possible) -> Possible:
    """Return what an operator makes of an operand."""
    if op == "!":
        operand = condition(operand)
    value = operand.value
    if value is not None:
        return exactly(UNARY[op](value))
    sorts = NOTHING
    for sort in operand.sorts:
        sorts |= _general(sort_of(UNARY[op](_ONE_OF[sort])), exact=sort in _SINGLE)
    return Possible(sorts)


def binary(op: str, left: Possible, right: Possible) -> Possible:
    """Return what an operator makes of two operands."""
    if op in {"&&", "||"}:
        left, right = condition(left), condition(right)
    one, other = left.value, right.value
    if one is not None and other is not None:
        return exactly(BINARY[op](one, other))
    return Possible(_of_sorts(op, left.sorts, right.sorts))


@lru_cache(maxsize=4096)
def _of_sorts(op: str, left: Sort, right: Sort) -> Sort:
    found = NOTHING
    for one in left:
        for other in right:
            found |= _of_pair(op, one, other)
    return found


def _of_pair(op: str, left: Sort, right: Sort) -> Sort:
    """Return what an operator can make of one value of each of two sorts."""
    one, other = _ONE_OF[left], _ONE_OF[right]
    exact = left in _SINGLE and right in _SINGLE
    if op in {"/", "%"} and other is False and not exact:
        other = True  # what is divided by 0 has a result of another sort: below
    result = sort_of(BINARY[op](one, other))
    if op in _IDENTITY and type(one) is not type(other):
        return result
    sorts = _general(result, exact=exact)
    if not exact and result in Sort.INTEGER | Sort.REAL and (op in {"/", "%"} or result is Sort.REAL):
        sorts |= Sort.ERROR  # division by 0, and what is too large
    return sorts


def _general(result: Sort, *, exact: bool) -> Sort:
    """Return what the result for one value of a sort says of all values of the sort."""
    return BOOLEAN if result in BOOLEAN and not exact else result
