"""Look-up and evaluation of references (SEMANTICS section 4): ``x``, ``.x``, ``s.x``, ``c[i]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from negotiator.classad.context.environment import EvaluationFailed
from negotiator.classad.context.match import RESERVED, SPECIAL_NAMES
from negotiator.classad.context.scope import AdScope, AdValue, ListValue, NoScope, ValueNode, value_left
from negotiator.classad.syntax import Attr, Call, Expr, ListExpr, Literal, RecordExpr, fold
from negotiator.classad.values import ERROR, UNDEFINED, Exceptional, RelTime, truncate32, wrap32

if TYPE_CHECKING:
    from negotiator.classad.context.scope import ClassAdValue, EvaluationState, Node


def find_upwards(state: EvaluationState, start: AdScope, name: str) -> Node | None:
    """Return the expression of ``name`` (in lower case) in ``start`` or around it, None if undefined.

    Moves the current scope to where the search ended, as HTCondor does.
    """
    scope: AdScope | None = start
    while scope is not None:
        state.current = scope
        position = scope.positions.get(name)
        if position is not None:
            return scope.expressions[position]
        if type(scope) is NoScope:
            return None
        # An attribute hides a predefined name only in its own ad: in each scope the attribute is tried first.
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
    """Return the outermost scope of the evaluation, where ``.x`` starts.

    :raises EvaluationFailed: the evaluation has no ad.
    """
    scope = state.base
    while (outer := scope.enclosing()) is not None:
        scope = outer
    if type(scope) is NoScope:
        raise _failed_scope(EvaluationFailed())
    return scope


def _failed_scope(failure: EvaluationFailed) -> EvaluationFailed:
    """Return the failure, marked as that of the scope of a reference."""
    failure.in_reference = True
    return failure


def evaluate_attribute(
    state: EvaluationState, scope: AdScope, name: str, expr: Node, depth: int
) -> ClassAdValue:
    """Return the value of the attribute ``name`` of ``scope``, whose expression is not a literal.

    ``depth`` is the number of levels left for the reference; its expression has one less. A circular reference is
    undefined: ``scope.active`` has the epoch in which each attribute is being evaluated.
    """
    if depth <= 0:
        raise EvaluationFailed
    active, epoch = scope.active, state.epoch
    since = active.get(name)
    # Being evaluated in an earlier epoch is not circular: a nested evaluation ignores what is evaluated around it.
    if since == epoch:
        if state.memo is not None:
            state.memo.note_circle(scope, name)
        return UNDEFINED
    current, before = state.current, state.levels_left
    # Each ad pays for its own expressions: steps are counted from where the evaluation enters an attribute of another ad.
    side, paying = scope.side, state.paying
    start = state.work_left() if side is not paying else 0
    state.references += 1
    state.paying = side
    state.current, state.levels_left = scope, depth - 1
    active[name] = epoch
    try:
        code = state.compile(expr)
        # The slow path: near the level limit, or out of steps, which is always so once the evaluation has a memo.
        if depth <= code.guard or state.steps < code.size:
            memo = state.memo
            return state.evaluate(expr) if memo is None else memo.evaluate_attribute(scope, name, expr, since)
        state.steps -= code.size
        return code.run(state)
    except EvaluationFailed as failure:
        failure.in_reference &= type(expr) is Attr
        state.references += 1  # the way back through a chain of failed references takes as long as the way in
        raise
    finally:
        # Also after a failure: the scopes outlive it if a subscript or a nested evaluation turns it into an error.
        if since is None:
            del active[name]
        else:
            active[name] = since
        state.current, state.levels_left = current, before
        if side is not paying:
            state.paying = paying
            spent = start - state.work_left()
            state.pay(side, spent)
            state.pay(paying, -spent)


def evaluate_name(
    state: EvaluationState, start: AdScope, name: str, depth: int, *, unscoped: bool
) -> ClassAdValue:
    """Return the value of ``name``, looked up in ``start``, around it and, if ``unscoped``, in the other ad."""
    # A predefined name may build the scopes of the match, so it takes the general look-up, which moves the current scope.
    if name in RESERVED:
        current = state.current
        found = find_reference(state, start, name, unscoped=unscoped)
        where, state.current = state.current, current
        return UNDEFINED if found is None else _reached(state, where, name, found, depth)
    scope: AdScope | None = start
    while scope is not None:  # the scopes of the match cannot have the name, so they need not be built
        position = scope.positions.get(name)
        if position is not None:
            return _reached(state, scope, name, scope.expressions[position], depth)
        scope = scope.parent
    if unscoped and start.alternate is not None:
        return evaluate_name(state, start.alternate, name, depth, unscoped=False)
    return UNDEFINED


def _reached(state: EvaluationState, scope: AdScope, name: str, found: Node, depth: int) -> ClassAdValue:
    if depth <= 0:
        raise EvaluationFailed
    if type(found) is Literal or type(found) is ValueNode:
        return found.value
    return evaluate_attribute(state, scope, name, found, depth)


def find_reference(state: EvaluationState, start: AdScope, name: str, *, unscoped: bool) -> Node | None:
    """Return the expression of ``name``, None if undefined. Moves the current scope to where the search ended."""
    found = find_upwards(state, start, name)
    if found is None and unscoped and start.alternate is not None:
        found = find_upwards(state, start.alternate, name)
    return found


def evaluate_selection(
    state: EvaluationState, container: ClassAdValue, name: str, depth: int
) -> ClassAdValue:
    """Return ``container.name``: the attribute of an ad, or for a list the list of its elements' attributes."""
    if type(container) is AdValue:
        if container.self_contained:
            return UNDEFINED  # HTCondor has freed the copy by then, and finds no attribute in it
        scope = container.scope
        position = scope.positions.get(name)
        if position is None:
            return evaluate_name(state, scope, name, depth, unscoped=False)
        expr = scope.expressions[position]
        return expr.value if type(expr) is Literal else evaluate_attribute(state, scope, name, expr, depth)
    if type(container) is ListValue:
        return _project(state, container, name, depth)
    return UNDEFINED if container is UNDEFINED else ERROR


