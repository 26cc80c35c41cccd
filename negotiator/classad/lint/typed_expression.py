"""Computes the possible values of each part of an expression without evaluating it, from the leaves to the root.

The rules are those of evaluation, applied to sets of types (``value_types``). A reference can be anything, unless facts
restrict it: those of a pool are taken from the columns of its tables. The results hold for every evaluation that ends
normally; where HTCondor aborts one (more than 400 levels or 10,000,000 steps, ``random(0)``), there is no value at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, Protocol

import attrs
import numpy as np

from negotiator.classad.columnar import Table
from negotiator.classad.context import RESERVED
from negotiator.classad.lint.findings import ExpressionText
from negotiator.classad.lint.value_types import (
    ANYTHING,
    COMPOUND,
    NO_VALUE,
    NOTHING,
    TIME,
    PossibleValue,
    ValueType,
    binary,
    chosen_branch,
    either_of,
    exactly,
    of_call,
    unary,
    without,
)
from negotiator.classad.syntax import (
    SCOPE_MOVING_FUNCTIONS,
    SIDES,
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
    bare,
    children,
    fold,
    scope_side,
)
from negotiator.classad.tables import Column
from negotiator.classad.values import Kind

_SPELLED: Final = 2000
_TYPES: Final = (
    (Kind.UNDEFINED, ValueType.UNDEFINED),
    (Kind.ERROR, ValueType.ERROR),
    (Kind.INTEGER, ValueType.INTEGER),
    (Kind.REAL, ValueType.REAL),
    (Kind.STRING, ValueType.STRING),
    (Kind.OTHER, COMPOUND | TIME),
)
_UNDEFINED: Final = PossibleValue(ValueType.UNDEFINED)

MAX_LEVELS: Final = 380
"""A tree with more levels is not checked: evaluation has 400, for the expressions of attributes too."""


def of_column(column: Column, absent: ValueType = ValueType.UNDEFINED) -> PossibleValue:
    """Return the types in a column, ``absent`` for rows without the attribute; anything if a row is an expression."""
    if column.has(Kind.EXPRESSION):
        return ANYTHING
    if column.is_constant and column.kind in {Kind.INTEGER, Kind.REAL, Kind.STRING} and len(column):
        return exactly(column.value(0))
    types = absent if column.has(Kind.ABSENT) else NOTHING
    for kind, type_ in _TYPES:
        if column.has(kind):
            types |= type_
    if column.has(Kind.BOOLEAN):
        true, boolean = column.data[Kind.BOOLEAN], column.where(Kind.BOOLEAN)
        types |= ValueType.TRUE if bool((true & boolean).any()) else NOTHING
        types |= ValueType.FALSE if bool((~true & boolean).any()) else NOTHING
    return PossibleValue(types)


@attrs.frozen(eq=False)
class KnownAds:
    """The ads of one side; ``word`` is the noun for one of them in messages, such as ``slot``.

    ``computed`` are attributes, in lower case, that they get later, with values that are not known.
    """

    table: Table
    word: str
    computed: frozenset[str] = frozenset()

    @cached_property
    def names(self) -> frozenset[str]:
        """The attributes that any of the ads has, in lower case."""
        return self.table.names() | self.computed

    @cached_property
    def spelled(self) -> frozenset[str]:
        """The attributes as spelled in one of the first ads, or in lower case."""
        rows = range(min(len(self.table), _SPELLED))
        found = {fold(name): name for row in rows for name in self.table.ad(row).names()}
        return frozenset(found.get(name, name) for name in self.names)

    def reference(self, name: str, otherwise: PossibleValue = _UNDEFINED) -> PossibleValue:
        """Return what an attribute can be in these ads, with ``otherwise`` for ads without it."""
        if name not in self.names:
            return otherwise
        if name in self.computed:
            return ANYTHING
        column = self.table.column(name)
        found = of_column(column, absent=NOTHING)
        return either_of(found, otherwise) if column.has(Kind.ABSENT) else found

    def strings(self, name: str) -> frozenset[str]:
        """Return the strings that ads have as this attribute."""
        if name not in self.table.names():
            return frozenset()
        column = self.table.column(name)
        if not column.has(Kind.STRING):
            return frozenset()
        rows = np.broadcast_to(column.where(Kind.STRING), (len(column),))
        codes = np.unique(np.broadcast_to(column.data[Kind.STRING], (len(column),))[rows])
        return frozenset(self.table.pool.strings[code] for code in codes.tolist())


@attrs.frozen(eq=False)
class LintPool:
    """The ads of both sides, None for an unknown side; ``alone`` if expressions are evaluated without another ad."""

    my: KnownAds | None
    target: KnownAds | None
    alone: bool = False

    @cached_property
    def _shadowed(self) -> bool:
        """True if an ad may have an attribute called MY or TARGET, so that these may mean anything."""
        return self.my is None or not SIDES.keys().isdisjoint(self.my.names)

    def sides(self) -> Iterable[KnownAds]:
        """Return the sides that are known."""
        return [ads for ads in (self.my, self.target) if ads is not None]

    def searched(self, expr: Attr) -> tuple[KnownAds | None, ...]:
        """Return the ads in which a reference is looked up, in order; None for ads that are not known."""
        side = scope_side(expr.scope)
        if side is Side.MY or (side is None and self.alone):
            return (self.my,)
        if side is Side.TARGET:
            return () if self.alone else (self.target,)
        return (self.my, self.target)

    def is_computed(self, expr: Attr) -> bool:
        """True if a reference may mean an attribute that ads get later."""
        name = fold(expr.name)
        return any(ads is not None and name in ads.computed for ads in self.searched(expr))

    def is_plain(self, expr: Attr) -> bool:
        """True if a reference can mean nothing but an attribute of one of the two ads."""
        meant = expr.scope is None or isinstance(expr.scope, AdRef) or not self._shadowed
        return meant and not expr.absolute and fold(expr.name) not in RESERVED

    def reference(self, expr: Attr) -> PossibleValue:
        """Return what an attribute can be in these ads."""
        if not self.is_plain(expr):
            return ANYTHING
        name = fold(expr.name)
        found: PossibleValue = _UNDEFINED
        for ads in reversed(self.searched(expr)):
            found = ANYTHING if ads is None else ads.reference(name, found)
        return found

    def concerned(self, references: Iterable[Attr]) -> str:
        """Return the ads for which a finding holds that depends on these references: ``for every slot of this pool``."""
        words = {ads.word: None for each in references for ads in self._ads_read(each)}
        return f"for every {' and '.join(words)} of this pool" if words else "in this pool"

    def _ads_read(self, expr: Attr) -> Iterable[KnownAds]:
        for ads in self.searched(expr):
            if ads is not None:
                yield ads
                name = fold(expr.name)
                if name in ads.table.names() and not ads.table.column(expr.name).has(Kind.ABSENT):
                    return


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
        elif isinstance(node, Call) and fold(node.name) in SCOPE_MOVING_FUNCTIONS:
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
            return chosen_branch(*of)
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
