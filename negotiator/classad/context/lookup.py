"""Look-up and evaluation of references (SEMANTICS section 4): ``x``, ``.x``, ``s.x``, ``c[i]``, and the scopes of a match.

In a match each of the two ads is inside a context ad (``my``, ``target``, ``other``, ``ad``), and those are inside the
match ad (``LEFT``, ``RIGHT``, ``lCtx``, ``rCtx``, ``symmetricMatch``, ...). My ad is LEFT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from negotiator.classad.context.scope import (
    AdScope,
    AdValue,
    ClassAdValue,
    Environment,
    EvaluationFailed,
    EvaluationState,
    Exhausted,
    ListValue,
    NoScope,
    ValueNode,
    value_left,
)
from negotiator.classad.syntax import (
    Attr,
    AttributeMap,
    Binary,
    Call,
    Expr,
    ListExpr,
    Literal,
    RecordExpr,
    fold,
)
from negotiator.classad.values import ERROR, UNDEFINED, Exceptional, RelTime, truncate32, wrap32

if TYPE_CHECKING:
    from negotiator.classad.context.scope import Node

_EMPTY: Final = AttributeMap()
_MATCH: Final = AttributeMap(
    (
        (
            "symmetricMatch",
            Binary("&&", Attr("requirements", Attr("RIGHT")), Attr("requirements", Attr("LEFT"))),
        ),
        ("leftMatchesRight", Attr("requirements", Attr("RIGHT"))),
        ("rightMatchesLeft", Attr("requirements", Attr("LEFT"))),
        ("leftRankValue", Attr("rank", Attr("LEFT"))),
        ("rightRankValue", Attr("rank", Attr("RIGHT"))),
    )
)
_MATCH_SCOPES: Final = ("LEFT", "RIGHT", "lCtx", "rCtx")
_MATCH_POSITIONS: Final = {
    fold(name): position for position, name in enumerate((*_MATCH.names(), *_MATCH_SCOPES))
}

SPECIAL_NAMES: Final = frozenset({"my", "self", "parent", "root", "toplevel", "currenttime"})
"""Names with a predefined meaning in every scope without an attribute of that name."""

_CURRENT_TIME: Final = Call("time")


class _Match(AdScope):
    """The match ad. Its complete value is built only if an expression uses the ad as a whole."""

    __slots__ = ()

    def value(self) -> AdValue:
        if self._value is None:
            state, right = self.state, self.state.left.alternate
            ads = (state.left.ad, _EMPTY if right is None else right.ad, _LEFT_CONTEXT, _RIGHT_CONTEXT)
            records = [RecordExpr(tuple(ad.items())) for ad in ads]
            self.ad = self.ad.with_items(zip(_MATCH_SCOPES, records, strict=True))
            self._value = AdValue(self.ad, self)
        return self._value


class _MatchSide(AdScope):
    """One of the two ads. The scopes around it are built only when a look-up leaves the ad, which is rare."""

    __slots__ = ()

    def enclosing(self) -> AdScope | None:
        right = self.state.left.alternate
        if self.parent is None and right is not None:
            _build_match(self.state, right)
        return self.parent


def enter_ads(state: EvaluationState, my: AttributeMap | None, target: AttributeMap | None) -> None:
    """Set the scopes of a new evaluation: it starts in ``my``, matched with ``target`` if given."""
    if my is None and target is None:
        scope: AdScope = NoScope(state)
    else:
        scope = _side(state, my)
        if target is not None:
            other = _side(state, target)
            scope.alternate, other.alternate = other, scope
    state.left = state.base = state.current = scope


def _side(state: EvaluationState, ad: AttributeMap | None) -> AdScope:
    scope = _MatchSide(_EMPTY if ad is None else ad, None, state)
    scope.side = scope
    return scope


def _build_match(state: EvaluationState, right: AdScope) -> None:
    """Put the two ads into their context ads, and those into the match ad."""
    left = state.left
    match = _Match(_MATCH, None, state)
    contexts = (AdScope(_LEFT_CONTEXT, match, state), AdScope(_RIGHT_CONTEXT, match, state))
    left.parent, right.parent = contexts
    # The ads become attributes of the match ad by position, without copying them into a new AttributeMap.
    match.positions = _MATCH_POSITIONS
    scopes = [ValueNode(scope.value()) for scope in (left, right, *contexts)]
    match.expressions = [*match.expressions, *scopes]


def _context(mine: str, other: str) -> AttributeMap:
    return AttributeMap(
        (
            ("other", Attr(other, absolute=True)),
            ("target", Attr(other, absolute=True)),
            ("my", Attr(mine, absolute=True)),
            ("ad", Attr(mine, absolute=True)),
        )
    )


_LEFT_CONTEXT: Final = _context("LEFT", "RIGHT")
_RIGHT_CONTEXT: Final = _context("RIGHT", "LEFT")
_OUTER: Final = (_MATCH, _LEFT_CONTEXT, _RIGHT_CONTEXT)


RESERVED: Final = SPECIAL_NAMES.union(_MATCH_POSITIONS, (fold(name) for ad in _OUTER for name in ad))
"""Names that an ad of a match resolves although it lacks them."""


def evaluate_alone(state: EvaluationState, ad: AttributeMap, expr: Expr) -> ClassAdValue:
    """Return the value of an expression in one ad, in a separate evaluation; error if that fails."""
    fresh = EvaluationState(Environment(), state.compile, state.make_memo)
    enter_ads(fresh, ad, None)
    try:
        return fresh.evaluate(expr)
    except (EvaluationFailed, Exhausted, RecursionError, MemoryError):
        return ERROR


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
