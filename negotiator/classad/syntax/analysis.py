"""Analysis of expressions without evaluation: the names they refer to, the binding of scopes, and their conjuncts.

A condition is split at its top-level ``&&``, so that each conjunct can be evaluated, counted and cached by itself.
Nothing here recurses: chains of thousands of operators are ordinary input.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import attrs

from negotiator.classad.syntax.tree import (
    AdRef,
    Attr,
    Binary,
    Call,
    Expr,
    ListExpr,
    Literal,
    Paren,
    RecordExpr,
    Side,
    Subscript,
    bare,
    children,
    fold,
    is_higher,
    walk,
    with_operands,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

SIDES: Final = {"my": Side.MY, "self": Side.MY, "target": Side.TARGET, "other": Side.TARGET}
"""The names of the two ads, in lower case."""

_USUAL_SIDES: Final = {"my": Side.MY, "target": Side.TARGET}

_MATCH_NAMES: Final = frozenset(
    {"ad", "parent", "root", "toplevel", "left", "right", "lctx", "rctx"}
    | {"symmetricmatch", "leftmatchesright", "rightmatchesleft", "leftrankvalue", "rightrankvalue"}
)

PREDEFINED_NAMES: Final = _MATCH_NAMES.union(SIDES)
"""Names that are defined without an attribute (SEMANTICS section 4). ``CurrentTime``, the clock, is not among them."""

_PLACES: Final = frozenset({"left", "right", "lctx", "rctx"})
"""Names of the two ads relative to the ad in which evaluation began, which a part of an expression would change."""

OPAQUE_FUNCTIONS: Final = frozenset({"eval", "random", "unparse", "unresolved"})
"""Functions whose value depends on more than the values of the attributes named in the call."""

SCOPE_MOVING_FUNCTIONS: Final = frozenset({"evalineachcontext", "countmatches"})
"""Functions that evaluate in another scope, after which the evaluator may stay there (SEMANTICS section 4)."""

MOVING_FUNCTIONS: Final = SCOPE_MOVING_FUNCTIONS | {"unresolved"}
"""Functions that move the evaluator to the ad in which they find their first argument, or to the outermost ad."""

_DYNAMIC_FUNCTIONS: Final = MOVING_FUNCTIONS | {"eval", "unparse"}
_CONTAINERS: Final = (ListExpr, RecordExpr)

SPLIT_HEIGHT: Final = 200
"""Expressions with more levels are not split. Evaluation fails beyond 400 levels, which splitting would hide."""

MAX_CONJUNCTS: Final = 64
"""Conjuncts of one expression at most; the rest is one conjunct. Requirements are written by users, so it needs a limit."""


@attrs.frozen
class ReferenceScan:
    """The references of one tree.

    ``names`` counts the references to each name, by the ad in which it is looked up: the ad of the tree (MY), the
    other one (TARGET), or either (None). ``opaque``: the value may depend on anything. ``moves_scope``: the tree must
    be evaluated as a whole, since part of it may change the scope of the rest. ``depth`` and ``size`` count nodes.
    """

    names: Mapping[Side | None, Mapping[str, int]]
    opaque: bool
    moves_scope: bool
    depth: int
    size: int


def scope_side(scope: Expr | None, names: Mapping[str, Side] = _USUAL_SIDES) -> Side | None:
    """Return the ad that a scope refers to (one of the ``names`` or an ``AdRef``), None for other expressions."""
    if isinstance(scope, AdRef):
        return scope.side
    if isinstance(scope, Attr) and scope.scope is None and not scope.absolute:
        return names.get(fold(scope.name))
    return None


def scan(expr: Expr) -> ReferenceScan:
    """Return the references of one tree, without recursion."""
    names: dict[Side | None, Counter[str]] = {Side.MY: Counter(), Side.TARGET: Counter(), None: Counter()}
    opaque = moves_scope = False
    depth = size = 0
    # Inside a list or a record MY and TARGET may be other ads. A predefined name before a dot only selects an ad.
    pending: list[tuple[Expr, int, bool, bool]] = [(expr, 1, True, False)]
    while pending:
        node, level, outside, before_dot = pending.pop()
        size += 1
        if level > depth:  # noqa: PLR1730 - a call for each node
            depth = level
        if type(node) is Attr:
            name = fold(node.name)
            side = scope_side(node.scope) if outside and node.scope is not None else None
            names[side][name] += 1
            moves_scope |= name in _PLACES
            opaque |= node.absolute or (not before_dot and name in PREDEFINED_NAMES)
            # ``MY.TARGET.A`` reads the other ad, unless the own one has an attribute TARGET.
            opaque |= before_dot and node.scope is not None and name in _USUAL_SIDES
            if node.scope is not None and side is None:
                pending.append((node.scope, level + 1, outside, True))
        elif type(node) is not Literal:
            if type(node) is Call:
                opaque |= fold(node.name) in OPAQUE_FUNCTIONS
                moves_scope |= fold(node.name) in SCOPE_MOVING_FUNCTIONS
            opaque |= type(node) is AdRef and not before_dot
            outside &= type(node) not in _CONTAINERS
            pending += [(child, level + 1, outside, False) for child in children(node)]
    return ReferenceScan(names, opaque, moves_scope, depth + 1, size)


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """Return the operands of the top-level ``&&`` of an expression, also inside parentheses, from left to right."""
    found: list[Expr] = []
    pending = [expr]
    while pending:
        node = bare(pending.pop())
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
    nodes = walk(expr)
    if any(type(node) is Call and _leaves_scope(node) for node in nodes):
        return (expr,)
    if len(nodes) > SPLIT_HEIGHT and is_higher(expr, SPLIT_HEIGHT):
        return (expr,)
    return conjuncts(expr)


def _leaves_scope(call: Call) -> bool:
    """True if a call may leave the evaluator in another scope: such a function with a bare name as argument."""
    if fold(call.name) not in MOVING_FUNCTIONS:
        return False
    first = bare(call.args[0]) if call.args else None
    return isinstance(first, Attr) and first.scope is None


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
            case Attr(_, None, absolute) if absolute or scope_side(node, SIDES) is None:
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
                return _Selected(
                    names, (scope_side(node, SIDES),), dynamic=bare or not SIDES.keys().isdisjoint(names)
                )
            case _:
                pending.append(node)
                return _Selected(names, (Side.MY, Side.TARGET))


def _is_dynamic(node: Expr) -> bool:
    if isinstance(node, Attr):
        return node.absolute or fold(node.name) in _MATCH_NAMES
    if isinstance(node, Call):
        name = fold(node.name)
        literal = all(isinstance(arg, Literal) for arg in node.args)
        return name in _DYNAMIC_FUNCTIONS or (name == "debug" and not literal)
    return isinstance(node, AdRef)


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
            side = None if fold(node.name) in unbound else scope_side(node, SIDES)
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
    contextual = isinstance(node, Call) and fold(node.name) in SCOPE_MOVING_FUNCTIONS
    for position, child in enumerate(children(node)):
        yield child, unbound | {"my", "self"} if contextual and position == 0 else inside


def split(condition: Expr) -> tuple[Expr, ...]:
    """Split at the top-level ``&&``; the tail of a very long expression stays one conjunct.

    Each conjunct can be evaluated by itself unless an earlier one moves the scope: see ``moved_attributes``.
    """
    parts = safe_conjuncts(condition)
    if len(parts) <= MAX_CONJUNCTS:
        return parts
    return (*parts[: MAX_CONJUNCTS - 1], _joined(parts[MAX_CONJUNCTS - 1 :]))


def rejoin(parts: Sequence[Expr], present: Container[str] = ()) -> tuple[Expr, ...]:
    """Join the conjuncts from the first one that moves the evaluator to another ad.

    ``present`` are the attributes, in lower case, that the conjunct's own ad has: see ``moved_attributes``.
    """
    for index, part in enumerate(parts):
        if not all(name in present for name in moved_attributes(part)):
            return (*parts[:index], _joined(parts[index:]))
    return tuple(parts)


def moved_attributes(expr: Expr) -> frozenset[str]:
    """Return the attributes to whose ad a call in an expression moves the evaluator; later names are looked up there.

    ``countMatches(MY.x, ...)`` moves to the own ad, where the evaluator is anyway, if that has an ``x``, else to the
    outermost one (SEMANTICS section 4). Any other ad is reported as "", which names no attribute.
    """
    found: set[str] = set()
    for node in walk(expr):
        if isinstance(node, Call) and node.args and fold(node.name) in MOVING_FUNCTIONS:
            first = node.args[0]
            if isinstance(first, Attr):
                found.add(fold(first.name) if scope_side(first.scope) is Side.MY else "")
    return frozenset(found)


def _joined(parts: Sequence[Expr]) -> Expr:
    return functools.reduce(lambda left, right: Binary("&&", left, right), parts)
