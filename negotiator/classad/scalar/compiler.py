"""Trees to closures.

A tree is compiled once into nested closures ``run(state) -> value``, and kept by the identity of its root: evaluating
an expression again is a walk over closures without dispatch. Nothing is generated from text.

HTCondor allows 400 levels: each operator and each evaluated reference is one. A compiled tree knows how many levels it
can need. Where as many are left, its closures need not count, and each reference knows the level it stands on. Where
fewer are left, or where the tree is too deep or too large to be compiled at once, it runs *carefully*: children are
compiled when they are reached and every operator counts, so that ``true || <too deep>`` is true here as there.
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
from negotiator.classad.functions import FUNCTIONS, LONG_STRING
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

    from negotiator.classad.context import EvaluationState, Node, Run, Value
    from negotiator.classad.functions import Function

MAX_COMPILED: Final = 20_000
MAX_LARGE: Final = 16
MAX_NESTING: Final = 120
MAX_SIZE: Final = 1000
_PLENTY: Final = 250
_STEPS_TO_DRAW: Final = 60
_OPERATORS: Final = frozenset({Unary, Binary, Conditional, Elvis, Subscript, Paren})

ChildCompiler: TypeAlias = "DirectCompiler | CountingCompiler"
"""What compiles a child: given the node and the level it stands on."""

_compiled: dict[int, Compiled] = {}
_compiled_large: dict[int, Compiled] = {}


def compiled(expr: Node) -> Compiled:
    """Return the closures of a tree, compiling it the first time."""
    known = _compiled.get(id(expr)) or _compiled_large.get(id(expr))
    return known if known is not None else _remember(compile_tree(expr, _DIRECT, _CAREFUL))


def _remember(code: Compiled) -> Compiled:
    """Remember a tree, which holds it in memory: a few of the large ones, since ``eval`` makes trees of any text."""
    kept, most = (_compiled, MAX_COMPILED) if code.size else (_compiled_large, MAX_LARGE)
    if len(kept) >= most:
        kept.clear()
    kept[id(code.expr)] = code
    return code


def compile_tree(expr: Node, direct: DirectCompiler, careful: CountingCompiler) -> Compiled:
    """Compile a tree anew, with what compiles its nodes where there is no need to count, and where there is."""
    counted = careful(expr, 0)
    measured = measure(expr, MAX_SIZE)
    if measured is None or measured.nesting > MAX_NESTING:
        return Compiled(expr, counted, counted, MAX_LEVELS + 1, MAX_LEVELS + 1, 0)
    levels, _, size = measured
    return Compiled(expr, direct(expr, 0), counted, levels, max(levels, _PLENTY), size)


class DirectCompiler:
    """Compiles a node and all below it, each knowing the level it stands on; a subclass may watch what they become."""

    counts: ClassVar[bool] = False

    def __call__(self, expr: Node, level: int) -> Run:
        """Return the closure of a node."""
        return _MAKERS[type(expr)](expr, self, level)


class CountingCompiler:
    """Compiles a node so that it counts its level when it runs, and what stands below when that is reached."""

    counts: ClassVar[bool] = True

    def __call__(self, expr: Node, level: int) -> Run:  # noqa: ARG002 - levels are counted when it runs
        """Return the closure of a node."""
        if type(expr) is Literal:
            return _literal(expr, self, 0)
        run: Run | None = None
        # What stands in an operator is one level below it, and that one is already counted when the operator runs.
        within = -1 if type(expr) in _OPERATORS else 0

        def reached(state: EvaluationState) -> Value:
            nonlocal run
            state.charge(1)
            if run is None:
                run = _MAKERS[type(expr)](expr, self, within)
            return run(state)

        def counted(state: EvaluationState) -> Value:
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


def _literal(expr: Literal, sub: ChildCompiler, level: int) -> Run:  # noqa: ARG001
    value = expr.value
    return lambda state: value  # noqa: ARG005


def _constant(expr: ValueNode, sub: ChildCompiler, level: int) -> Run:  # noqa: ARG001
    value = expr.value
    return lambda state: value  # noqa: ARG005


def _list(expr: ListExpr, sub: ChildCompiler, level: int) -> Run:  # noqa: ARG001
    items = expr.items
    return lambda state: ListValue(items, state.current)


def _record(expr: RecordExpr, sub: ChildCompiler, level: int) -> Run:  # noqa: ARG001
    return lambda state: state.current.record(expr)


def _ad_ref(expr: AdRef, sub: ChildCompiler, level: int) -> Run:  # noqa: ARG001
    mine = expr.side is Side.MY

    def run(state: EvaluationState) -> Value:
        side = state.current.side or state.base.side
        if side is not None and not mine:
            side = side.alternate
        return UNDEFINED if side is None else side.value()

    return run


# -- references ------------------------------------------------------------------------------------------------------


def _attr(expr: Attr, sub: ChildCompiler, level: int) -> Run:
    name = fold(expr.name)
    if expr.scope is None:
        if expr.absolute:
            return _absolute(name, level)
        return _unscoped(name, level) if not sub.counts else _counted_reference(name)
    holder = sub(expr.scope, level + 1)
    general = _scoped(name, holder if not sub.counts else _a_level_below(holder), level)
    if not sub.counts and type(expr.scope) is Attr and expr.scope.scope is None and not expr.scope.absolute:
        word = fold(expr.scope.name)
        if word in {"my", "self"}:
            return _of_mine(word, name, general, level)
        if word in {"target", "other"}:
            return _of_other(word, name, general, level)
    return general


def _a_level_below(operand: Run) -> Run:
    def run(state: EvaluationState) -> Value:
        state.levels_left -= 1
        try:
            return operand(state)
        finally:
            state.levels_left += 1

    return run


def _unscoped(name: str, level: int) -> Run:
    def run(state: EvaluationState) -> Value:
        scope = state.current
        position = scope.positions.get(name)
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
    def run(state: EvaluationState) -> Value:
        return evaluate_name(state, root(state), name, state.levels_left - level, unscoped=False)

    return run


def _scoped(name: str, holder: Run, level: int) -> Run:
    def run(state: EvaluationState) -> Value:
        depth = state.levels_left - level
        if depth > 0:
            return evaluate_selection(state, holder(state), name, depth)
        state.mark_level_dependent()
        return ERROR

    return run


def _of_mine(word: str, name: str, general: Run, level: int) -> Run:
    """``MY.x``: at once where no attribute is called ``MY``, since then it means the current ad."""

    def run(state: EvaluationState) -> Value:
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


def _of_other(word: str, name: str, general: Run, level: int) -> Run:
    """``TARGET.x``: at once where the current ad is one of the two of a match and has no attribute of that name."""

    def run(state: EvaluationState) -> Value:
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


def _paren(expr: Paren, sub: ChildCompiler, level: int) -> Run:
    return sub(expr.inner, level + 1)


def _unary(expr: Unary, sub: ChildCompiler, level: int) -> Run:
    apply, operand = UNARY[expr.op], sub(expr.operand, level + 1)
    return lambda state: apply(operand(state))


def _binary(expr: Binary, sub: ChildCompiler, level: int) -> Run:
    if expr.op in {"&&", "||"}:
        return _chain(expr, sub, level)
    left, right = sub(expr.left, level + 1), sub(expr.right, level + 1)
    apply = BINARY[expr.op]
    if expr.op in COMPARE:
        return _compare(COMPARE[expr.op], apply, left, right)
    return lambda state: apply(left(state), right(state))


def _compare(
    compare: Callable[[Any, Any], bool], apply: Callable[[Value, Value], Value], left: Run, right: Run
) -> Run:
    def run(state: EvaluationState) -> Value:
        one, other = left(state), right(state)
        kind = type(one)
        if kind is type(other) and (kind is int or kind is float):
            return compare(one, other)
        return apply(one, other)

    return run


def _chain(expr: Binary, sub: ChildCompiler, level: int) -> Run:
    """Make one loop of ``a && b && c``, each operand on the level on which the nested operators put it.

    Run carefully, where levels are counted operator by operator, it is just two operands.
    """
    operands: list[Run] = []
    node: Node = expr
    while not sub.counts and type(node) is Binary and node.op == expr.op:
        level += 1
        operands.append(sub(node.right, level))
        node = node.left
    if operands:
        operands.append(sub(node, level))
    else:
        operands = [sub(expr.right, 1), sub(expr.left, 1)]
    return _loop(tuple(reversed(operands)), stop=expr.op == "||")


def _loop(operands: tuple[Run, ...], *, stop: bool) -> Run:
    """Make a chain that ends as soon as a value is ``stop``: false for ``&&``, true for ``||``."""
    go_on = not stop

    def run(state: EvaluationState) -> Value:
        result: Value = go_on
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
                    operands[1](
                        state
                    )  # only an error itself stops at once; that the rest can fail is all that counts
                return ERROR
        return result

    return run


def _conditional(expr: Conditional, sub: ChildCompiler, level: int) -> Run:
    test, yes, no = sub(expr.test, level + 1), sub(expr.yes, level + 1), sub(expr.no, level + 1)

    def run(state: EvaluationState) -> Value:
        value = test(state)
        condition = truth(value)
        if condition is True:
            return yes(state)
        if condition is False:
            return no(state)
        if condition is not value:  # not a condition at all: HTCondor evaluates both before it says so
            yes(state)
            no(state)
        return condition

    return run


def _elvis(expr: Elvis, sub: ChildCompiler, level: int) -> Run:
    value, fallback = sub(expr.value, level + 1), sub(expr.fallback, level + 1)

    def run(state: EvaluationState) -> Value:
        found = value(state)
        return fallback(state) if found is UNDEFINED else found

    return run


def _subscript(expr: Subscript, sub: ChildCompiler, level: int) -> Run:
    container, index = sub(expr.container, level + 1), sub(expr.index, level + 1)
    return lambda state: evaluate_subscript(
        state, container(state), index(state), state.levels_left - level - 1
    )


# -- calls -----------------------------------------------------------------------------------------------------------


def _call(expr: Call, sub: ChildCompiler, level: int) -> Run:
    function = FUNCTIONS.get(fold(expr.name))
    if function is None or not function.accepts(len(expr.args)):
        return lambda state: ERROR  # noqa: ARG005
    call = function.call
    if function.lazy:
        args = expr.args
        return lambda state: call(args, state.current, state.env)
    values = tuple(sub(arg, level) for arg in expr.args)
    if function.draws:
        return _draw(call, values)
    if function.metered:
        return lambda state: function.apply([value(state) for value in values], state.env, state)
    if len(values) == 1:
        return _of_one(function, *values)
    return _of_two(function, *values) if len(values) == 2 else _of_many(function, values)


def _of_one(function: Function, operand: Run) -> Run:
    call, long = function.call, LONG_STRING

    def run(state: EvaluationState) -> Value:
        value = operand(state)
        result = call((value,), state.env)
        if (type(value) is str and len(value) > long) or (type(result) is str and len(result) > long):
            state.charge(function.toll((value, result)))
        return result

    return run


def _of_two(function: Function, left: Run, right: Run) -> Run:
    call, long = function.call, LONG_STRING

    def run(state: EvaluationState) -> Value:
        one, other = left(state), right(state)
        result = call((one, other), state.env)
        if (
            (type(one) is str and len(one) > long)
            or (type(other) is str and len(other) > long)
            or (type(result) is str and len(result) > long)
        ):
            state.charge(function.toll((one, other, result)))
        return result

    return run


def _of_many(function: Function, operands: tuple[Run, ...]) -> Run:
    call, long = function.call, LONG_STRING

    def run(state: EvaluationState) -> Value:
        args = [operand(state) for operand in operands]
        result = call(args, state.env)
        if type(result) is str and len(result) > long:
            state.charge(function.toll((*args, result)))
            return result
        for value in args:
            if type(value) is str and len(value) > long:
                state.charge(function.toll((*args, result)))
                break
        return result

    return run


def _draw(call: Callable[..., Value], values: tuple[Run, ...]) -> Run:
    def run(state: EvaluationState) -> Value:
        state.charge(_STEPS_TO_DRAW)
        state.mark_random()
        return call([value(state) for value in values], state.env)

    return run


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
    Call: _call,
}
