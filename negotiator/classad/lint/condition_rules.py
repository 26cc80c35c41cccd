"""Finds operators that can never give a value, and expressions and clauses whose value is always the same.

A string with a number, undefined in a comparison, a string as condition; always true, always false, never true.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from negotiator.classad.context import COMPARE
from negotiator.classad.lint.findings import Finding, LintCode, kind, kinds, outcome
from negotiator.classad.lint.typed_expression import TypedExpression, is_of_an_ad, parts
from negotiator.classad.lint.value_types import (
    ANYTHING,
    BOOLEAN,
    IDENTITY,
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
    bare,
    children,
    fold,
    tree_key,
)
from negotiator.classad.values import ERROR, UNDEFINED, Exceptional

LOGIC: Final = frozenset({"&&", "||"})
_ORDER: Final = frozenset({"<", "<=", ">", ">="})
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_INTEGERS_ONLY: Final = frozenset("%&|^~") | {"<<", ">>", ">>>"}
_BY_VALUE: Final = {
    True: LintCode.ALWAYS_TRUE,
    False: LintCode.ALWAYS_FALSE,
    UNDEFINED: LintCode.ALWAYS_UNDEFINED,
    ERROR: LintCode.ALWAYS_ERROR,
}


def operands(typed: TypedExpression) -> Iterator[Finding]:
    """Find operators that are not defined for the types of their operands."""
    for node in typed.nodes:
        if isinstance(node, Binary) and node.op in IDENTITY:
            yield from _never_identical(node, typed)
        elif _is_strict(node) and typed.value_of(node).is_within(NO_VALUE):
            yield from _undefined_operation(node, typed)


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


def _undefined_operation(node: Expr, typed: TypedExpression) -> Iterator[Finding]:
    of = [typed.value_of(child) for child in children(node)]
    result = outcome(typed.value_of(node))
    if isinstance(node, Binary) and node.op in COMPARE:
        literal = next((each for each in (node.right, node.left) if _is_no_value(each)), None)
        if literal is not None:
            yield Finding(
                LintCode.UNDEFINED_COMPARISON,
                node,
                f"{typed.shown(node)} is never true: it is {result}",
                _instead(node, literal, typed),
            )
            return
    if any(each.is_within(NO_VALUE) for each in of):
        return  # reported where the operand is computed
    compares = isinstance(node, Binary) and node.op in COMPARE
    code = LintCode.STRING_NUMBER if compares and _string_and_number(of) else LintCode.WRONG_OPERAND
    yield Finding(
        code, node, f"{typed.shown(node)} is {result}: {_explanation(node, of, typed)}", _hint(node, of)
    )


def _never_identical(node: Binary, typed: TypedExpression) -> Iterator[Finding]:
    """``=?=`` of different types is always false."""
    of = [typed.value_of(node.left), typed.value_of(node.right)]
    left, right = map(kinds, of)
    value = typed.value_of(node).value
    if value is None or not left or not right or left & right:
        return
    code = LintCode.STRING_NUMBER if _string_and_number(of) else LintCode.WRONG_OPERAND
    yield Finding(
        code,
        node,
        f"{typed.shown(node)} is {outcome(typed.value_of(node))}: {_explanation(node, of, typed)}",
        _hint(node, of),
    )


def _is_no_value(expr: Expr) -> bool:
    expr = bare(expr)
    return isinstance(expr, Literal) and (expr.value is UNDEFINED or expr.value is ERROR)


def _instead(node: Binary, literal: Expr, typed: TypedExpression) -> str:
    other = typed.shown(node.left if node.right is literal else node.right)
    if node.op == "==":
        return f"write {other} =?= {typed.shown(literal)}"
    purpose = "" if node.op == "!=" else "to test whether there is a value, "
    return f"{purpose}write {other} =!= {typed.shown(literal)}"


def _string_and_number(of: list[PossibleValue]) -> bool:
    if len(of) != 2:
        return False
    left, right = map(kinds, of)
    return any(
        one == ValueType.STRING and other and not other & ~NUMBER
        for one, other in ((left, right), (right, left))
    )


def _explanation(node: Expr, of: list[PossibleValue], typed: TypedExpression) -> str:
    """Return the types of the operands, or what else is wrong with them."""
    numbers = all(not kinds(each) & ~NUMBER for each in of)
    if isinstance(node, Binary) and numbers and node.op not in IDENTITY:
        if node.op in {"/", "%"} and of[1].value == 0:
            return "nothing can be divided by 0"
        if node.op not in _INTEGERS_ONLY:
            return "the result is too large"
    both = zip(children(node), of, strict=True)
    types = [
        f"{typed.shown(child)} is {kind(each)}" for child, each in both if kinds(each) != kinds(ANYTHING)
    ]
    return ", ".join(dict.fromkeys(types))


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
    """True if a text would be a number without its quotes."""
    return _NUMBER.fullmatch(text) is not None


# -- conditions ------------------------------------------------------------------------------------------------------


def conditions(typed: TypedExpression, *, whole: bool) -> Iterator[Expr]:
    """Yield the parts that are used as conditions; with ``whole``, the expression itself last."""
    for node in typed.nodes:
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
        yield typed.root


def not_conditions(typed: TypedExpression, *, whole: bool) -> Iterator[Finding]:
    """Find values used as conditions that cannot be one: strings, lists, ads, times."""
    for node in map(bare, conditions(typed, whole=whole)):
        possible = typed.value_of(node)
        if possible.may_be(UNCONDITIONAL) and possible.is_within(UNCONDITIONAL | NO_VALUE):
            result = outcome(condition(possible))
            yield Finding(
                LintCode.NOT_A_CONDITION,
                node,
                f"{typed.shown(node)} is {kind(possible)}, not a condition: as a condition it is {result}",
                "compare it with something" if kinds(possible) == ValueType.STRING else "",
            )


# -- constants in quotes ---------------------------------------------------------------------------------------------


def quoted(typed: TypedExpression) -> Iterator[Finding]:
    """Find comparisons of an attribute with a number or a boolean in quotes, which only strings can equal.

    Whether the attribute is a string is not known here; if it is, nothing is wrong.
    """
    for node in typed.nodes:
        if not isinstance(node, Binary):
            continue
        for constant, other in ((node.left, node.right), (node.right, node.left)):
            text = _constant_text(constant)
            attribute = bare(other)
            possible = typed.value_of(attribute)
            if text is None or not isinstance(attribute, Attr) or not possible.may_be(ValueType.STRING):
                continue
            if node.op in _ORDER and is_number(text) and possible.may_be(NUMBER):
                message = f"{typed.shown(node)} never compares numbers: strings are compared letter by letter"
                yield Finding(
                    LintCode.QUOTED_CONSTANT, node, message, f"for numbers write {text} without quotes"
                )
            elif (
                node.op in {*COMPARE, *IDENTITY}
                and text.lower() in {"true", "false"}
                and possible.may_be(BOOLEAN)
            ):
                message = f"{typed.shown(node)} compares strings: a boolean is never equal to one"
                hint = f"for a boolean write {text.lower()} without quotes"
                yield Finding(LintCode.QUOTED_CONSTANT, node, message, hint)


def of_whole(possible: PossibleValue, *, truth_counts: bool) -> LintCode | None:
    """Return the finding for an expression that can be this; None if there is nothing wrong.

    ``truth_counts``: the expression is a condition.
    """
    tested = condition(possible) if truth_counts else possible
    value = tested.value
    if value is not None:
        return _BY_VALUE[value] if isinstance(value, bool | Exceptional) else LintCode.CONSTANT
    if truth_counts and not tested.may_be(ValueType.TRUE):
        return LintCode.NEVER_TRUE
    return LintCode.NEVER_TRUE if tested.is_within(NO_VALUE) else None


def whole(typed: TypedExpression, *, truth_counts: bool) -> Iterator[Finding]:
    """Find a whole expression whose result is always the same, or never true."""
    possible = typed.value_of(typed.root)
    code = of_whole(possible, truth_counts=truth_counts)
    if code is not None:
        message = f"{typed.shown(typed.root)} is {_claim(code, possible, truth_counts=truth_counts)}"
        yield Finding(code, typed.root, message)


def _claim(code: LintCode, possible: PossibleValue, *, truth_counts: bool) -> str:
    if code is LintCode.NEVER_TRUE:
        return f"never true: it is {outcome(condition(possible) if truth_counts else possible)}"
    if truth_counts and possible.types != condition(possible).types:
        return f"{outcome(possible)}, as a condition {outcome(condition(possible))}"
    return outcome(possible)


def clauses(typed: TypedExpression, found: Collection[int]) -> Iterator[Finding]:
    """Find conditions inside the expression whose result does not depend on any ad.

    Those that follow from findings inside them (``found``, by identity) are not reported again.
    """
    explained = set(found)
    places = {id(bare(node)) for node in conditions(typed, whole=False)}
    root = bare(typed.root)
    for node in typed.nodes:
        is_missing = (
            isinstance(node, Attr) and typed.value_of(node).value is not None
        )  # TARGET.x, and no TARGET
        if is_missing or _has_constant(node) or any(id(child) in explained for child in children(node)):
            explained.add(id(node))
        if id(node) in explained or id(node) not in places or node is root or isinstance(node, Literal):
            continue
        tested = condition(typed.value_of(node))
        code = of_whole(tested, truth_counts=False)
        if code is not None:
            explained.add(id(node))
            yield Finding(code, node, f"{typed.shown(node)} is {_claim(code, tested, truth_counts=False)}")


def _has_constant(node: Expr) -> bool:
    """True if ``constants`` reports an operand."""
    test = _test(node)
    if test is not None:
        return isinstance(test, Literal)
    return (
        isinstance(node, Binary)
        and node.op in LOGIC
        and any(map(_is_constant_condition, (node.left, node.right)))
    )


def _test(node: Expr) -> Expr | None:
    """Return the test by which a node chooses a branch, None for other nodes."""
    match node:
        case Conditional(test):
            return bare(test)
        case Call(name, args) if fold(name) == "ifthenelse" and len(args) == 3:
            return bare(args[0])
        case _:
            return None


def _is_constant_condition(operand: Expr) -> bool:
    operand = bare(operand)
    return isinstance(operand, Literal) and not isinstance(operand.value, str)


def constants(typed: TypedExpression) -> Iterator[Finding]:
    """Find constants that are a condition by themselves."""
    for node in typed.nodes:
        test = _test(node)
        if isinstance(test, Literal):
            message = f"{typed.shown(test)} is a constant test: one of the branches is never taken"
            yield Finding(LintCode.CONSTANT_OPERAND, test, message, "leave out the other branch")
        elif isinstance(node, Binary) and node.op in LOGIC:
            for operand in filter(_is_constant_condition, (node.left, node.right)):
                effect = _effect(node.op, typed.value_of(operand))
                message = f"{typed.shown(bare(operand))} is a condition by itself: {effect}"
                yield Finding(
                    LintCode.CONSTANT_OPERAND, bare(operand), message, "leave it out, if it is not intended"
                )


def _effect(op: str, operand: PossibleValue) -> str:
    value = condition(operand).value
    if value is (op == "&&"):
        return "it changes nothing"
    return f"the other operands of {op} can never make it {'true' if op == '&&' else 'false'}"


def duplicates(typed: TypedExpression) -> Iterator[Finding]:
    """Find operands that occur twice in a chain of ``&&`` or ``||``."""
    inner = {
        (node.op, id(bare(operand)))
        for node in typed.nodes
        if isinstance(node, Binary)
        for operand in (node.left, node.right)
    }
    for node in typed.nodes:
        if not isinstance(node, Binary) or node.op not in LOGIC or (node.op, id(node)) in inner:
            continue
        seen: set[str] = set()
        for operand in _flattened(node):
            key = tree_key(operand)
            if key in seen and not isinstance(operand, Literal) and not _is_random(operand):
                message = f"{typed.shown(operand)} occurs twice in this chain of {node.op}"
                yield Finding(
                    LintCode.DUPLICATE_OPERAND, operand, message, "is another attribute or value intended?"
                )
            seen.add(key)


def _is_random(operand: Expr) -> bool:
    """True if two operands with the same text can differ."""
    return any(isinstance(node, Call) and fold(node.name) == "random" for node in parts(operand))


def _flattened(node: Binary) -> Iterator[Expr]:
    pending: list[Expr] = [node]
    while pending:
        operand = bare(pending.pop())
        if isinstance(operand, Binary) and operand.op == node.op:
            pending += (operand.right, operand.left)
        else:
            yield operand
