"""How a reference finds its expression and what comes of it (SEMANTICS section 4): ``x``, ``.x``, ``s.x``, ``c[i]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from negotiator.classad.context.environment import EvaluationFailed
from negotiator.classad.context.match import RESERVED, SPECIAL_NAMES
from negotiator.classad.context.scope import AdValue, ListValue, NoScope, ValueNode
from negotiator.classad.syntax import Call, Expr, ListExpr, Literal, RecordExpr, fold
from negotiator.classad.values import ERROR, UNDEFINED, Exceptional, wrap32

if TYPE_CHECKING:
    from negotiator.classad.context.scope import AdScope, EvaluationState, Node, Value


def look_up(state: EvaluationState, start: AdScope, name: str) -> Node | None:
    """Find ``name`` (in lower case) in ``start`` or around it; the current scope moves to where the search ended."""
    scope: AdScope | None = start
    while scope is not None:
        state.current = scope
        place = scope.places.get(name)
        if place is not None:
            return scope.expressions[place]
        if type(scope) is NoScope:
            return None
        if name in SPECIAL_NAMES:
            return _special(state, scope, name)
        scope = scope.enclosing()
    return None


_CURRENT_TIME: Final = Call("time")


def _special(state: EvaluationState, scope: AdScope, name: str) -> Node | None:
    if name in {"my", "self"}:
        return ValueNode(scope.value())
    if name == "parent":
        outer = scope.enclosing()
        return None if outer is None else ValueNode(outer.value())
    if name == "currenttime":
        return _CURRENT_TIME
    return ValueNode(root(state).value())


def root(state: EvaluationState) -> AdScope:
    """Return the outermost scope of the evaluation, from which ``.x`` starts; without an ad the evaluation fails."""
    scope = state.base
    while (outer := scope.enclosing()) is not None:
        scope = outer
    if type(scope) is NoScope:
        raise EvaluationFailed
    return scope


def follow(state: EvaluationState, scope: AdScope, name: str, expr: Node, depth: int) -> Value:
    """Return the value of the attribute ``name`` of ``scope``, whose expression is not a literal.

    ``depth`` is how many levels are left where the reference stands; the expression has one less.
    """
    if depth <= 0:
        raise EvaluationFailed
    active, epoch = scope.active, state.epoch
    since = active.get(name)
    if since == epoch:
        if state.memo is not None:
            state.memo.circle(scope, name)
        return UNDEFINED
    current, before = state.current, state.depth
    state.current, state.depth = scope, depth - 1
    active[name] = epoch
    try:
        code = state.compile(expr)
        if depth <= code.guard or state.steps < code.size:
            memo = state.memo
            return state.start(expr) if memo is None else memo.follow(scope, name, expr, since)
        state.steps -= code.size
        return code.run(state)
    finally:
        if since is None:
            del active[name]
        else:
            active[name] = since
        state.current, state.depth = current, before


def search(state: EvaluationState, start: AdScope, name: str, depth: int, *, unscoped: bool) -> Value:
    """Return the value of ``name`` looked for in ``start``, around it and, if ``unscoped``, in the other ad."""
    if name in RESERVED:
        current = state.current
        found = find(state, start, name, unscoped=unscoped)
        where, state.current = state.current, current
        return UNDEFINED if found is None else _reached(state, where, name, found, depth)
    scope: AdScope | None = start
    while scope is not None:  # no context ad can have the name: they need not even be made
        place = scope.places.get(name)
        if place is not None:
            return _reached(state, scope, name, scope.expressions[place], depth)
        scope = scope.parent
    if unscoped and start.alternate is not None:
        return search(state, start.alternate, name, depth, unscoped=False)
    return UNDEFINED


def _reached(state: EvaluationState, scope: AdScope, name: str, found: Node, depth: int) -> Value:
    if depth <= 0:
        raise EvaluationFailed
    if type(found) is Literal or type(found) is ValueNode:
        return found.value
    return follow(state, scope, name, found, depth)


def find(state: EvaluationState, start: AdScope, name: str, *, unscoped: bool) -> Node | None:
    """Return the expression of ``name``, leaving the current scope where the search ended."""
    found = look_up(state, start, name)
    if found is None and unscoped and start.alternate is not None:
        found = look_up(state, start.alternate, name)
    return found


def select(state: EvaluationState, container: Value, name: str, depth: int) -> Value:
    """Return ``container.name``: of an ad its attribute, of a list the list of its elements' attributes."""
    if type(container) is AdValue:
        scope = container.scope
        place = scope.places.get(name)
        if place is None:
            return search(state, scope, name, depth, unscoped=False)
        expr = scope.expressions[place]
        return expr.value if type(expr) is Literal else follow(state, scope, name, expr, depth)
    if type(container) is ListValue:
        return _project(state, container, name, depth)
    return UNDEFINED if container is UNDEFINED else ERROR


def _project(state: EvaluationState, container: ListValue, name: str, depth: int) -> ListValue:
    items: list[Expr] = []
    before, base = state.depth, state.base
    state.depth, state.base = depth - 1, state.current
    try:
        for item in container.items:
            state.charge(1)
            items.append(as_item(select(state, item_value(state, container, item), name, depth)))
    finally:
        state.depth, state.base = before, base
    return ListValue(tuple(items), NoScope(state))


def item_value(state: EvaluationState, container: ListValue, item: Expr) -> Value:
    """Return the value of an element as functions see it: evaluated where the call stands.

    A record or a list among the elements keeps the place where it was written.
    """
    if type(item) is Literal:
        return item.value
    if type(item) is RecordExpr:
        return container.scope.record(item)
    if type(item) is ListExpr:
        return ListValue(item.items, container.scope)
    return state.value(item)


def as_item(value: Value) -> Expr:
    """Return an expression that a list may hold for a value; ads and lists are copied without their surroundings."""
    if type(value) is AdValue:
        return RecordExpr(tuple(value.ad.items()))
    if type(value) is ListValue:
        return ListExpr(value.items)
    return Literal(value)  # type: ignore[arg-type]


def subscript(state: EvaluationState, container: Value, index: Value, depth: int) -> Value:
    """Return ``container[index]``; ``depth`` is what is left inside the operator."""
    if container is ERROR or index is ERROR:
        return ERROR
    if isinstance(container, Exceptional) or isinstance(index, Exceptional):
        return UNDEFINED
    if type(container) is ListValue and type(index) is int:
        return _element(state, container, wrap32(index), depth)
    if type(container) is AdValue and type(index) is str:
        scope = container.scope
        name = fold(index)
        place = scope.places.get(name)
        return UNDEFINED if place is None else state.afresh(scope, scope.expressions[place], name)
    return ERROR


def _element(state: EvaluationState, container: ListValue, index: int, depth: int) -> Value:
    if not 0 <= index < len(container.items):
        return ERROR
    if depth <= 0:
        state.limited()
        return ERROR
    item = container.items[index]
    if type(item) is Literal:
        return item.value
    try:
        return state.start_in(container.scope, item, depth - 1)
    except EvaluationFailed:
        return ERROR
