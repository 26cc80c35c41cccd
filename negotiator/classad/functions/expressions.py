"""Functions of expressions: they inspect them, or evaluate them in other scopes (SEMANTICS sections 4 and 6).

``unresolved`` has the external references of an expression, as HTCondor's ``GetExternalReferences`` finds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from negotiator.classad.context import (
    AdValue,
    EvaluationFailed,
    ListValue,
    NoScope,
    ValueNode,
    evaluate_selection,
    find_reference,
    find_upwards,
    item_expression,
    item_value,
    root,
    truth,
    value_left,
)
from negotiator.classad.functions.regex import CASELESS, PatternFailure, matches
from negotiator.classad.functions.registry import as_string, register
from negotiator.classad.syntax import (
    AdRef,
    Attr,
    AttributeMap,
    Call,
    ListExpr,
    Literal,
    ParseError,
    RecordExpr,
    children,
    fold,
    parse,
    unparse,
    unparse_indented,
)
from negotiator.classad.values import ERROR, UNDEFINED, to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from negotiator.classad.context import AdScope, ClassAdValue, Environment, EvaluationState, Node
    from negotiator.classad.syntax import Expr

_PREFIX = "target."
#: A node of the walk takes as long as so many steps.
_STEPS_OF_NODE = 8
_STEPS_TO_PARSE = 4  # for each letter
_STEPS_TO_PRINT = 2  # for each letter


@attrs.define
class ExternalReferences:
    """A walk over an expression and the attributes it reaches, in the current scope of ``state``."""

    state: EvaluationState
    seen: dict[bytes, str] = attrs.field(factory=dict)

    def names(self, expr: Node) -> list[str]:
        """Return the sorted names without ``TARGET.``; empty if a limit ends the walk."""
        names = self.full_names(expr) or []
        return [name[len(_PREFIX) :] if fold(name).startswith(_PREFIX) else name for name in names]

    def full_names(self, expr: Node) -> list[str] | None:
        """Return the sorted names with their scopes; None if a limit ends the walk, or what selects a name is not an ad."""
        if not self._walk(expr, self.state.levels_left):
            return None
        return [self.seen[key] for key in sorted(self.seen)]

    def _add(self, name: str) -> bool:
        self.seen.setdefault(to_bytes(fold(name)), name)
        return True

    def _walk(self, expr: Node, depth: int) -> bool:
        pending = [expr]
        while pending:
            node = pending.pop()
            self.state.charge(_STEPS_OF_NODE)
            if depth <= 0:
                self.state.mark_level_dependent()
                return False
            if isinstance(node, Attr):
                if not self._reference(node, depth):
                    return False
            elif isinstance(node, ValueNode | RecordExpr | ListExpr | Call):
                below = self._inside(node)
                if below is None or not all(self._walk(each, depth - 1) for each in below):
                    return False
            else:  # an operator, which takes no level: a chain of thousands is ordinary input
                pending += reversed(children(node))
        return True

    def _inside(self, node: ValueNode | RecordExpr | ListExpr | Call) -> Iterable[Expr] | None:
        """Return what an ad, a list or a call consists of; None for a list that a predefined name stands for."""
        if isinstance(node, ValueNode):
            return node.value.ad.expressions if isinstance(node.value, AdValue) else None
        if isinstance(node, RecordExpr):
            return AttributeMap(node.items).expressions  # of a name that is defined twice the last one counts
        return node.args if isinstance(node, Call) else children(node)

    def _reference(self, expr: Attr, depth: int) -> bool:
        state = self.state
        current = state.current
        start = root(state) if expr.absolute else current
        if expr.scope is not None:
            value = state.evaluate_argument(expr.scope)
            if value is UNDEFINED:
                holder = expr.scope.side if isinstance(expr.scope, AdRef) else unparse(expr.scope)
                return self._add(f"{holder}.{expr.name}")
            if not isinstance(value, AdValue):
                return False
            start = value.scope
        try:
            found = find_upwards(state, start, fold(expr.name))
            return self._add(expr.name) if found is None else self._walk(found, depth - 1)
        finally:
            state.current = current


@register("ifThenElse", 3, 3, lazy=True)
def if_then_else(args: tuple[Expr, ...], scope: AdScope, env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``ifThenElse(condition, yes, no)``: one of them; undefined if the condition is. Evaluates one branch only."""
    state = scope.state
    condition = truth(state.evaluate_argument(args[0]))
    if condition is True:
        return state.evaluate_argument(args[1])
    return state.evaluate_argument(args[2]) if condition is False else condition


