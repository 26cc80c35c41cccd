"""Operators whose operands can never give a value: a string with a number, anything with undefined, a string as condition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from negotiator.classad.context import COMPARE
from negotiator.classad.lint.finding import Finding, LintCode
from negotiator.classad.lint.phrases import kind, kinds, outcome
from negotiator.classad.lint.reading import TypedExpression, is_of_an_ad
from negotiator.classad.lint.results import bare
from negotiator.classad.lint.value_types import (
    ANYTHING,
    BOOLEAN,
    NO_VALUE,
    NUMBER,
    UNCONDITIONAL,
    PossibleValue,
    ValueType,
    condition,
)
from negotiator.classad.syntax import (
    Attr,
    Binary,
    Call,
    Conditional,
    Expr,
    Literal,
    Subscript,
    Unary,
    children,
    fold,
)
from negotiator.classad.values import ERROR, UNDEFINED

LOGIC: Final = frozenset({"&&", "||"})
IDENTITY: Final = frozenset({"=?=", "=!="})
_ORDER: Final = frozenset({"<", "<=", ">", ">="})
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_INTEGERS_ONLY: Final = frozenset("%&|^~") | {"<<", ">>", ">>>"}


def operands(reading: TypedExpression) -> Iterator[Finding]:
    """Find the operators that have no rule for what their operands are."""
    for node in reading.nodes:
        if isinstance(node, Binary) and node.op in IDENTITY:
            yield from _never_identical(node, reading)
        elif _is_strict(node) and reading.of(node).is_within(NO_VALUE):
            yield from _no_rule(node, reading)


def _is_strict(node: Expr) -> bool:
    match node:
        case Binary(op):
            return op not in LOGIC
        case Unary(op):
            return op != "!"
        case Attr():
            return not is_of_an_ad(node)
        case _:
            return isinstance(node, Subscript)


def _no_rule(node: Expr, reading: TypedExpression) -> Iterator[Finding]:
    of = [reading.of(child) for child in children(node)]
    result = outcome(reading.of(node))
    if isinstance(node, Binary) and node.op in COMPARE:
        literal = next((each for each in (node.right, node.left) if _is_no_value(each)), None)
        if literal is not None:
            yield Finding(
                LintCode.UNDEFINED_COMPARISON,
                node,
                f"{reading.shown(node)} is never true: it is {result}",
                _instead(node, literal, reading),
            )
            return
    if any(each.is_within(NO_VALUE) for each in of):
        return  # what made them so is told
    compares = isinstance(node, Binary) and node.op in COMPARE
    code = LintCode.STRING_NUMBER if compares and _string_and_number(of) else LintCode.WRONG_OPERAND
    yield Finding(
        code, node, f"{reading.shown(node)} is {result}: {_told(node, of, reading)}", _hint(node, of)
    )


def _never_identical(node: Binary, reading: TypedExpression) -> Iterator[Finding]:
    """``=?=`` of different kinds is false, whatever they are."""
    of = [reading.of(node.left), reading.of(node.right)]
    left, right = map(kinds, of)
    value = reading.of(node).value
    if value is None or not left or not right or left & right:
        return
    code = LintCode.STRING_NUMBER if _string_and_number(of) else LintCode.WRONG_OPERAND
    yield Finding(
        code,
        node,
        f"{reading.shown(node)} is {outcome(reading.of(node))}: {_told(node, of, reading)}",
        _hint(node, of),
    )


def _is_no_value(expr: Expr) -> bool:
    expr = bare(expr)
    return isinstance(expr, Literal) and (expr.value is UNDEFINED or expr.value is ERROR)


def _instead(node: Binary, literal: Expr, reading: TypedExpression) -> str:
    other = reading.shown(node.left if node.right is literal else node.right)
    if node.op == "==":
        return f"write {other} =?= {reading.shown(literal)}"
    asks = "" if node.op == "!=" else "to ask whether there is a value, "
    return f"{asks}write {other} =!= {reading.shown(literal)}"


def _string_and_number(of: list[PossibleValue]) -> bool:
    if len(of) != 2:
        return False
    left, right = map(kinds, of)
    return any(
        one == ValueType.STRING and other and not other & ~NUMBER
        for one, other in ((left, right), (right, left))
    )


def _told(node: Expr, of: list[PossibleValue], reading: TypedExpression) -> str:
    """Say of what kinds the operands are, or what else is wrong with them."""
    numbers = all(not kinds(each) & ~NUMBER for each in of)
    if isinstance(node, Binary) and numbers and node.op not in IDENTITY:
        if node.op in {"/", "%"} and of[1].value == 0:
            return "nothing can be divided by 0"
        if node.op not in _INTEGERS_ONLY:
            return "the result is too large"
    both = zip(children(node), of, strict=True)
    told = [
        f"{reading.shown(child)} is {kind(each)}" for child, each in both if kinds(each) != kinds(ANYTHING)
    ]
    return ", ".join(dict.fromkeys(told))


def _hint(node: Expr, of: list[PossibleValue]) -> str:
    for child in children(node):
        text = _constant_text(child)
        if text is not None and any(kinds(each) and not kinds(each) & ~NUMBER for each in of):
            if text.lower() in {"true", "false"}:
                return f"write {text.lower()} without quotes"
            if is_number(text):
                return f"write {text} without quotes"
    if isinstance(node, Binary) and node.op == "+" and any(kinds(each) == ValueType.STRING for each in of):
        return "strcat() joins strings"
    if isinstance(node, Binary) and node.op in {*COMPARE, *IDENTITY} and _string_and_number(of):
        return "compare strings with strings and numbers with numbers; string(), int() and real() convert"
    if isinstance(node, Binary | Unary) and node.op in _INTEGERS_ONLY:
        return f"{node.op} takes integers"
    if isinstance(node, Binary) and node.op in IDENTITY:
        return "1, 1.0 and true differ here; == compares them as numbers"
    return ""


def _constant_text(expr: Expr) -> str | None:
    expr = bare(expr)
    return expr.value if isinstance(expr, Literal) and isinstance(expr.value, str) else None


def is_number(text: str) -> bool:
    """Return whether a text could stand without its quotes, as a number."""
    return _NUMBER.fullmatch(text) is not None


# -- conditions ------------------------------------------------------------------------------------------------------


def conditions(reading: TypedExpression, *, whole: bool) -> Iterator[Expr]:
    """Give the parts that stand where a condition is wanted; the ``whole`` expression, if its truth counts, last."""
    for node in reading.nodes:
        match node:
            case Binary(op, left, right) if op in LOGIC:
                yield from (left, right)
            case Unary("!", operand):
                yield operand
            case Conditional(test):
                yield test
            case Call(name, args) if fold(name) == "ifthenelse" and len(args) == 3:
                yield args[0]
    if whole:
        yield reading.root


def not_conditions(reading: TypedExpression, *, whole: bool) -> Iterator[Finding]:
    """Find what can never be a condition and stands for one: a string, a list, an ad, a time."""
    for node in map(bare, conditions(reading, whole=whole)):
        possible = reading.of(node)
        if possible.may_be(UNCONDITIONAL) and possible.is_within(UNCONDITIONAL | NO_VALUE):
            result = outcome(condition(possible))
            yield Finding(
                LintCode.NOT_A_CONDITION,
                node,
                f"{reading.shown(node)} is no condition but {kind(possible)}: as one it is {result}",
                "compare it with something" if kinds(possible) == ValueType.STRING else "",
            )


# -- constants in quotes ---------------------------------------------------------------------------------------------


def quoted(reading: TypedExpression) -> Iterator[Finding]:
    """Find comparisons of an attribute with a number or a truth value in quotes: only a string can stand up to them.

    Whether the attribute is one is not known here; where it is, nothing is wrong.
    """
    for node in reading.nodes:
        if not isinstance(node, Binary):
            continue
        for constant, other in ((node.left, node.right), (node.right, node.left)):
            text = _constant_text(constant)
            attribute = bare(other)
            possible = reading.of(attribute)
            if text is None or not isinstance(attribute, Attr) or not possible.may_be(ValueType.STRING):
                continue
            if node.op in _ORDER and is_number(text) and possible.may_be(NUMBER):
                message = (
                    f"{reading.shown(node)} never compares numbers: strings are compared letter by letter"
                )
                yield Finding(
                    LintCode.QUOTED_CONSTANT, node, message, f"for numbers write {text} without quotes"
                )
            elif (
                node.op in {*COMPARE, *IDENTITY}
                and text.lower() in {"true", "false"}
                and possible.may_be(BOOLEAN)
            ):
                message = f"{reading.shown(node)} compares strings: a boolean is never equal to one"
                hint = f"for a boolean write {text.lower()} without quotes"
                yield Finding(LintCode.QUOTED_CONSTANT, node, message, hint)
