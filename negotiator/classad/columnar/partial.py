"""Partial evaluation: what is known of the two ads of a match is worked into an expression.

A reference to an attribute whose value is known becomes a literal; operators and functions of literals become their
value; ``&&``, ``||``, ``? :``, ``?:`` and ``ifThenElse`` whose condition is known lose what can no longer count. The
folded expression has the value of the given one in every match that the two sources of knowledge describe, errors and
kinds included (``1``, ``1.0``, ``true`` and ``-0.0`` stay what they are). Where that is not certain, a part is left as it is:
``x || true`` may be an error.

Two things are for the caller to know: that MY and TARGET mean the two ads (no ad has an attribute of such a name), and
that the expression is not near the limits of depth and steps, of which a folded one needs less.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeAlias

import attrs
import numpy as np

from negotiator.classad.context import (
    BINARY,
    COMPARE,
    RESERVED,
    UNARY,
    AdValue,
    Environment,
    ListValue,
    truth,
)
from negotiator.classad.functions import FUNCTIONS
from negotiator.classad.scalar import evaluate
from negotiator.classad.syntax import (
    OPAQUE_FUNCTIONS,
    PREDEFINED_NAMES,
    SCOPE_MOVING_FUNCTIONS,
    AdRef,
    Attr,
    Binary,
    Call,
    Conditional,
    Elvis,
    Expr,
    Literal,
    Paren,
    RecordExpr,
    Side,
    Subscript,
    Unary,
    children,
    fold,
    scope_side,
    with_operands,
)
from negotiator.classad.values import ERROR, UNDEFINED, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from negotiator.classad.context import Value
    from negotiator.classad.scalar import ClassAd
    from negotiator.classad.tables import AttributeTable, Column

MAX_DEPTH: Final = 200
"""Levels, those of the attributes that are followed included, below which nothing is folded any more."""

MAX_TEXT: Final = 10_000
"""Longer strings are not made into literals: the folded expression may be the key of a dictionary."""

_LEFT_ALONE: Final = OPAQUE_FUNCTIONS | SCOPE_MOVING_FUNCTIONS
_NOT_ATTRIBUTES: Final = RESERVED | PREDEFINED_NAMES
_LOGICAL: Final = COMPARE.keys() | {"=?=", "=!=", "&&", "||"}
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="} | {
    op: op for op in ("==", "!=", "=?=", "=!=")
}
_MINE: Final = Side.MY
_MY: Final = AdRef(Side.MY)
_TARGET: Final = AdRef(Side.TARGET)
_STOPS: Final = {"&&": False, "||": True}
_UNDEFINED: Final = Literal(UNDEFINED)
_ERROR: Final = Literal(ERROR)


class Presence(enum.Enum):
    """Whether an ad has an attribute of which no value is known."""

    NEVER = enum.auto()
    SOMETIMES = enum.auto()  # or nobody can tell
    ALWAYS = enum.auto()


Found: TypeAlias = Literal | Presence

_NEVER: Final = Presence.NEVER  # before Python 3.12 it takes as long to find a member as to call a function
_ALWAYS: Final = Presence.ALWAYS


class KnownAd(Protocol):
    """What is known of one of the two ads."""

    def find(self, name: str, depth: int, /) -> Found:
        """Tell of an attribute (lower case): its value if it is one and the same wherever it may be asked for."""


class UnknownAd:
    """An ad of which nothing is known."""

    def find(self, _name: str, _depth: int, /) -> Found:
        """Tell that there may be such an attribute."""
        return Presence.SOMETIMES


@attrs.define(eq=False)
class CommonAttributes:
    """What the ads of a table have in common: the attributes that none has, and those that are one constant in all."""

    table: AttributeTable
    _found: dict[str, Found] = attrs.field(factory=dict, init=False)

    def find(self, name: str, _depth: int, /) -> Found:
        """Tell what holds for every row."""
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self._look(name)
        return found

    def _look(self, name: str) -> Found:
        column = self.table.column(name)
        if not len(column):
            return Presence.SOMETIMES
        if column.kind is Kind.ABSENT:
            return Presence.NEVER
        if _is_one_value(column):
            return _as_literal(column.value(0)) or Presence.ALWAYS
        return Presence.SOMETIMES if column.has(Kind.ABSENT) else Presence.ALWAYS


def _is_one_value(column: Column) -> bool:
    """Tell whether all rows have the same value; reals by their bits: 0.0 is not -0.0."""
    if column.kind in {None, Kind.EXPRESSION, Kind.OTHER}:
        return False
    arrays = [values for kind, values in column.data.items() if kind is column.kind and values.ndim]
    return all(bool((bits == bits[0]).all()) for values in arrays for bits in [_bits(values)])


def _bits(values: NDArray[Any]) -> NDArray[Any]:
    return values.view(np.int64) if values.dtype == np.float64 else values


@attrs.define(eq=False)
class GivenAd:
    """One ad, matched with an ad of which ``other`` tells.

    An attribute that is an expression counts where it folds to a literal; reached in a circle it does not.
    """

    ad: ClassAd
    other: KnownAd
    env: Environment
    _found: dict[str, Found] = attrs.field(factory=dict, init=False)

    def find(self, name: str, depth: int, /) -> Found:
        """Tell the value of the attribute, or whether there is one."""
        found = self._found.get(name)
        if found is None:
            expr = self.ad.folded(name)
            if expr is None:
                found = _NEVER
            elif type(expr) is Literal:
                found = _ALWAYS if _is_long(expr.value) else expr
            else:
                self._found[name] = _ALWAYS  # what it is to itself, in a circle
                folded = _Folding(self, self.other, self.env).node(expr, depth + 1)
                found = folded if type(folded) is Literal else _ALWAYS
            self._found[name] = found
        return found


@attrs.frozen
class Folded:
    """An expression after folding.

    ``my`` and ``target`` say whether anything is left in it that may look into these ads; what attributes of the one
    read of the other is another matter.
    """

    expr: Expr
    my: bool
    target: bool


def fold_constants(
    expr: Expr,
    my: KnownAd,
    target: KnownAd,
    env: Environment | None = None,
    *,
    known_to_stay: bool = False,
    home: Side | None = None,
) -> Folded:
    """Work into an expression what is known of the ad it belongs to (``my``) and of the other one (``target``).

    ``env`` is what functions of constants are called in; the clock and ``random`` are left as they are. An expression
    that may leave the evaluator in another ad (``stays``) is returned as it is; the caller may know that it does not.

    With a ``home`` what is left is written in one way, so that more texts are the same: comparisons with the constant
    on the right, and the ads themselves for scopes as they are seen from this ad. From ``Side.TARGET`` that is right
    only if nothing is left that looks into ``my``.
    """
    if not (known_to_stay or stays(expr)):
        return Folded(expr, my=True, target=True)
    folding = _Folding(my, target, env or Environment(), home)
    folded = folding.node(expr, 1)
    return Folded(folded, folding.reaches_my, folding.reaches_target)


def stays(expr: Expr) -> bool:
    """Tell whether no call leaves the evaluator in another ad: otherwise later names are looked up there."""
    pending = [expr]
    while pending:
        node = pending.pop()
        if isinstance(node, Call) and fold(node.name) in MOVING and node.args:
            first = node.args[0]
            while isinstance(first, Paren):
                first = first.inner
            if isinstance(first, Attr):
                return False
        pending.extend(children(node))
    return True


MOVING: Final = SCOPE_MOVING_FUNCTIONS | {"unresolved"}
"""Functions that leave the evaluator where they find the attribute that is their first argument, or at the outermost ad."""


class _Folding:
    """The folding of one tree; what it leaves is noted in ``reaches_my`` and ``reaches_target``."""

    __slots__ = ("env", "home", "my", "reaches_my", "reaches_target", "target")

    def __init__(self, my: KnownAd, target: KnownAd, env: Environment, home: Side | None = None) -> None:
        self.my = my
        self.target = target
        self.env = env
        self.home = home
        self.reaches_my = self.reaches_target = False

    def node(self, expr: Expr, depth: int) -> Expr:
        kind = type(expr)
        if kind is Literal:
            return expr
        if depth > MAX_DEPTH:
            return self._left(expr)
        make = self._kinds.get(kind)
        return self._left(expr) if make is None else make(self, expr, depth)

    def _left(self, expr: Expr) -> Expr:
        """Leave a part as it is; lists and records keep their elements as they were written."""
        if not _is_closed(expr):
            self.reaches_my = self.reaches_target = True
        return expr

    def _reference(self, expr: Attr, depth: int) -> Expr:
        name = fold(expr.name)
        if expr.absolute or name in _NOT_ATTRIBUTES:
            return self._left(expr)
        if expr.scope is None:
            return self._unscoped(expr, name, depth)
        side = scope_side(expr.scope)
        if side is None:
            return self._left(expr)
        found = (self.my if side is _MINE else self.target).find(name, depth)
        if isinstance(found, Presence):
            return _UNDEFINED if found is _NEVER else self._still(expr, side)
        return found

    def _unscoped(self, expr: Attr, name: str, depth: int) -> Expr:
        """The own ad is asked first, and the other one where the own has no such attribute."""
        own = self.my.find(name, depth)
        if not isinstance(own, Presence):
            return own
        if own is _ALWAYS:
            return self._still(expr, _MINE)
        other = self.target.find(name, depth)
        if own is Presence.SOMETIMES:
            if other is _NEVER:
                return self._still(expr, _MINE)
            self.reaches_my = self.reaches_target = True
            return expr
        if isinstance(other, Presence):
            if other is _NEVER:
                return _UNDEFINED
            return self._still(expr, Side.TARGET)
        return other

    def _still(self, expr: Attr, side: Side) -> Expr:
        """Leave a reference to one of the ads."""
        if side is _MINE:
            self.reaches_my = True
        else:
            self.reaches_target = True
        if self.home is None:
            return expr if expr.scope is not None else Attr(expr.name, AdRef(side))
        return Attr(expr.name, _MY if side is self.home else _TARGET)

    def _binary(self, expr: Binary, depth: int) -> Expr:
        op = expr.op
        if op in _STOPS:
            return self._logic(expr, depth, stop=_STOPS[op])
        left, right = self.node(expr.left, depth + 1), self.node(expr.right, depth + 1)
        if type(left) is Literal:
            if type(right) is Literal:
                return _as_literal(BINARY[op](left.value, right.value)) or Binary(op, left, right)
            if self.home is not None and op in _MIRRORED:
                op, left, right = _MIRRORED[op], right, left
        return self._value(expr if left is expr.left and right is expr.right else Binary(op, left, right))

    def _logic(self, expr: Binary, depth: int, *, stop: bool) -> Expr:
        go_on = not stop
        left = self.node(expr.left, depth + 1)
        known = truth(left.value) if type(left) is Literal else None
        if known is stop:
            return Literal(stop)
        if type(left) is Literal and left.value is ERROR:
            return left
        right = self.node(expr.right, depth + 1)
        if known is go_on and _is_logical(right):
            return right
        if type(right) is Literal and truth(right.value) is go_on and _is_logical(left):
            return left
        return self._value(with_operands(expr, (left, right)))

    def _paren(self, expr: Paren, depth: int) -> Expr:
        folded = self.node(expr.inner, depth + 1)
        return folded if type(folded) is Literal else with_operands(expr, (folded,))

    def _operands(self, expr: Unary | Subscript, depth: int) -> Expr:
        return self._value(
            with_operands(expr, tuple([self.node(child, depth + 1) for child in children(expr)]))
        )

    def _conditional(self, expr: Conditional, depth: int) -> Expr:
        return self._choice(expr, (expr.test, expr.yes, expr.no), depth, refuse=False)

    def _choice(self, expr: Expr, parts: tuple[Expr, ...], depth: int, *, refuse: bool) -> Expr:
        """``? :`` and ``ifThenElse``; of a test that is no condition, the operator evaluates both branches first."""
        test = self.node(parts[0], depth + 1)
        if type(test) is Literal:
            condition = truth(test.value)
            if isinstance(condition, bool):
                return self.node(parts[1] if condition else parts[2], depth + 1)
            if refuse or condition is test.value:
                return _UNDEFINED if condition is UNDEFINED else _ERROR
        rest = [self.node(part, depth + 1) for part in parts[1:]]
        return self._value(with_operands(expr, (test, *rest)))

    def _elvis(self, expr: Elvis, depth: int) -> Expr:
        found = self.node(expr.value, depth + 1)
        if type(found) is Literal and found.value is not UNDEFINED:
            return found
        instead = self.node(expr.fallback, depth + 1)
        return instead if type(found) is Literal else self._value(with_operands(expr, (found, instead)))

    def _call(self, expr: Call, depth: int) -> Expr:
        name = fold(expr.name)
        function = FUNCTIONS.get(name)
        if function is None or not function.accepts(len(expr.args)):
            return _ERROR  # the arguments are not even looked at
        if name in _LEFT_ALONE:
            return self._left(expr)
        if name == "ifthenelse":
            return self._choice(expr, expr.args, depth, refuse=True)
        folded = with_operands(expr, tuple([self.node(arg, depth + 1) for arg in expr.args]))
        return self._value(folded) if function.deterministic else folded

    def _value(self, expr: Expr) -> Expr:
        """Give the literal in place of a part that nothing outside of it has a say in."""
        operands = children(expr)
        if not all(map(_is_closed, operands)):
            return expr
        if isinstance(expr, Unary) and type(expr.operand) is Literal:
            return _as_literal(UNARY[expr.op](expr.operand.value)) or expr
        if any(type(operand) is Literal and _is_long(operand.value) for operand in operands):
            return expr  # long strings are costly, and cost steps
        return _as_literal(evaluate(expr, None, None, self.env)) or expr

    _kinds: ClassVar[dict[type, Callable[[_Folding, Any, int], Expr]]] = {
        Attr: _reference,
        Binary: _binary,
        Call: _call,
        Conditional: _conditional,
        Elvis: _elvis,
        Paren: _paren,
        Subscript: _operands,
        Unary: _operands,
    }


def _as_literal(value: Value) -> Literal | None:
    return None if isinstance(value, ListValue | AdValue) or _is_long(value) else Literal(value)


def _is_long(value: Value) -> bool:
    return isinstance(value, str) and len(value) > MAX_TEXT


def _is_logical(expr: Expr) -> bool:
    """Tell whether the value can only be a boolean, undefined or an error: then it is itself as a condition."""
    while isinstance(expr, Paren):
        expr = expr.inner
    match expr:
        case Literal(value):
            return isinstance(value, bool) or value is UNDEFINED or value is ERROR
        case Binary(op):
            return op in _LOGICAL
        case Unary(op):
            return op == "!"
    return False


def _is_closed(expr: Expr) -> bool:
    """Tell whether the value depends on nothing but the text: no names, no clock, no chance."""
    if type(expr) is Literal or type(expr) is Attr:
        return type(expr) is Literal
    return not any(map(_is_open, _nodes(expr)))


def _is_open(node: Expr) -> bool:
    if isinstance(node, Call):
        function = FUNCTIONS.get(fold(node.name))
        return function is not None and (not function.deterministic or fold(node.name) in _LEFT_ALONE)
    return isinstance(node, Attr | AdRef | RecordExpr)


def _nodes(expr: Expr) -> Iterator[Expr]:
    pending = [expr]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(children(node))
