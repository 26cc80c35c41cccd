"""Computes the possible values of each part of an expression without evaluating it, from the leaves to the root.

The rules are those of evaluation, applied to sets of types (``value_types``). A reference can be anything, unless
``LintFacts`` restricts it. The results hold for every evaluation that ends normally; where HTCondor aborts one (more than
400 levels or 10,000,000 steps, ``random(0)``), there is no value at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Protocol

import attrs

from negotiator.classad.lint.expression_text import ExpressionText
from negotiator.classad.lint.results import bare, choice, of_call
from negotiator.classad.lint.value_types import (
    ANYTHING,
    COMPOUND,
    NO_VALUE,
    PossibleValue,
    ValueType,
    binary,
    either_of,
    exactly,
    unary,
    without,
)
from negotiator.classad.syntax import (
    AdRef,
    Attr,
    Binary,
    Call,
    Conditional,
    Elvis,
    Expr,
    ListExpr,
    Literal,
    Paren,
    RecordExpr,
    Side,
    Subscript,
    Unary,
    children,
    fold,
)

MAX_LEVELS: Final = 380
"""A tree with more levels is not checked: evaluation has 400, for the expressions of attributes too."""

_ELSEWHERE: Final = frozenset({"evalineachcontext", "countmatches"})


class LintFacts(Protocol):
    """The known facts about the ads."""

    @property
    def alone(self) -> bool:
        """True without another ad."""

    def reference(self, expr: Attr) -> PossibleValue:
        """Return the possible values of an attribute that the expression refers to."""


@attrs.frozen
class NoFacts:
    """No facts: any attribute can have any value."""

    alone: bool = False

    def reference(self, expr: Attr) -> PossibleValue:  # noqa: ARG002 - the protocol requires it
        """Return ANYTHING."""
        return ANYTHING


@attrs.frozen(eq=False)
class TypedExpression:
    """An expression and the possible values of each part.

    ``nodes`` are all parts, operands before operators. Those in ``elsewhere`` (by identity) may be evaluated in another ad
    than the one that owns the expression.
    """

    root: Expr
    spelling: ExpressionText
    nodes: tuple[Expr, ...]
    elsewhere: frozenset[int]
    _possible: Mapping[int, PossibleValue]

    def value_of(self, node: Expr) -> PossibleValue:
        """Return the possible values of a part."""
        return self._possible[id(node)]

    def shown(self, node: Expr) -> str:
        """Return a part for a message."""
        return self.spelling.shown(node)


def parts(expr: Expr) -> tuple[Expr, ...]:
    """Return all nodes of a tree, operands first, each once."""
    order: dict[int, Expr] = {}
    pending = [(expr, False)]
    while pending:
        node, visited = pending.pop()
        if visited:
            order.setdefault(id(node), node)
        elif id(node) not in order:
            pending.append((node, True))
            pending.extend((child, False) for child in reversed(children(node)))
    return tuple(order.values())


def is_too_high(expr: Expr) -> bool:
    """True if a tree has more than ``MAX_LEVELS`` levels."""
    level = [expr]
    for _ in range(MAX_LEVELS):
        level = [child for node in level for child in children(node)]
        if not level:
            return False
    return True


def read(expr: Expr, facts: LintFacts, spelling: ExpressionText) -> TypedExpression:
    """Return an expression with the possible values of each part, given the facts."""
    nodes = parts(expr)
    elsewhere = frozenset(id(node) for root in _elsewhere(nodes) for node in parts(root))
    possible: dict[int, PossibleValue] = {}
    for node in nodes:
        if isinstance(node, Attr) and not node.absolute and is_of_an_ad(node) and id(node) not in elsewhere:
            possible[id(node)] = _of_an_ad(node, possible, facts)
        else:
            possible[id(node)] = _possible(node, possible, facts)
    return TypedExpression(expr, spelling, nodes, elsewhere, possible)


def _elsewhere(nodes: tuple[Expr, ...]) -> Iterator[Expr]:
    for node in nodes:
        if isinstance(node, ListExpr | RecordExpr):
            yield from children(node)
        elif isinstance(node, Call) and fold(node.name) in _ELSEWHERE:
            yield from node.args[:1]


def is_of_an_ad(node: Attr) -> bool:
    """True if a reference is an unscoped name, or an attribute of MY or TARGET."""
    return node.scope is None or isinstance(node.scope, AdRef) or _is_name(node.scope)


def _is_name(expr: Expr) -> bool:
    return isinstance(expr, Attr) and expr.scope is None and fold(expr.name) in {"my", "target"}


def _of_an_ad(node: Attr, possible: Mapping[int, PossibleValue], facts: LintFacts) -> PossibleValue:
    if isinstance(node.scope, AdRef) and possible[id(node.scope)].types == ValueType.UNDEFINED:
        return PossibleValue(ValueType.UNDEFINED)
    return facts.reference(node)


def _possible(node: Expr, known: Mapping[int, PossibleValue], facts: LintFacts) -> PossibleValue:
    of = [known[id(child)] for child in children(node)]
    match node:
        case Literal(value):
            return exactly(value)
        case AdRef(side):
            return _ad(side, alone=facts.alone)
        case Attr():
            return _selected(of[0]) if of else ANYTHING
        case Paren():
            return of[0]
        case Unary(op):
            return unary(op, of[0])
        case Binary(op):
            return binary(op, *of)
        case Conditional():
            return choice(*of)
        case Elvis():
            return _or_else(*of)
        case Subscript():
            return _element(*of)
        case Call(_, args):
            return of_call(node, tuple(of), [_items(arg, known) for arg in args])
        case ListExpr():
            return PossibleValue(ValueType.LIST)
        case RecordExpr():
            return PossibleValue(ValueType.AD)


def _ad(side: Side, *, alone: bool) -> PossibleValue:
    """Return what MY or TARGET can be; undefined too, since an expression may be evaluated without such an ad."""
    if side is Side.TARGET and alone:
        return PossibleValue(ValueType.UNDEFINED)
    return PossibleValue(ValueType.AD | ValueType.UNDEFINED)


def _selected(container: PossibleValue) -> PossibleValue:
    """Return what ``container.name`` can be."""
    if container.may_be(ValueType.AD):
        return ANYTHING
    types = container.types & (NO_VALUE | ValueType.LIST)
    if container.may_be(~(NO_VALUE | COMPOUND)):
        types |= ValueType.ERROR
    return PossibleValue(types)


def _or_else(value: PossibleValue, fallback: PossibleValue) -> PossibleValue:
    if not value.may_be(ValueType.UNDEFINED):
        return value
    return either_of(without(value, ValueType.UNDEFINED), fallback)


def _element(container: PossibleValue, index: PossibleValue) -> PossibleValue:
    """Return what ``container[index]`` can be."""
    if container.may_be(COMPOUND) and index.may_be(ValueType.INTEGER | ValueType.STRING):
        return ANYTHING
    undefined = container.may_be(ValueType.UNDEFINED) or index.may_be(ValueType.UNDEFINED)
    return PossibleValue(NO_VALUE if undefined else ValueType.ERROR)


def _items(arg: Expr, known: Mapping[int, PossibleValue]) -> tuple[PossibleValue, ...] | None:
    arg = bare(arg)
    return tuple([known[id(item)] for item in arg.items]) if isinstance(arg, ListExpr) else None
