"""Analysis of expressions without evaluation: conjuncts, references, and the binding of scopes.

Nothing here recurses: chains of thousands of operators are ordinary input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from negotiator.classad.syntax.attribute_map import fold
from negotiator.classad.syntax.tree import (
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
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIDES: Final = {"my": Side.MY, "self": Side.MY, "target": Side.TARGET, "other": Side.TARGET}
"""The names of the two ads, in lower case."""

_MATCH_NAMES: Final = frozenset(
    {
        "ad",
        "lctx",
        "left",
        "leftmatchesright",
        "leftrankvalue",
        "parent",
        "rctx",
        "right",
        "rightmatchesleft",
        "rightrankvalue",
        "root",
        "symmetricmatch",
        "toplevel",
    }
)
_DYNAMIC_CALLS: Final = frozenset({"eval", "unresolved", "unparse", "evalineachcontext", "countmatches"})
_CONTEXT_CALLS: Final = frozenset({"evalineachcontext", "countmatches"})
_WANDERING_CALLS: Final = _CONTEXT_CALLS | {"unresolved"}

SPLIT_HEIGHT: Final = 200
"""Expressions with more levels are not split. Evaluation fails beyond 400 levels, which splitting would hide."""


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """Return the operands of the top-level ``&&`` of an expression, also inside parentheses, from left to right."""
    found: list[Expr] = []
    pending = [expr]
    while pending:
        node = pending.pop()
        while isinstance(node, Paren):
            node = node.inner
        if isinstance(node, Binary) and node.op == "&&":
            pending += (node.right, node.left)
        else:
            found.append(node)
    return tuple(found)


def safe_conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """Return the conjuncts of an expression if it is true exactly when each of them is, otherwise the whole.

    It is not split if a part may change how names in later parts are looked up (SEMANTICS section 4), or if the whole
    is near the limit of levels. The caller must know that the expression does not refer to itself
    (``Requirements`` naming ``Requirements``), which depends on the ads.
    """
    size = 0
    pending = [expr]
    while pending:
        node = pending.pop()
        size += 1
        if type(node) is Call and _leaves_scope(node):
            return (expr,)
        pending += children(node)
    if size > SPLIT_HEIGHT and _higher(expr, SPLIT_HEIGHT):
        return (expr,)
    return conjuncts(expr)


def _leaves_scope(call: Call) -> bool:
    """True if a call may leave the evaluator in another scope: such a function with a bare name as argument."""
    if fold(call.name) not in _WANDERING_CALLS:
        return False
    first = call.args[0] if call.args else None
    while isinstance(first, Paren):
        first = first.inner
    return isinstance(first, Attr) and first.scope is None


def _higher(expr: Expr, limit: int) -> bool:
    level = [expr]
    for _ in range(limit):
        level = [child for node in level for child in children(node)]
        if not level:
            return False
    return True


@attrs.frozen
class References:
    """The attributes that an expression names, in lower case.

    ``my`` and ``target`` were written with a scope. ``unscoped`` names are looked up in the ad of the expression, then
    in the other one. ``dynamic``: the expression may also reach attributes it does not name, since it builds references
    from text, evaluates in other ads, uses an ad as a value, or refers to the root of the scopes.
    """

    my: frozenset[str] = frozenset()
    target: frozenset[str] = frozenset()
    unscoped: frozenset[str] = frozenset()
    dynamic: bool = False


def references(expr: Expr) -> References:
    """Return the references of an expression. Binding an expression does not change them."""
    names: dict[Side | None, set[str]] = {Side.MY: set(), Side.TARGET: set(), None: set()}
    dynamic = False
    pending: list[Expr] = [expr]
    while pending:
        node = pending.pop()
        dynamic = dynamic or _is_dynamic(node)
        if isinstance(node, Attr):
            selected = _selected(node, pending)
            for side in selected.sides:
                names[side].update(selected.names)
            dynamic = dynamic or selected.dynamic
        else:
            pending.extend(children(node))
    return References(
        frozenset(names[Side.MY]), frozenset(names[Side.TARGET]), frozenset(names[None]), dynamic=dynamic
    )


@attrs.frozen
class _Selected:
    """A chain such as ``TARGET.a.b[0].c``: its names, and the ads that may have them."""

    names: list[str]
    sides: tuple[Side | None, ...]
    dynamic: bool = False


def _selected(node: Expr, pending: list[Expr]) -> _Selected:
    """Return a chain of selections, and add the other expressions in it to ``pending``.

    A name that a nested ad lacks is looked up in the ads around it, so each name may be one of the ad that the chain
    starts with.
    """
    names: list[str] = []
    bare = True
    while True:
        match node:
            case Attr(_, None, absolute) if absolute or _side(node) is None:
                return _Selected([*names, fold(node.name)], (None,), dynamic=_is_dynamic(node))
            case Attr(name, scope, _) if scope is not None:
                names.append(fold(name))
                node, bare = scope, False
            case Paren(inner):
                node = inner
            case Subscript(container, index):
                pending.append(index)
                node, bare = container, True
            case AdRef() | Attr():
                return _Selected(names, (_side(node),), dynamic=bare or not SIDES.keys().isdisjoint(names))
            case _:
                pending.append(node)
                return _Selected(names, (Side.MY, Side.TARGET))


def _side(expr: Expr) -> Side | None:
    """Return which of the two ads an expression refers to, None if neither."""
    if isinstance(expr, AdRef):
        return expr.side
    if isinstance(expr, Attr) and expr.scope is None and not expr.absolute:
        return SIDES.get(fold(expr.name))
    return None


def _is_dynamic(node: Expr) -> bool:
    if isinstance(node, Attr):
        return node.absolute or fold(node.name) in _MATCH_NAMES
    if isinstance(node, Call):
        name = fold(node.name)
        literal = all(isinstance(arg, Literal) for arg in node.args)
        return name in _DYNAMIC_CALLS or (name == "debug" and not literal)
    return isinstance(node, AdRef)


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


def bind(expr: Expr) -> Expr:
    """Return the expression with ``MY``, ``SELF``, ``TARGET`` and ``OTHER`` (in any case) replaced by the ads themselves.

    An attribute of such a name then cannot hide the ad. Names with another meaning stay: ``MY`` inside a record, or in
    the expression that ``evalInEachContext`` or ``countMatches`` evaluates, and names that a record defines.
    """
    done: list[Expr] = []
    pending: list[tuple[Expr, frozenset[str], bool]] = [(expr, frozenset(), False)]
    while pending:
        node, unbound, visited = pending.pop()
        if visited:
            count = len(children(node))
            operands = tuple(done[len(done) - count :])
            del done[len(done) - count :]
            done.append(with_operands(node, operands))
        elif isinstance(node, Attr) and node.scope is None:
            side = None if fold(node.name) in unbound else _side(node)
            done.append(node if side is None else AdRef(side))
        else:
            pending.append((node, unbound, True))
            pending.extend((child, inner, False) for child, inner in reversed(list(_scoped(node, unbound))))
    return done[0]


def _scoped(node: Expr, unbound: frozenset[str]) -> Iterator[tuple[Expr, frozenset[str]]]:
    """Yield the operands of a node, each with the names that must not be bound in it."""
    inside = unbound
    if isinstance(node, RecordExpr):
        inside = unbound | {"my", "self"} | {fold(name) for name, _ in node.items}
    contextual = isinstance(node, Call) and fold(node.name) in _CONTEXT_CALLS
    for position, child in enumerate(children(node)):
        yield child, unbound | {"my", "self"} if contextual and position == 0 else inside


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
