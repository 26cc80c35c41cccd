"""The possible values of an expression of which only the text is known: sets of types, and operators and calls on these sets.

The types are those of the language, except that true and false are separate types. An expression has the set of types of its
possible values, and the value itself if only one is possible. The rules of the operators are not repeated here: each operator
is called with one sample value of each type, and the type of its result is used. Of a function the types of its results
are listed; a call that is a constant is evaluated.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import attrs

from negotiator.classad.context import BINARY, UNARY, AdValue, ListValue, truth
from negotiator.classad.functions import FUNCTIONS, PatternFailure, check_pattern, options_of
from negotiator.classad.scalar import Ad, evaluate
from negotiator.classad.syntax import Call, Expr, ListExpr, Literal, LiteralValue, RecordExpr, fold
from negotiator.classad.values import ERROR, UNDEFINED, AbsTime, Exceptional, RelTime, to_bytes, until_nul

if TYPE_CHECKING:
    from negotiator.classad.context import ClassAdValue
    from negotiator.classad.functions import Function

IDENTITY: Final = frozenset({"=?=", "=!="})

_OPTIONS_AT: Final = {
    "regexp": 2,
    "regexpmember": 2,
    "regexps": 3,
    "replace": 3,
    "replaceall": 3,
    "stringlist_regexpmember": 3,
}
"""The functions whose first argument is a pattern, and the index of the argument with its options."""

_NEEDS_PATTERN: Final = _OPTIONS_AT.keys() - {
    "regexpmember"
}  # whose invalid pattern simply matches no element

_IN_A_ZONE: Final = "get"
"""Functions with this prefix depend on the local time zone."""


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
    if op in IDENTITY and type(one) is not type(other):
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


_RESULTS: Final[tuple[tuple[ValueType, str], ...]] = (
    (BOOLEAN | NO_VALUE, "bool regexp regexpMember member identicalMember anyCompare allCompare"),
    (BOOLEAN | NO_VALUE, "stringListMember stringListIMember stringListSubsetMatch stringListISubsetMatch"),
    (BOOLEAN | NO_VALUE, "stringList_regexpMember stringListsIntersect"),
    (BOOLEAN | NO_VALUE, "versionLT versionLE versionGT versionGE versionEQ version_in_range"),
    (ValueType.INTEGER, "time"),
    (
        ValueType.INTEGER | NO_VALUE,
        "int floor ceil ceiling round size strcmp stricmp versioncmp stringListSize",
    ),
    (ValueType.INTEGER | NO_VALUE, "getYear getMonth getDayOfYear getDayOfMonth getDayOfWeek countMatches"),
    (ValueType.INTEGER | NO_VALUE, "getDays getHours getMinutes getSeconds"),
    (ValueType.REAL | NO_VALUE, "real"),
    (ValueType.INTEGER | ValueType.REAL | NO_VALUE, "pow random"),
    (
        ValueType.INTEGER | ValueType.REAL | NO_VALUE,
        "stringListSum stringListAvg stringListMin stringListMax",
    ),
    (NUMBER | NO_VALUE, "sum avg min max"),
    (ValueType.STRING | NO_VALUE, "string strcat join substr toUpper toLower regexps replace replaceall"),
    (ValueType.STRING | NO_VALUE, "interval mergeEnvironment envV1ToV2 listToArgs formatTime unparse"),
    (ValueType.STRING | BOOLEAN | NO_VALUE, "unresolved"),
    (ValueType.LIST | NO_VALUE, "split argsToList splitUserName splitSlotName evalInEachContext"),
    (ValueType.AD | NO_VALUE, "splitTime"),
    (ValueType.ABSTIME, "currentTime"),
    (ValueType.RELTIME, "dayTime timeZoneOffset"),
    (ValueType.RELTIME | NO_VALUE, "relTime"),
)
_BY_NAME: Final = {fold(name): PossibleValue(types) for types, names in _RESULTS for name in names.split()}

_TESTS: Final = {
    "isundefined": ValueType.UNDEFINED,
    "iserror": ValueType.ERROR,
    "isboolean": BOOLEAN,
    "isinteger": ValueType.INTEGER,
    "isreal": ValueType.REAL,
    "isstring": ValueType.STRING,
    "islist": ValueType.LIST,
    "isclassad": ValueType.AD,
    "isabstime": ValueType.ABSTIME,
    "isreltime": ValueType.RELTIME,
}


def of_call(
    expr: Call, args: tuple[PossibleValue, ...], items: Sequence[tuple[PossibleValue, ...] | None]
) -> PossibleValue:
    """Return the possible results of a call.

    ``args`` are the possible values of its arguments; ``items`` those of the elements of each that is written as a list, else
    None.
    """
    name = fold(expr.name)
    function = FUNCTIONS.get(name)
    if function is None or not function.accepts(len(args)):
        return PossibleValue(ValueType.ERROR)
    if name == "ifthenelse":
        return chosen_branch(*args)
    if name == "debug":
        return args[0]
    if name in _TESTS:
        return _tested(args[0], _TESTS[name])
    if _is_constant(function):
        constants = [_constant_argument(*each) for each in zip(expr.args, args, items, strict=True)]
        known = tuple([each for each in constants if each is not None])
        if len(known) == len(args):
            return exactly(evaluate(Call(expr.name, known), Ad()))
    if name in _NEEDS_PATTERN and is_bad_pattern(name, args):
        return PossibleValue(NO_VALUE)
    return _BY_NAME.get(name, ANYTHING)


def takes_pattern(name: str) -> bool:
    """True if the first argument of a function (name in lower case) is a regular expression."""
    return name in _OPTIONS_AT


def is_bad_pattern(name: str, args: Sequence[PossibleValue]) -> bool:
    """True if the pattern of such a call is known and is not a valid regular expression."""
    options_at = _OPTIONS_AT[name]
    pattern = args[0].value
    letters = args[options_at].value if len(args) > options_at else ""
    if not isinstance(pattern, str) or not isinstance(letters, str):
        return False
    letters = letters.lower() if name == "stringlist_regexpmember" else letters
    try:
        check_pattern(until_nul(to_bytes(pattern)), options_of(letters))
    except PatternFailure:
        return True
    return False


def _tested(arg: PossibleValue, types: ValueType) -> PossibleValue:
    if not arg.may_be(types):
        return PossibleValue(ValueType.FALSE)
    return PossibleValue(ValueType.TRUE if arg.is_within(types) else BOOLEAN)


def chosen_branch(test: PossibleValue, yes: PossibleValue, no: PossibleValue) -> PossibleValue:
    """Return what ``test ? yes : no`` can be."""
    tested = condition(test)
    chosen = [PossibleValue(tested.types & NO_VALUE)]
    if tested.may_be(ValueType.TRUE):
        chosen.append(yes)
    if tested.may_be(ValueType.FALSE):
        chosen.append(no)
    return either_of(*chosen)


def _is_constant(function: Function) -> bool:
    """True if the function returns the same for constant arguments at any time and place."""
    return function.deterministic and not function.lazy and not fold(function.name).startswith(_IN_A_ZONE)


def _constant_argument(
    expr: Expr, possible: PossibleValue, items: tuple[PossibleValue, ...] | None
) -> Expr | None:
    """Return an argument as a constant, None if it has several values; a list stays as written."""
    if items is not None:
        return expr if all(item.value is not None for item in items) else None
    return None if possible.value is None else Literal(possible.value)