@register("debug", 1, 1)
def debug(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``debug(x)``: ``x``. HTCondor also logs it, at a level that is off by default."""
    return args[0]


@register("eval", 1, 1, lazy=True)
def evaluate_text(args: tuple[Expr, ...], scope: AdScope, env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``eval(text)``: the value of the text as an expression in this scope; error if it is invalid."""
    state = scope.state
    text = as_string(state.evaluate_argument(args[0]))
    if not isinstance(text, str):
        return ERROR
    state.charge(len(text) * _STEPS_TO_PARSE)
    if state.levels_left <= 0:
        state.mark_level_dependent()
        raise EvaluationFailed
    try:
        expr = parse(text)
    except ParseError:
        return ERROR
    return state.evaluate_in(state.current, expr, state.levels_left - 1)


@register("unparse", 1, 1, lazy=True)
def text_of(args: tuple[Expr, ...], scope: AdScope, env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``unparse(attribute)``: the text of an attribute of this ad (not of those around it), empty if missing."""
    reference = args[0]
    if not isinstance(reference, Attr):
        return ERROR
    expr = scope.ad.get(reference.name) if reference.scope is None and not reference.absolute else None
    text = "" if expr is None else unparse_indented(expr)
    scope.state.charge(len(text) * _STEPS_TO_PRINT)
    return text


@register("unresolved", 1, 2, lazy=True)
def unresolved(args: tuple[Expr, ...], scope: AdScope, env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``unresolved(attribute[, pattern])``: the names its expression refers to that this ad does not resolve.

    They are sorted and separated by commas. With a pattern: whether one of them matches it, ignoring case.
    """
    reference, state = args[0], scope.state
    if not isinstance(reference, Attr):
        return ERROR
    expr = _dereference(state, reference)
    if expr is None:
        return UNDEFINED
    pattern = state.evaluate_argument(args[1]) if len(args) > 1 else None
    if pattern is not None and not isinstance(pattern, str):
        raise EvaluationFailed
    names = ExternalReferences(state).names(expr)
    if pattern is None:
        return ",".join(names)
    try:
        hits = [
            matches(to_bytes(pattern), to_bytes(name), CASELESS, state, not_empty=True)
            for name in names or [""]
        ]
    except PatternFailure:
        return ERROR
    return bool(names) and any(hits)


@register("evalInEachContext", 2, 2, lazy=True)
def eval_in_each_context(args: tuple[Expr, ...], scope: AdScope, env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``evalInEachContext(expression, ads)``: the list of the values of the expression inside each of the ads."""
    values = _in_each(args, scope)
    if not isinstance(values, list):
        return values
    items = tuple(item_expression(value) for value in values)
    return ListValue(items, NoScope(scope.state), self_contained=True)


@register("countMatches", 2, 2, lazy=True)
def count_matches(args: tuple[Expr, ...], scope: AdScope, env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``countMatches(expression, ads)``: the number of ads in which it is true; 0 if the list is undefined."""
    values = _in_each(args, scope)
    if values is UNDEFINED:
        return 0
    return sum(truth(value) is True for value in values) if isinstance(values, list) else values


def _in_each(args: tuple[Expr, ...], scope: AdScope) -> list[ClassAdValue] | ClassAdValue:
    state = scope.state
    expr: Node = args[0]
    if isinstance(expr, Attr):
        expr = _dereference(state, expr) or expr
    listed = args[1]
    try:
        ads = (
            ListValue(listed.items, scope)
            if isinstance(listed, ListExpr)
            else state.evaluate_argument(listed)
        )
    except EvaluationFailed as failure:
        ads = value_left(failure, listed)
    if not isinstance(ads, ListValue):
        return UNDEFINED if ads is UNDEFINED else ERROR
    return [_inside(state, expr, ads, item) for item in ads.items]


def _inside(state: EvaluationState, expr: Node, ads: ListValue, item: Expr) -> ClassAdValue:
    try:
        value = item_value(state, ads, item)
    except EvaluationFailed:
        return ERROR
    if not isinstance(value, AdValue):
        return UNDEFINED if value is UNDEFINED else ERROR
    nested = value.scope
    alternate, contexts = nested.alternate, state.contexts
    nested.alternate = _other_ad(nested) or alternate
    if nested.alternate is not alternate:
        state.contexts = contexts | {nested}
    try:
        return state.evaluate_nested(nested, expr)
    finally:
        nested.alternate, state.contexts = alternate, contexts


def _other_ad(nested: AdScope) -> AdScope | None:
    """Return the ad of a match that unscoped names of a nested ad fall back to: the one it is not inside.

    As in HTCondor, only ads directly inside one of the two have a fallback.
    """
    side = nested.side
    around = nested.enclosing()
    if side is None or side.alternate is None or around is None:
        return None
    return side.alternate if around in (side, *_around(side)) else None


def _around(scope: AdScope) -> Iterator[AdScope]:
    while (outer := scope.enclosing()) is not None:
        yield outer
        scope = outer


def _dereference(state: EvaluationState, reference: Attr) -> Node | None:
    """Return the expression a reference refers to, None if undefined or if what selects it fails.

    Moves the current scope to where it was found. Not moving it back is HTCondor's behaviour and affects the rest of the
    expression (SEMANTICS section 4).
    """
    try:
        return _selected(state, reference)
    except EvaluationFailed:
        return None


def _selected(state: EvaluationState, reference: Attr) -> Node | None:
    name = fold(reference.name)
    if reference.scope is None:
        start = root(state) if reference.absolute else state.current
        return find_reference(state, start, name, unscoped=not reference.absolute)
    container = state.evaluate_argument(reference.scope)
    if isinstance(container, AdValue):
        return find_reference(state, container.scope, name, unscoped=False)
    if isinstance(container, ListValue):
        projected = evaluate_selection(state, container, name, state.levels_left)
        return ListExpr(projected.items) if isinstance(projected, ListValue) else Literal(ERROR)
    return None
