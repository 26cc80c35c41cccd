"""The tree of an expression: immutable nodes, the names in them, and the one walk over them.

Equal nodes mean the same. Trees are cache keys, so literals compare by type too: ``1``, ``1.0`` and ``true`` differ, as
do ``0.0`` and ``-0.0``, although Python calls them equal. Hashing and comparing trees recurses, and a chain of a thousand
operators, which users may write, would exhaust Python's stack: ``tree_key`` is a text for each tree instead, and
whoever walks a tree does so by ``children`` and a list of pending nodes.
"""

from __future__ import annotations

import enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs

from negotiator.classad.values import AbsTime, Exceptional, RelTime

if TYPE_CHECKING:
    from collections.abc import Callable

LiteralValue: TypeAlias = Exceptional | bool | int | float | str | AbsTime | RelTime

_UPPER_TO_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}

MAX_FOLDED: Final = 8
"""The number of parentheses and signs around a literal that are looked through; users may write any number."""


def _typed(value: LiteralValue) -> tuple[type, str]:
    return type(value), repr(value)


class Side(enum.StrEnum):
    """The two ads of a match context: the ad an expression belongs to, and the other one."""

    MY = "MY"
    TARGET = "TARGET"


@attrs.frozen
class Literal:
    """A constant.

    ``relative_time`` is True for a ``relTime("1:00")`` in a text: as in HTCondor its value is a real, but it prints as
    a relative time.
    """

    value: LiteralValue = attrs.field(eq=_typed)
    relative_time: bool = False

    @property
    def printed(self) -> LiteralValue:
        """The value that prints as the constant does."""
        seconds = self.value
        return RelTime(seconds) if self.relative_time and isinstance(seconds, float) else seconds


@attrs.frozen
class Attr:
    """A reference: ``name`` (scope None), ``.name`` (absolute) or ``scope.name``. ``MY.x`` has the scope ``Attr("MY")``.

    ``name`` is as spelled, but compares without case.
    """

    name: str = attrs.field(eq=str.lower)
    scope: Expr | None = None
    absolute: bool = False


@lru_cache(maxsize=1024)
def reference(name: str) -> Attr:
    """Return the reference to an attribute, the same tree each time: what is compiled of a tree is kept with it."""
    return Attr(name)


@attrs.frozen
class AdRef:
    """One of the two ads of a match, also if they define attributes called MY or TARGET.

    No text parses to it. ``bind`` replaces ``MY`` and ``TARGET`` in the expressions of administrators by it, so that a
    user's ad with an attribute called ``TARGET`` cannot redirect them.
    """

    side: Side


@attrs.frozen
class Paren:
    """A parenthesis. It has a node so that an expression prints as it was written."""

    inner: Expr


@attrs.frozen
class Unary:
    """``-``, ``+``, ``!`` or ``~`` before an operand."""

    op: str
    operand: Expr


@attrs.frozen
class Binary:
    """An operator between two operands; ``is`` and ``isnt`` are spelled ``=?=`` and ``=!=``."""

    op: str
    left: Expr
    right: Expr


@attrs.frozen
class Conditional:
    """``test ? yes : no``."""

    test: Expr
    yes: Expr
    no: Expr


@attrs.frozen
class Elvis:
    """``value ?: fallback``."""

    value: Expr
    fallback: Expr


@attrs.frozen
class Subscript:
    """``container[index]``."""

    container: Expr
    index: Expr


@attrs.frozen
class Call:
    """A function call. The name is as spelled, but compares without case."""

    name: str = attrs.field(eq=str.lower)
    args: tuple[Expr, ...] = ()


@attrs.frozen
class ListExpr:
    """``{ a, b }``."""

    items: tuple[Expr, ...]


@attrs.frozen
class RecordExpr:
    """``[ a = 1; b = 2 ]``: attribute names and their expressions, as written."""

    items: tuple[tuple[str, Expr], ...]


Expr: TypeAlias = (
    Literal
    | Attr
    | AdRef
    | Paren
    | Unary
    | Binary
    | Conditional
    | Elvis
    | Subscript
    | Call
    | ListExpr
    | RecordExpr
)


