"""Partial evaluation: folds what is known of the two ads of a match into an expression.

A reference to an attribute with a known value becomes a literal; operators and functions of literals become their value;
``&&``, ``||``, ``? :``, ``?:`` and ``ifThenElse`` with a known condition lose the branch that cannot count.

Why it is right: the folded expression has the same value, errors and types included, in every match that the two
``KnownAd`` describe. A part whose value is not certain is left as written: ``x || true`` is not folded, since it is an
error where ``x`` is a string. Constants are evaluated by the scalar evaluator's own operators, and literals keep their type
(``1``, ``1.0``, ``true`` and ``-0.0`` differ).

The caller must make sure of two things: that MY and TARGET mean the two ads (no ad has an attribute of such a name), and
that the expression is not near the limits of depth and steps, of which the folded one needs less.
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
    MOVING_FUNCTIONS,
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
    bare,
    children,
    fold,
    scope_side,
    walk,
    with_operands,
)
from negotiator.classad.values import ERROR, UNDEFINED, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from negotiator.classad.context import ClassAdValue
    from negotiator.classad.scalar import Ad
    from negotiator.classad.tables import AttributeTable, Column

MAX_DEPTH: Final = 200
"""Depth, in nodes and in attributes followed, below which nothing is folded."""

MAX_TEXT: Final = 10_000
"""Strings longer than this are not folded in: the folded expression is a key of the column cache."""

_NOT_FOLDED: Final = OPAQUE_FUNCTIONS | SCOPE_MOVING_FUNCTIONS
_NOT_ATTRIBUTES: Final = RESERVED | PREDEFINED_NAMES
_LOGICAL: Final = COMPARE.keys() | {"=?=", "=!=", "&&", "||"}
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="} | {
    op: op for op in ("==", "!=", "=?=", "=!=")
}
_MINE: Final = Side.MY
_MY: Final = AdRef(Side.MY)
_TARGET: Final = AdRef(Side.TARGET)
_DECIDING: Final = {"&&": False, "||": True}
_UNDEFINED: Final = Literal(UNDEFINED)
_ERROR: Final = Literal(ERROR)


class Presence(enum.Enum):
    """Whether an ad has an attribute whose value is unknown."""

    NEVER = enum.auto()
    SOMETIMES = enum.auto()  # in some of the ads, or unknown
    ALWAYS = enum.auto()


KnownValue: TypeAlias = Literal | Presence

_NEVER: Final = Presence.NEVER  # before Python 3.12 it takes as long to find a member as to call a function
_ALWAYS: Final = Presence.ALWAYS


class KnownAd(Protocol):
    """The known values of the attributes of one of the two ads."""

    def find(self, name: str, depth: int, /) -> KnownValue:
        """Return the value of an attribute (in lower case) if it is the same in every match, else its presence."""


class UnknownAd:
    """An ad without any known attribute."""

    def find(self, _name: str, _depth: int, /) -> KnownValue:
        """Return SOMETIMES: the ad may have the attribute."""
        return Presence.SOMETIMES


@attrs.define(eq=False)
class CommonAttributes:
    """The attributes that all ads of a table share: those with one constant value, and those that no ad has."""

    table: AttributeTable
    _values: dict[str, KnownValue] = attrs.field(factory=dict, init=False)

    def find(self, name: str, _depth: int, /) -> KnownValue:
        """Return the value of an attribute that all rows share, else its presence in the rows."""
        found = self._values.get(name)
        if found is None:
            found = self._values[name] = self._look(name)
        return found

    def _look(self, name: str) -> KnownValue:
        column = self.table.column(name)
        if not len(column):
            return Presence.SOMETIMES  # without rows there is no common value
        if column.kind is Kind.ABSENT:
            return Presence.NEVER
        if _is_one_value(column):
            return _as_literal(column.value(0)) or Presence.ALWAYS
        return Presence.SOMETIMES if column.has(Kind.ABSENT) else Presence.ALWAYS


def _is_one_value(column: Column) -> bool:
    """True if all rows have the same value; reals are compared by their bits, since 0.0 is not -0.0."""
    kind = column.kind
    if kind is None or kind in {Kind.EXPRESSION, Kind.OTHER}:
        return False
    values = column.data.get(kind)
    if values is None or not values.ndim:
        return True
    bits = values.view(np.int64) if values.dtype == np.float64 else values
    return bool((bits == bits[0]).all())


@attrs.define(eq=False)
class GivenAd:
    """One ad, matched with the ad that ``other`` describes.

    An attribute that is an expression has a known value if it folds to a literal, and if it does not refer to itself.
    """

    ad: Ad
    other: KnownAd
    env: Environment
    _values: dict[str, KnownValue] = attrs.field(factory=dict, init=False)

    def find(self, name: str, depth: int, /) -> KnownValue:
        """Return the value of an attribute, or its presence."""
        found = self._values.get(name)
        if found is None:
            expr = self.ad.folded(name)
            if expr is None:
                found = _NEVER
            elif type(expr) is Literal:
                found = _ALWAYS if _is_long(expr.value) else expr
            else:
                # Stored before folding: a circular reference then ends here and is left unfolded.
                self._values[name] = _ALWAYS
                folded = _Folding(self, self.other, self.env).node(expr, depth + 1)
                found = folded if type(folded) is Literal else _ALWAYS
            self._values[name] = found
        return found


@attrs.frozen
class Folded:
    """An expression after folding.

    ``reads_my`` and ``reads_target``: true if ``expr`` may read attributes of this ad. (Attributes of one ad may read the
    other ad in turn, which these flags do not cover.)
    """

    expr: Expr
    reads_my: bool
    reads_target: bool


def fold_constants(
    expr: Expr,
    my: KnownAd,
    target: KnownAd,
    env: Environment | None = None,
    *,
    known_to_keep_scope: bool = False,
    canonical: Side | None = None,
) -> Folded:
    """Fold the known values of the ad that owns an expression (``my``) and of the other ad (``target``) into it.

    Functions of constants are called in ``env``; the clock and ``random`` are not folded. An expression with a call that
    moves the evaluator to another ad (not ``keeps_scope``) is returned unchanged.

    With ``canonical``, the result is written in one form, so that more expressions have the same text: comparisons with
    the constant on the right, and the ads themselves as scopes, as an expression of that side would write them. With
    ``Side.TARGET`` the result is valid only if it does not read ``my`` any more.
    """
    if not (known_to_keep_scope or keeps_scope(expr)):
        return Folded(expr, reads_my=True, reads_target=True)
    folding = _Folding(my, target, env or Environment(), canonical)
    folded = folding.node(expr, 1)
    return Folded(folded, folding.reads_my, folding.reads_target)


def keeps_scope(expr: Expr) -> bool:
    """True if no call moves the evaluator to another ad, where later names would be looked up."""
    calls = [node for node in walk(expr) if type(node) is Call and fold(node.name) in MOVING_FUNCTIONS]
    return not any(call.args and isinstance(bare(call.args[0]), Attr) for call in calls)


class _Folding:
    """Folds one tree; ``reads_my`` and ``reads_target`` become true if the result may read this ad."""

    __slots__ = ("canonical", "env", "my", "reads_my", "reads_target", "target")

    def __init__(self, my: KnownAd, target: KnownAd, env: Environment, canonical: Side | None = None) -> None:
        self.my = my
        self.target = target
        self.env = env
        self.canonical = canonical
        self.reads_my = self.reads_target = False

    def node(self, expr: Expr, depth: int) -> Expr:
        kind = type(expr)
        if kind is Literal:
            return expr
        if depth > MAX_DEPTH:
            return self._unfolded(expr)
        make = self._kinds.get(kind)
        return self._unfolded(expr) if make is None else make(self, expr, depth)

    def _unfolded(self, expr: Expr) -> Expr:
        """Return a part unchanged; lists and records keep their elements as written."""
        # Names in it may be looked up in either ad: assume both, which costs a cache hit and never gives a wrong one.
        if not _is_closed(expr):
            self.reads_my = self.reads_target = True
        return expr

    def _reference(self, expr: Attr, depth: int) -> Expr:
        name = fold(expr.name)
        if expr.absolute or name in _NOT_ATTRIBUTES:
            return self._unfolded(expr)
        if expr.scope is None:
            return self._unscoped(expr, name, depth)
        side = scope_side(expr.scope)
        if side is None:
            return self._unfolded(expr)
        found = (self.my if side is _MINE else self.target).find(name, depth)
        if isinstance(found, Presence):
            return _UNDEFINED if found is _NEVER else self._remaining(expr, side)
        return found

    def _unscoped(self, expr: Attr, name: str, depth: int) -> Expr:
        """Look the name up in the own ad first, and in the other ad if the own one has no such attribute."""
        own = self.my.find(name, depth)
        if not isinstance(own, Presence):
            return own
        if own is _ALWAYS:
            return self._remaining(expr, _MINE)
        other = self.target.find(name, depth)
        # In rows with the attribute the own ad's counts, in the others the other ad's: the reference can be given a
        # scope only if one of the two never has the attribute.
        if own is Presence.SOMETIMES:
            if other is _NEVER:
                return self._remaining(expr, _MINE)
            self.reads_my = self.reads_target = True
            return expr
        if isinstance(other, Presence):
            if other is _NEVER:
                return _UNDEFINED
            return self._remaining(expr, Side.TARGET)
        return other

    def _remaining(self, expr: Attr, side: Side) -> Expr:
        """Return the reference to an attribute that is not folded, and note the ad that it reads."""
        if side is _MINE:
            self.reads_my = True
        else:
            self.reads_target = True
        # An explicit scope (``MY.x`` in place of ``x``) saves the second look-up, and makes equal references equal texts.
        if self.canonical is None:
            return expr if expr.scope is not None else Attr(expr.name, AdRef(side))
        return Attr(expr.name, _MY if side is self.canonical else _TARGET)

    def _binary(self, expr: Binary, depth: int) -> Expr:
        op = expr.op
        if op in _DECIDING:
            return self._logic(expr, depth, stop=_DECIDING[op])
        left, right = self.node(expr.left, depth + 1), self.node(expr.right, depth + 1)
        if type(left) is Literal:
            if type(right) is Literal:
                return _as_literal(BINARY[op](left.value, right.value)) or Binary(op, left, right)
            # `512 <= TARGET.Memory` and `TARGET.Memory >= 512` share one cached column.
            if self.canonical is not None and op in _MIRRORED:
                op, left, right = _MIRRORED[op], right, left
        return self._value(expr if left is expr.left and right is expr.right else Binary(op, left, right))

    def _logic(self, expr: Binary, depth: int, *, stop: bool) -> Expr:
        # `stop` is the value that decides: false for &&, true for ||.
        go_on = not stop
        left = self.node(expr.left, depth + 1)
        known = truth(left.value) if type(left) is Literal else None
        if known is stop:
            return Literal(stop)
        # An error on the left wins. An undefined left does not decide: `undefined && false` is false.
        if type(left) is Literal and left.value is ERROR:
            return left
        right = self.node(expr.right, depth + 1)
        # `true && x` is x only if x cannot be a number: `true && 5` is true.
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
        """Fold ``? :`` and ``ifThenElse``; if the test is not a condition, ``? :`` evaluates both branches first."""
        test = self.node(parts[0], depth + 1)
        if type(test) is Literal:
            condition = truth(test.value)
            if isinstance(condition, bool):
                return self.node(parts[1] if condition else parts[2], depth + 1)
            # With any other test, such as a string, `? :` evaluates both branches, which may fail: it is not folded.
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
            return _ERROR  # the arguments are not evaluated
        if name in _NOT_FOLDED:
            return self._unfolded(expr)
        if name == "ifthenelse":
            return self._choice(expr, expr.args, depth, refuse=True)
        folded = with_operands(expr, tuple([self.node(arg, depth + 1) for arg in expr.args]))
        return self._value(folded) if function.deterministic else folded

    def _value(self, expr: Expr) -> Expr:
        """Return the literal for a part that depends on nothing outside of it."""
        operands = children(expr)
        if not all(map(_is_closed, operands)):
            return expr
        if isinstance(expr, Unary) and type(expr.operand) is Literal:
            return _as_literal(UNARY[expr.op](expr.operand.value)) or expr
        if any(type(operand) is Literal and _is_long(operand.value) for operand in operands):
            return expr  # functions of long strings are slow, and are charged steps that folding would hide
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


def _as_literal(value: ClassAdValue) -> Literal | None:
    return None if isinstance(value, ListValue | AdValue) or _is_long(value) else Literal(value)


def _is_long(value: ClassAdValue) -> bool:
    return isinstance(value, str) and len(value) > MAX_TEXT


def _is_logical(expr: Expr) -> bool:
    """True if the value can only be a boolean, undefined or an error: then it is the same as a condition."""
    match bare(expr):
        case Literal(value):
            return isinstance(value, bool) or value is UNDEFINED or value is ERROR
        case Binary(op):
            return op in _LOGICAL
        case Unary(op):
            return op == "!"
    return False


def _is_closed(expr: Expr) -> bool:
    """True if the value depends on the text alone: no names, no clock, no random numbers."""
    if type(expr) is Literal or type(expr) is Attr:
        return type(expr) is Literal
    nodes = [expr]
    for node in nodes:  # not ``walk``: nearly every expression has a name near its root
        if _is_open(node):
            return False
        nodes += children(node)
    return True


def _is_open(node: Expr) -> bool:
    if isinstance(node, Call):
        function = FUNCTIONS.get(fold(node.name))
        return function is not None and (not function.deterministic or fold(node.name) in _NOT_FOLDED)
    return isinstance(node, Attr | AdRef | RecordExpr)
