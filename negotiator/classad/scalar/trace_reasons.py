"""Why a value is an error, in text for the author of an expression (SEMANTICS sections 3, 4 and 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from negotiator.classad.context import (
    MAX_LEVELS,
    MAX_STEPS,
    AdValue,
    ClassAdValue,
    Exhausted,
    ListValue,
    NoScope,
)
from negotiator.classad.functions import FUNCTIONS, wrong_calls
from negotiator.classad.syntax import (
    SIDES,
    Attr,
    Binary,
    Call,
    Conditional,
    Elvis,
    Expr,
    Literal,
    ParseError,
    Subscript,
    Unary,
    bare,
    fold,
    parse,
)
from negotiator.classad.values import ERROR, UNDEFINED, AbsTime, Exceptional, RelTime

if TYPE_CHECKING:
    from collections.abc import Mapping

    from negotiator.classad.context import EvaluationState

CHAINED: Final = frozenset({"&&", "||"})
GIVEN_UP: Final = "given up"
TOO_DEEP: Final = f"given up: more than {MAX_LEVELS} levels deep"
TOO_LONG: Final = f"given up: more than {MAX_STEPS:,} steps, or too deep for the machine"
CIRCULAR: Final = "it refers to itself"

_KINDS: Final[dict[type, str]] = {
    bool: "a boolean",
    int: "an integer",
    float: "a real",
    str: "a string",
    AbsTime: "an absolute time",
    RelTime: "a relative time",
    ListValue: "a list",
    AdValue: "an ad",
}
_COMPARING: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", "=?=", "=!="})


def kind(value: ClassAdValue) -> str:
    """Return the name of the kind of a value, with an article."""
    return value.value if isinstance(value, Exceptional) else _KINDS[type(value)]


def why_given_up(expr: Expr, state: EvaluationState, failure: Exception) -> str:
    """Return why an evaluation ended without a value at this expression itself, not in a part of it."""
    if isinstance(failure, Exhausted):
        return TOO_LONG
    if isinstance(expr, Attr) and expr.absolute and type(state.base) is NoScope:
        return f"{GIVEN_UP}: no ad to evaluate in"
    if isinstance(expr, Call) and state.levels_left > 0:
        return f"{GIVEN_UP}: invalid arguments of {expr.name}"
    return TOO_DEEP


def why_not_followed(found: Expr, value: ClassAdValue, *, circular: bool) -> str:
    """Return why the expression of an attribute has no steps; empty if it needs none."""
    if value is ERROR:
        return "" if isinstance(found, Literal) and found.value is ERROR else TOO_DEEP
    return CIRCULAR if value is UNDEFINED and circular else ""


def why_no_attribute(expr: Attr, holder: ClassAdValue) -> str:
    """Return the result of selecting an attribute of something that is not an ad."""
    if isinstance(holder, ListValue):
        return "of each element of the list"
    if isinstance(holder, Exceptional):
        scope = None if expr.scope is None else bare(expr.scope)
        side = SIDES.get(fold(scope.name)) if isinstance(scope, Attr) and scope.scope is None else None
        return f"missing {side} ad" if side is not None and holder is UNDEFINED else ""
    return f"{kind(holder)} has no attributes"


def why_error(expr: Expr, values: Mapping[int, ClassAdValue | None]) -> str:
    """Return why an expression is an error; empty if a part of it is one.

    ``values`` has the values of its operands by identity. Missing operands were not evaluated.
    """
    parts = expr.args if isinstance(expr, Call) else operands(expr)
    known = [part.value if isinstance(part, Literal) else values.get(id(part)) for part in map(bare, parts)]
    if ERROR in known:
        return ""
    match expr:
        case Call():
            return _call(expr, known)
        case Conditional() if known[0] is not None:
            return _no_condition(known[0])
        case Binary(op) if op in CHAINED:
            wrong = [
                value for value in known if not (value is None or value is UNDEFINED or _is_number(value))
            ]
            return f"{op} does not take {kind(wrong[0])}" if wrong else ""
        case _:
            evaluated = [value for value in known if value is not None]
            return _operator(expr, evaluated) if evaluated and len(evaluated) == len(known) else ""


def operands(expr: Expr) -> list[Expr]:
    """Return the operands of an operator from left to right: of a chain of ``&&`` or ``||`` all, also of ifThenElse.

    Empty for other expressions, whose parts are evaluated always or never.
    """
    match expr:
        case Binary(op) if op in CHAINED:
            chain: list[Expr] = []
            node: Expr = expr
            while isinstance(node, Binary) and node.op == op:
                chain.append(node.right)
                node = node.left
            return [node, *reversed(chain)]
        case Binary(_, left, right):
            return [left, right]
        case Unary(_, operand):
            return [operand]
        case Subscript(container, index):
            return [container, index]
        case Conditional(test, yes, no):
            return [test, yes, no]
        case Elvis(value, fallback):
            return [value, fallback]
        case Call(name, args) if fold(name) == "ifthenelse" and len(args) == 3:
            return list(args)
        case _:
            return []


def _call(expr: Call, args: list[ClassAdValue | None]) -> str:
    function = FUNCTIONS.get(fold(expr.name))
    if function is None or not function.accepts(len(args)):
        return next(wrong for _, wrong in wrong_calls(Call(expr.name, (Literal(0),) * len(args))))
    if function.name == "ifThenElse" and args[0] is not None:
        return _no_condition(args[0])
    if function.name == "eval" and isinstance(args[0], str):
        return f"eval: {_what_is_wrong(args[0])}"
    kinds = [kind(value) for value in args if value is not None]
    return f"{function.name} fails for {' and '.join(kinds)}" if kinds else f"{function.name} fails"


def _what_is_wrong(text: str) -> str:
    try:
        parse(text)
    except ParseError as error:
        return error.message
    return "the text is an error"


def _no_condition(value: ClassAdValue) -> str:
    return "" if value is UNDEFINED or _is_number(value) else f"{kind(value)} is not a condition"


def _operator(expr: Expr, values: list[ClassAdValue]) -> str:
    kinds = [kind(value) for value in values]
    match expr, values:
        case Subscript(), [ListValue(items), int(index)] if not isinstance(index, bool):
            return f"invalid index {index} for a list of {len(items)}"
        case Subscript(), _:
            return f"[] does not take {' and '.join(kinds)}"
        case Binary("/" | "%"), [_, right] if _is_number(right) and right == 0:
            return "division by zero"
        case Binary("+" | "-" | "*" | "/"), [left, right] if _is_number(left) and _is_number(right):
            return "the result is too large for a real"
        case Binary(op), _ if op in _COMPARING:
            return f"{op} does not compare {kinds[0]} with {kinds[1]}"
        case Binary(op) | Unary(op), _:
            return f"{op} does not take {' and '.join(kinds)}"
    return ""


def _is_number(value: ClassAdValue | None) -> bool:
    return isinstance(value, bool | int | float)
