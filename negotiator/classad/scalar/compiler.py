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

from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from negotiator.classad.context import (
    BINARY,
    COMPARE,
    MAX_LEVELS,
    UNARY,
    Compiled,
    EvaluationFailed,
    ListValue,
    ValueNode,
    evaluate_subscript,
    truth,
)
from negotiator.classad.functions import FUNCTIONS
from negotiator.classad.scalar.references_and_calls import compile_call, compile_reference
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
    children,
    fold,
)
from negotiator.classad.values import ERROR, UNDEFINED

if TYPE_CHECKING:
    from collections.abc import Callable

    from negotiator.classad.context import ClassAdValue, EvaluationState, Node, Run
    from negotiator.classad.scalar.references_and_calls import ChildCompiler

MAX_COMPILED: Final = 20_000
MAX_LARGE: Final = 16
MAX_NESTING: Final = 120
MAX_SIZE: Final = 1000
_USUAL_LEVELS: Final = 250

_UNMEASURED: Final = frozenset({ListExpr, RecordExpr, ValueNode})
"""Their elements are evaluated separately: they do not count in the size of a tree."""

_OPERATORS: Final = frozenset({Unary, Binary, Conditional, Elvis, Subscript, Paren})

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
    measured = _measured(expr, MAX_SIZE)
    # Too large, or closures nested too deep for Python: always count. Size 0, since each node then charges its own step.
    if measured is None or measured.nesting > MAX_NESTING:
        return Compiled(expr, counted, counted, MAX_LEVELS + 1, MAX_LEVELS + 1, 0)
    levels, _, size = measured
    return Compiled(expr, direct(expr, 0), counted, levels, max(levels, _USUAL_LEVELS), size)


class _TreeSize(NamedTuple):
    """The ``levels`` of evaluation a tree can need, the ``nesting`` of its closures, and its ``size`` in nodes."""

    levels: int
    nesting: int
    size: int


def _measured(expr: Node, largest: int) -> _TreeSize | None:
    """Return the size of a tree, None if it has more than about ``largest`` nodes.

    The elements of lists and records do not count: they are evaluated separately.
    """
    done: dict[int, _TreeSize] = {}
    waiting: list[tuple[Node, bool]] = [(expr, False)]
    while waiting:
        if len(done) + len(waiting) > largest:
            return None
        node, seen = waiting.pop()
        if id(node) in done:
            continue
        below = () if type(node) in _UNMEASURED else children(node)  # type: ignore[arg-type]
        if seen or not below:
            done[id(node)] = _size(node, [done[id(child)] for child in below])
        else:
            waiting.append((node, True))
            waiting.extend((child, False) for child in below)
    return done[id(expr)]


def _size(node: Node, below: list[_TreeSize]) -> _TreeSize:
    size = 1 + sum(child.size for child in below)
    levels = max((child.levels for child in below), default=0)
    nesting = 1 + max((child.nesting for child in below), default=0)
    if (
        type(node) is Binary
        and node.op in {"&&", "||"}
        and type(node.left) is Binary
        and node.left.op == node.op
    ):
        nesting = max(below[0].nesting, below[1].nesting + 1)  # a chain is one closure
    if type(node) is Subscript:
        return _TreeSize(levels + 2, nesting, size)
    if type(node) is Call:
        function = FUNCTIONS.get(fold(node.name))
        return _TreeSize(levels + (function.levels if below and function else 0), nesting, size)
    if type(node) is Attr or below:
        return _TreeSize(levels + 1, nesting, size)
    return _TreeSize(levels, nesting, size)


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
    Attr: compile_reference,
    Paren: _paren,
    Unary: _unary,
    Binary: _binary,
    Conditional: _conditional,
    Elvis: _elvis,
    Subscript: _subscript,
    Call: compile_call,
}
