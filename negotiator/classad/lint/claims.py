"""What can be said of the whole expression, and of its clauses: always true, always false, never true, ..."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from negotiator.classad.lint.finding import Finding, LintCode
from negotiator.classad.lint.operands import LOGIC, conditions
from negotiator.classad.lint.phrases import outcome
from negotiator.classad.lint.reading import TypedExpression, parts
from negotiator.classad.lint.results import bare
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
    """Return what can be said of an expression that can only be this; None where it is what an expression should be.

    ``truth_counts`` says that it is a condition; of any other its value is looked at, and few things are wrong.
    """
    tested = condition(possible) if truth_counts else possible
    value = tested.value
    if value is not None:
        return _BY_VALUE[value] if isinstance(value, bool | Exceptional) else LintCode.CONSTANT
    if truth_counts and not tested.may_be(ValueType.TRUE):
        return LintCode.NEVER_TRUE
    return LintCode.NEVER_TRUE if tested.is_within(NO_VALUE) else None


def whole(reading: TypedExpression, *, truth_counts: bool) -> Iterator[Finding]:
    """Say what the whole expression always is."""
    possible = reading.of(reading.root)
    code = of_whole(possible, truth_counts=truth_counts)
    if code is not None:
        message = f"{reading.shown(reading.root)} is {_said(code, possible, truth_counts=truth_counts)}"
        yield Finding(code, reading.root, message)


def _said(code: LintCode, possible: PossibleValue, *, truth_counts: bool) -> str:
    if code is LintCode.NEVER_TRUE:
        return f"never true: it is {outcome(condition(possible) if truth_counts else possible)}"
    if truth_counts and possible.sorts != condition(possible).sorts:
        return f"{outcome(possible)}, as a condition {outcome(condition(possible))}"
    return outcome(possible)


def clauses(reading: TypedExpression, found: Collection[int]) -> Iterator[Finding]:
    """Find conditions inside the expression that are decided before any ad is looked at.

    Where that follows from what was ``found`` inside of one, it is not told again.
    """
    explained = set(found)
    places = {id(bare(node)) for node in conditions(reading, whole=False)}
    root = bare(reading.root)
    for node in reading.nodes:
        is_missing = isinstance(node, Attr) and reading.of(node).value is not None  # TARGET.x, and no TARGET
        if is_missing or _has_constant(node) or any(id(child) in explained for child in children(node)):
            explained.add(id(node))
        if id(node) in explained or id(node) not in places or node is root or isinstance(node, Literal):
            continue
        tested = condition(reading.of(node))
        code = of_whole(tested, truth_counts=False)
        if code is not None:
            explained.add(id(node))
            yield Finding(code, node, f"{reading.shown(node)} is {_said(code, tested, truth_counts=False)}")


def _has_constant(node: Expr) -> bool:
    """Return whether ``constants`` tells of an operand."""
    test = _test(node)
    if test is not None:
        return isinstance(test, Literal)
    return isinstance(node, Binary) and node.op in LOGIC and any(map(_stands_alone, (node.left, node.right)))


def _test(node: Expr) -> Expr | None:
    """Return what a node chooses a branch by."""
    match node:
        case Conditional(test):
            return bare(test)
        case Call(name, args) if fold(name) == "ifthenelse" and len(args) == 3:
            return bare(args[0])
        case _:
            return None


def _stands_alone(operand: Expr) -> bool:
    operand = bare(operand)
    return isinstance(operand, Literal) and not isinstance(operand.value, str)


def constants(reading: TypedExpression) -> Iterator[Finding]:
    """Find constants that stand as a condition of their own."""
    for node in reading.nodes:
        test = _test(node)
        if isinstance(test, Literal):
            message = f"{reading.shown(test)} is no question: one of the branches is never taken"
            yield Finding(LintCode.CONSTANT_OPERAND, test, message, "leave out the other")
        elif isinstance(node, Binary) and node.op in LOGIC:
            for operand in filter(_stands_alone, (node.left, node.right)):
                effect = _effect(node.op, reading.of(operand))
                message = f"{reading.shown(bare(operand))} stands as a condition of its own: {effect}"
                yield Finding(
                    LintCode.CONSTANT_OPERAND, bare(operand), message, "leave it out, if it is not meant"
                )


def _effect(op: str, operand: PossibleValue) -> str:
    value = condition(operand).value
    if value is (op == "&&"):
        return "it changes nothing"
    return f"what it is joined to by {op} can never be {'true' if op == '&&' else 'false'}"


def duplicates(reading: TypedExpression) -> Iterator[Finding]:
    """Find operands of a chain of ``&&`` or ``||`` that stand in it twice."""
    inner = {
        (node.op, id(bare(operand)))
        for node in reading.nodes
        if isinstance(node, Binary)
        for operand in (node.left, node.right)
    }
    for node in reading.nodes:
        if not isinstance(node, Binary) or node.op not in LOGIC or (node.op, id(node)) in inner:
            continue
        seen: set[str] = set()
        for operand in _flattened(node):
            key = tree_key(operand)
            if key in seen and not isinstance(operand, Literal) and not _draws(operand):
                message = f"{reading.shown(operand)} stands twice in this chain of {node.op}"
                yield Finding(
                    LintCode.DUPLICATE_OPERAND, operand, message, "is another attribute or value meant?"
                )
            seen.add(key)


def _draws(operand: Expr) -> bool:
    """Return whether an operand can differ from one that is written alike."""
    return any(isinstance(node, Call) and fold(node.name) == "random" for node in parts(operand))


def _flattened(node: Binary) -> Iterator[Expr]:
    pending: list[Expr] = [node]
    while pending:
        operand = bare(pending.pop())
        if isinstance(operand, Binary) and operand.op == node.op:
            pending += (operand.right, operand.left)
        else:
            yield operand