@lru_cache(maxsize=1 << 14)
def fold(name: str) -> str:
    """Return a name in lower case. Only ASCII letters have case in names."""
    return name.lower() if name.isascii() else name.translate(_UPPER_TO_LOWER)


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the operands of a node, from left to right."""
    return _CHILDREN[type(expr)](expr)


def _none(_: Expr) -> tuple[Expr, ...]:
    return ()


# Trees are walked for each new expression of each job. A dictionary is several times faster than pattern matching.
_CHILDREN: Final[dict[type, Callable[[Any], tuple[Expr, ...]]]] = {
    Literal: _none,
    AdRef: _none,
    Attr: lambda node: () if node.scope is None else (node.scope,),
    Binary: lambda node: (node.left, node.right),
    Paren: lambda node: (node.inner,),
    Unary: lambda node: (node.operand,),
    Call: lambda node: node.args,
    ListExpr: lambda node: node.items,
    Conditional: lambda node: (node.test, node.yes, node.no),
    Elvis: lambda node: (node.value, node.fallback),
    Subscript: lambda node: (node.container, node.index),
    RecordExpr: lambda node: tuple([item for _, item in node.items]),
}


def walk(expr: Expr) -> list[Expr]:
    """Return all nodes of a tree, those of a level before those of the next one."""
    nodes = [expr]
    for node in nodes:  # it grows meanwhile: several times faster than a generator with a stack
        nodes += _CHILDREN[type(node)](node)
    return nodes


def is_higher(expr: Expr, levels: int) -> bool:
    """True if a tree has more than so many levels."""
    level = [expr]
    for _ in range(levels):
        level = [child for node in level for child in children(node)]
        if not level:
            return False
    return True


def bare(expr: Expr) -> Expr:
    """Return an expression without the parentheses around it."""
    while isinstance(expr, Paren):
        expr = expr.inner
    return expr


def with_operands(node: Expr, operands: tuple[Expr, ...]) -> Expr:
    """Return the node with other operands; the node itself if they are the same."""
    if all(new is old for new, old in zip(operands, children(node), strict=True)):
        return node
    match node:
        case Attr(name, _, absolute):
            return Attr(name, operands[0], absolute)
        case Binary(op):
            return Binary(op, *operands)
        case Unary(op):
            return Unary(op, *operands)
        case Call(name):
            return Call(name, operands)
        case ListExpr():
            return ListExpr(operands)
        case RecordExpr(items):
            return RecordExpr(tuple(zip([name for name, _ in items], operands, strict=True)))
        case Paren():
            return Paren(*operands)
        case Conditional():
            return Conditional(*operands)
        case Elvis():
            return Elvis(*operands)
        case Subscript():
            return Subscript(*operands)
        case Literal() | AdRef():
            return node


def tree_key(expr: Expr) -> str:
    """Return a text that is equal for two trees exactly if the trees are equal."""
    out: list[str] = []
    pending: list[Expr] = [expr]
    while pending:
        node = pending.pop()
        # The three most frequent types first: keys are made for each conjunct of each new kind of job.
        if type(node) is Literal:
            out.append(f"{'relTime' if node.relative_time else 'Literal'} {node.value!r}")
        elif type(node) is Attr:
            out.append(f"Attr{node.scope is not None} {node.absolute} {fold(node.name)!r}")
            if node.scope is not None:
                pending.append(node.scope)
        elif type(node) is Binary:
            out.append(node.op)
            pending += (node.right, node.left)
        else:
            out.append(_HEADERS[type(node)](node))
            pending += children(node)[::-1]
    return "\n".join(out)


# The line of each other type of node: its type, the number of operands, and the fields that are not operands.
_HEADERS: Final[dict[type, Callable[[Any], str]]] = {
    AdRef: lambda node: f"AdRef {node.side}",
    Unary: lambda node: f"Unary {node.op}",
    Paren: lambda _: "Paren",
    Call: lambda node: f"Call{len(node.args)} {fold(node.name)!r}",
    ListExpr: lambda node: f"List{len(node.items)}",
    RecordExpr: lambda node: f"Record {[name for name, _ in node.items]!r}",
    Conditional: lambda _: "Conditional",
    Elvis: lambda _: "Elvis",
    Subscript: lambda _: "Subscript",
}


def literal_value(expr: Expr) -> LiteralValue | None:
    """Return the value of a literal, possibly with a sign or in parentheses; None for any other expression."""
    if type(expr) is Literal:
        return expr.value
    sign = ""
    for _ in range(MAX_FOLDED):
        if isinstance(expr, Paren):
            expr = expr.inner
        elif isinstance(expr, Unary) and expr.op in {"-", "+"} and not sign:
            sign, expr = expr.op, expr.operand
        elif isinstance(expr, Literal):
            return _signed(sign, expr.value) if sign else expr.value
        else:
            return None
    return None


def _signed(sign: str, value: LiteralValue) -> LiteralValue | None:
    if (type(value) is int and value != -(1 << 63)) or (type(value) is float and value != float("-inf")):
        return value if sign == "+" else -value
    return None
