"""The results that functions can give, for any arguments, and the calls that are constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from negotiator.classad.functions import FUNCTIONS, PatternFailure, check_pattern, options_of
from negotiator.classad.lint.value_types import (
    ANYTHING,
    BOOLEAN,
    NO_VALUE,
    NUMBER,
    PossibleValue,
    ValueType,
    condition,
    either_of,
    exactly,
)
from negotiator.classad.scalar import Ad, evaluate
from negotiator.classad.syntax import Call, Expr, Literal, Paren, fold
from negotiator.classad.values import to_bytes, until_nul

if TYPE_CHECKING:
    from negotiator.classad.functions import Function

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
_IN_A_ZONE: Final = "get"
"""Functions with this prefix depend on the local time zone."""


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
        return choice(*args)
    if name == "debug":
        return args[0]
    if name in _TESTS:
        return _tested(args[0], _TESTS[name])
    if _is_constant(function):
        constants = [_constant(*each) for each in zip(expr.args, args, items, strict=True)]
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


def choice(test: PossibleValue, yes: PossibleValue, no: PossibleValue) -> PossibleValue:
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


def _constant(expr: Expr, possible: PossibleValue, items: tuple[PossibleValue, ...] | None) -> Expr | None:
    """Return an argument as a constant, None if it has several values; a list stays as written."""
    if items is not None:
        return expr if all(item.value is not None for item in items) else None
    return None if possible.value is None else Literal(possible.value)


def bare(expr: Expr) -> Expr:
    """Return an expression without parentheses around it."""
    while isinstance(expr, Paren):
        expr = expr.inner
    return expr