def _project(state: EvaluationState, container: ListValue, name: str, depth: int) -> ListValue:
    items: list[Expr] = []
    before, base = state.levels_left, state.base
    state.levels_left, state.base = depth - 1, state.current
    try:
        for item in container.items:
            state.charge(1)
            items.append(
                item_expression(evaluate_selection(state, item_value(state, container, item), name, depth))
            )
    except EvaluationFailed as failure:
        raise _failed_scope(failure)  # noqa: B904 - it is the same failure
    finally:
        state.levels_left, state.base = before, base
    return ListValue(tuple(items), NoScope(state))


def item_value(state: EvaluationState, container: ListValue, item: Expr) -> ClassAdValue:
    """Return the value of an element as functions see it: evaluated in the scope of the call.

    An element that is a record or a list keeps the scope of the list.
    """
    if type(item) is Literal:
        return item.value
    if type(item) is RecordExpr:
        return container.scope.record(item)
    if type(item) is ListExpr:
        return ListValue(item.items, container.scope)
    return state.evaluate_argument(item)


def item_expression(value: ClassAdValue) -> Expr:
    """Return an expression for a value, for use as an element of a list.

    Ads and lists lose their scopes. As in HTCondor a span of time becomes the literal of its whole seconds, whose value
    is a real.
    """
    if type(value) is AdValue:
        return RecordExpr(tuple(value.ad.items()))
    if type(value) is ListValue:
        return ListExpr(value.items)
    if type(value) is RelTime:
        return Literal(float(truncate32(value.seconds)), relative_time=True)
    return Literal(value)  # type: ignore[arg-type]


def evaluate_subscript(
    state: EvaluationState, container: ClassAdValue, index: ClassAdValue, depth: int
) -> ClassAdValue:
    """Return ``container[index]``; ``depth`` is the number of levels left inside the operator."""
    if container is ERROR or index is ERROR:
        return ERROR
    if isinstance(container, Exceptional) or isinstance(index, Exceptional):
        return UNDEFINED
    if type(container) is ListValue and type(index) is int:
        return _element(state, container, wrap32(index), depth)
    if type(container) is AdValue and type(index) is str:
        scope = container.scope
        name = fold(index)
        position = scope.positions.get(name)
        if position is None:
            return UNDEFINED
        return _self_contained(state.evaluate_nested(scope, scope.expressions[position], name), state)
    return ERROR


def _self_contained(value: ClassAdValue, state: EvaluationState) -> ClassAdValue:
    """Return the copy of a list or an ad that HTCondor makes: nothing encloses it."""
    if type(value) is ListValue and not value.self_contained:
        return ListValue(value.items, NoScope(state), self_contained=True)
    if type(value) is AdValue and not value.self_contained:
        return AdValue(value.ad, AdScope(value.ad, None, state), self_contained=True)
    return value


def _element(state: EvaluationState, container: ListValue, index: int, depth: int) -> ClassAdValue:
    if not 0 <= index < len(container.items):
        return ERROR
    if depth <= 0:
        state.mark_level_dependent()
        return ERROR
    item = container.items[index]
    if type(item) is Literal:
        return item.value
    try:
        return state.evaluate_in(container.scope, item, depth - 1)
    except EvaluationFailed as failure:
        return value_left(failure, item)
