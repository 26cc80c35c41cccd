"""Compiles trees to closures.

A tree is compiled once into nested closures ``run(state) -> value``, which are cached by the identity of the tree's
root. Evaluating an expression again calls these closures without dispatching on types. No code is generated from text.

Compilation by level: HTCondor allows 400 levels, where each operator and each evaluated reference is one. The compiler
knows the level of each node below the root, and so the number of levels a tree can need. If that many are left, the
closures of ``DirectCompiler`` do not count: a reference subtracts its own level, a constant, when it evaluates its
attribute. If fewer are left, or if the tree is too deep or too large to compile at once, the closures of
``CountingCompiler`` run: every operator counts its level, and children are compiled when they are reached, so that
``true || <too deep>`` is true, as in HTCondor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from negotiator.classad.context import (
    BINARY,
    COMPARE,
    MAX_LEVELS,
    UNARY,
    Compiled,
    EvaluationFailed,
    ListValue,
    ValueNode,
    evaluate_attribute,
    evaluate_name,
    evaluate_selection,
    evaluate_subscript,
    root,
    truth,
)
from negotiator.classad.scalar.calls import compile_call
from negotiator.classad.scalar.tree_size import measure
from negotiator.classad.syntax import (
    AdRef,
    Attr,
    Binary,
    Call,
    Conditional,
    Elvis,
    ListExpr,
    Literal,
    Paren,
    RecordExpr,
    Side,
    Subscript,
    Unary,
    fold,
)
from negotiator.classad.values import ERROR, UNDEFINED

if TYPE_CHECKING:
    from collections.abc import Callable

    from negotiator.classad.context import ClassAdValue, EvaluationState, Node, Run

MAX_COMPILED: Final = 20_000
MAX_LARGE: Final = 16
MAX_NESTING: Final = 120
MAX_SIZE: Final = 1000
_USUAL_LEVELS: Final = 250
_OPERATORS: Final = frozenset({Unary, Binary, Conditional, Elvis, Subscript, Paren})

ChildCompiler: TypeAlias = "DirectCompiler | CountingCompiler"
"""Compiles a child, given the node and its level below the root."""

_compiled: dict[int, Compiled] = {}
_compiled_large: dict[int, Compiled] = {}


def compiled(expr: Node) -> Compiled:
    """Return the compiled tree, from the cache if it was compiled before."""
    known = _compiled.get(id(expr)) or _compiled_large.get(id(expr))
    return known if known is not None else _remember(compile_tree(expr, _DIRECT, _CAREFUL))


def _remember(code: Compiled) -> Compiled:
    """Add a tree to its cache, which keeps it in memory. Few large ones: ``eval`` makes trees from any text."""
    cache, most = (_compiled, MAX_COMPILED) if code.size else (_compiled_large, MAX_LARGE)
    if len(cache) >= most:
        cache.clear()
    cache[id(code.expr)] = code
    return code


def compile_tree(expr: Node, direct: DirectCompiler, counting: CountingCompiler) -> Compiled:
    """Compile a tree, with the compilers for runs that need not count levels and for those that must."""
    counted = counting(expr, 0)
    measured = measure(expr, MAX_SIZE)
    # Too large, or closures nested too deep for Python: always count. Size 0, since each node then charges its own step.
    if measured is None or measured.nesting > MAX_NESTING:
        return Compiled(expr, counted, counted, MAX_LEVELS + 1, MAX_LEVELS + 1, 0)
    levels, _, size = measured
    return Compiled(expr, direct(expr, 0), counted, levels, max(levels, _USUAL_LEVELS), size)


class DirectCompiler:
    """Compiles a node and all nodes below it, each for its level. A subclass may wrap the closures."""

    counts: ClassVar[bool] = False

    def __call__(self, expr: Node, level: int) -> Run:
        """Return the closure of a node."""
        return _MAKERS[type(expr)](expr, self, level)


class CountingCompiler:
    """Compiles a node to a closure that counts its level, and that compiles the nodes below when it first runs."""

    counts: ClassVar[bool] = True

    def __call__(self, expr: Node, level: int) -> Run:  # noqa: ARG002 - levels are counted when it runs
        """Return the closure of a node."""
        if type(expr) is Literal:
            return _literal(expr, self, 0)
        run: Run | None = None
        # The operands of an operator are one level below it. ``counted`` has subtracted that level when they run, so
        # the level they are compiled for is -1 + 1 = 0.
        within = -1 if type(expr) in _OPERATORS else 0

        def reached(state: EvaluationState) -> ClassAdValue:
            nonlocal run
            state.charge(1)
            if run is None:
                run = _MAKERS[type(expr)](expr, self, within)
            return run(state)

        def counted(state: EvaluationState) -> ClassAdValue:
            if state.levels_left <= 0:
                raise EvaluationFailed
            state.levels_left -= 1
            try:
                return reached(state)
            finally:
                state.levels_left += 1

        return counted if type(expr) in _OPERATORS else reached


_DIRECT: Final = DirectCompiler()
_CAREFUL: Final = CountingCompiler()


# -- leaves ----------------------------------------------------------------------------------------------------------


def _literal(expr: Literal, child: ChildCompiler, level: int) -> Run:  # noqa: ARG001
    value = expr.value
    return lambda state: value  # noqa: ARG005


def _constant(expr: ValueNode, child: ChildCompiler, level: int) -> Run:  # noqa: ARG001
    value = expr.value
    return lambda state: value  # noqa: ARG005


def _list(expr: ListExpr, child: ChildCompiler, level: int) -> Run:  # noqa: ARG001
    items = expr.items
    return lambda state: ListValue(items, state.current)


def _record(expr: RecordExpr, child: ChildCompiler, level: int) -> Run:  # noqa: ARG001
    return lambda state: state.current.record(expr)


def _ad_ref(expr: AdRef, child: ChildCompiler, level: int) -> Run:  # noqa: ARG001
    # The parser never makes this node, ``bind`` does: it means the ad itself, also if that has an attribute ``MY``.
    mine = expr.side is Side.MY

    def run(state: EvaluationState) -> ClassAdValue:
        side = state.current.side or state.base.side
        if side is not None and not mine:
            side = side.alternate
        return UNDEFINED if side is None else side.value()

    return run


# -- references ------------------------------------------------------------------------------------------------------


def _attr(expr: Attr, child: ChildCompiler, level: int) -> Run:
    name = fold(expr.name)
    if expr.scope is None:
        if expr.absolute:
            return _absolute(name, level)
        return _unscoped(name, level) if not child.counts else _counted_reference(name)
    holder = child(expr.scope, level + 1)
    general = _scoped(name, holder if not child.counts else _a_level_below(holder), level)
    if not child.counts and type(expr.scope) is Attr and expr.scope.scope is None and not expr.scope.absolute:
        word = fold(expr.scope.name)
        if word in {"my", "self"}:
            return _my_reference(word, name, general, level)
        if word in {"target", "other"}:
            return _target_reference(word, name, general, level)
    return general


def _a_level_below(operand: Run) -> Run:
    def run(state: EvaluationState) -> ClassAdValue:
        state.levels_left -= 1
        try:
            return operand(state)
        finally:
            state.levels_left += 1

    return run


def _unscoped(name: str, level: int) -> Run:
    def run(state: EvaluationState) -> ClassAdValue:
        scope = state.current
        position = scope.positions.get(name)
        # Not in the own ad: the search goes on in the ads around it, then in the other ad of the match.
        if position is None:
            return evaluate_name(state, scope, name, state.levels_left - level, unscoped=True)
        expr = scope.expressions[position]
        return (
            expr.value
            if type(expr) is Literal
            else evaluate_attribute(state, scope, name, expr, state.levels_left - level)
        )

    return run


def _counted_reference(name: str) -> Run:
    return lambda state: evaluate_name(state, state.current, name, state.levels_left, unscoped=True)


def _absolute(name: str, level: int) -> Run:
    def run(state: EvaluationState) -> ClassAdValue:
        return evaluate_name(state, root(state), name, state.levels_left - level, unscoped=False)

    return run


def _scoped(name: str, holder: Run, level: int) -> Run:
    def run(state: EvaluationState) -> ClassAdValue:
        depth = state.levels_left - level
        if depth > 0:
            return evaluate_selection(state, _holding(holder, state), name, depth)
        # With more levels left the value would be another: the memo must not use it there.
        state.mark_level_dependent()
        return ERROR

    return run


def _holding(holder: Run, state: EvaluationState) -> ClassAdValue:
    """Return the value of the scope of a reference."""
    try:
        return holder(state)
    except EvaluationFailed as failure:
        failure.in_reference = True
        raise


def _my_reference(word: str, name: str, general: Run, level: int) -> Run:
    """Compile ``MY.x``. Fast path: if no attribute is called ``MY``, it means the current ad."""

    def run(state: EvaluationState) -> ClassAdValue:
        scope = state.current
        position = scope.positions.get(name)
        if position is None or word in scope.positions:
            return general(state)
        expr = scope.expressions[position]
        return (
            expr.value
            if type(expr) is Literal
            else evaluate_attribute(state, scope, name, expr, state.levels_left - level)
        )

    return run


def _target_reference(word: str, name: str, general: Run, level: int) -> Run:
    """Compile ``TARGET.x``. Fast path: the current ad is one of the two of a match and has no attribute ``TARGET``."""

    def run(state: EvaluationState) -> ClassAdValue:
        scope = state.current
        other = scope.alternate
        if other is None or scope.side is not scope or word in scope.positions:
            return general(state)
        position = other.positions.get(name)
        if position is None:
            return evaluate_name(state, other, name, state.levels_left - level, unscoped=False)
        expr = other.expressions[position]
        return (
            expr.value
            if type(expr) is Literal
            else evaluate_attribute(state, other, name, expr, state.levels_left - level)
        )

    return run


# -- operators -------------------------------------------------------------------------------------------------------


def _paren(expr: Paren, child: ChildCompiler, level: int) -> Run:
    return child(expr.inner, level + 1)


def _unary(expr: Unary, child: ChildCompiler, level: int) -> Run:
    apply, operand = UNARY[expr.op], child(expr.operand, level + 1)
    return lambda state: apply(operand(state))


def _binary(expr: Binary, child: ChildCompiler, level: int) -> Run:
    if expr.op in {"&&", "||"}:
        return _chain(expr, child, level)
    left, right = child(expr.left, level + 1), child(expr.right, level + 1)
    apply = BINARY[expr.op]
    if expr.op in COMPARE:
        return _compare(COMPARE[expr.op], apply, left, right)
    return lambda state: apply(left(state), right(state))


def _compare(
    compare: Callable[[Any, Any], bool],
    apply: Callable[[ClassAdValue, ClassAdValue], ClassAdValue],
    left: Run,
    right: Run,
) -> Run:
    def run(state: EvaluationState) -> ClassAdValue:
        one, other = left(state), right(state)
        # Fast path: two numbers of one type need neither conversion nor the rules for undefined and error.
        kind = type(one)
        if kind is type(other) and (kind is int or kind is float):
            return compare(one, other)
        return apply(one, other)

    return run


def _chain(expr: Binary, child: ChildCompiler, level: int) -> Run:
    """Compile ``a && b && c`` to one loop, each operand for its level in the nested operators.

    If levels are counted, each operator counts its own, so it is compiled with its two operands only.
    """
    # The operators nest to the left, so each operand is one level deeper than the one to its right.
    operands: list[Run] = []
    node: Node = expr
    while not child.counts and type(node) is Binary and node.op == expr.op:
        level += 1
        operands.append(child(node.right, level))
        node = node.left
    if operands:
        operands.append(child(node, level))
    else:
        operands = [child(expr.right, 1), child(expr.left, 1)]
    return _loop(tuple(reversed(operands)), stop=expr.op == "||")


def _loop(operands: tuple[Run, ...], *, stop: bool) -> Run:
    """Return the closure of a chain. It ends as soon as a value is ``stop``: false for ``&&``, true for ``||``."""
    go_on = not stop

    def run(state: EvaluationState) -> ClassAdValue:
        # An undefined operand does not end the chain, since a later one may decide; an error does.
        result: ClassAdValue = go_on
        for at, operand in enumerate(operands):
            value = operand(state)
            if value is go_on:
                continue
            if value is stop:
                return stop
            condition = truth(value)
            if condition is stop:
                return stop
            if condition is UNDEFINED:
                result = UNDEFINED
            elif condition is ERROR:
                if at == 0 and value is not ERROR:
                    # HTCondor evaluates the second operand unless the first is error itself, and that may fail.
                    operands[1](state)
                return ERROR
        return result

    return run


def _conditional(expr: Conditional, child: ChildCompiler, level: int) -> Run:
    test, yes, no = child(expr.test, level + 1), child(expr.yes, level + 1), child(expr.no, level + 1)

    def run(state: EvaluationState) -> ClassAdValue:
        value = test(state)
        condition = truth(value)
        if condition is True:
            return yes(state)
        if condition is False:
            return no(state)
        if condition is not value:  # not a condition: HTCondor evaluates both branches, which may fail
            yes(state)
            no(state)
        return condition

    return run


def _elvis(expr: Elvis, child: ChildCompiler, level: int) -> Run:
    value, fallback = child(expr.value, level + 1), child(expr.fallback, level + 1)

    def run(state: EvaluationState) -> ClassAdValue:
        found = value(state)
        return fallback(state) if found is UNDEFINED else found

    return run


def _subscript(expr: Subscript, child: ChildCompiler, level: int) -> Run:
    container, index = child(expr.container, level + 1), child(expr.index, level + 1)
    return lambda state: evaluate_subscript(
        state, container(state), index(state), state.levels_left - level - 1
    )


_MAKERS: Final[dict[type, Callable[[Any, ChildCompiler, int], Run]]] = {
    Literal: _literal,
    ValueNode: _constant,
    ListExpr: _list,
    RecordExpr: _record,
    AdRef: _ad_ref,
    Attr: _attr,
    Paren: _paren,
    Unary: _unary,
    Binary: _binary,
    Conditional: _conditional,
    Elvis: _elvis,
    Subscript: _subscript,
    Call: compile_call,
}
