"""Finds expressions and clauses that are always true, always false, never true, ..."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from negotiator.classad.lint.finding import Finding, LintCode
from negotiator.classad.lint.operands import LOGIC, conditions
from negotiator.classad.lint.phrases import outcome
from negotiator.classad.lint.results import bare
from negotiator.classad.lint.typed_expression import TypedExpression, parts
from negotiator.classad.lint.value_types import NO_VALUE, PossibleValue, ValueType, condition
from negotiator.classad.syntax import Attr, Binary, Call, Conditional, Expr, Literal, children, fold, tree_key
from negotiator.classad.values import ERROR, UNDEFINED, Exceptional

_BY_VALUE: Final = {
    True: LintCode.ALWAYS_TRUE,
    False: LintCode.ALWAYS_FALSE,
    UNDEFINED: LintCode.ALWAYS_UNDEFINED,
    ERROR: LintCode.ALWAYS_ERROR,
}


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
