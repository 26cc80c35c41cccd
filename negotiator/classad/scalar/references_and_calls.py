"""Compiles references to attributes and calls of functions to closures (see ``compiler``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Protocol, overload

from negotiator.classad.context import (
    EvaluationFailed,
    evaluate_attribute,
    evaluate_name,
    evaluate_selection,
    root,
)
from negotiator.classad.functions import FUNCTIONS, LONG_STRING
from negotiator.classad.syntax import Attr, Literal, fold
from negotiator.classad.values import ERROR

if TYPE_CHECKING:
    from collections.abc import Callable

    from negotiator.classad.context import ClassAdValue, EvaluationState, Node, Run
    from negotiator.classad.functions import Function
    from negotiator.classad.syntax import Call

_STEPS_TO_DRAW: Final = 60


class ChildCompiler(Protocol):
    """Compiles an operand, given its level below the root; ``counts`` if its closures count levels when they run."""

    counts: ClassVar[bool]

    def __call__(self, expr: Node, level: int) -> Run:
        """Return the closure of a node."""


def compile_reference(expr: Attr, child: ChildCompiler, level: int) -> Run:
    """Compile a reference."""
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


def compile_call(expr: Call, child: ChildCompiler, level: int) -> Run:
    """Compile a call."""
    function = FUNCTIONS.get(fold(expr.name))
    if function is None or not function.accepts(len(expr.args)):
        return lambda state: ERROR  # noqa: ARG005
    call = function.call
    # Lazy functions get expressions and evaluate them in scopes of their choice; all others get values.
    if function.lazy:
        args = expr.args
        return lambda state: call(args, state.current, state.env)
    if function.selective:
        return _selective(function, tuple(child(arg, 0) for arg in expr.args), level)
    values = tuple(child(arg, level) for arg in expr.args)
    if function.draws:
        return _draw(call, values)
    if function.metered:
        return lambda state: function.apply([value(state) for value in values], state.env, state)
    # One and two arguments are the frequent cases: closures of their own need no list and no loop.
    if len(values) == 1:
        return _one_argument(function, *values)
    return _two_arguments(function, *values) if len(values) == 2 else _arguments(function, values)


def _one_argument(function: Function, operand: Run) -> Run:
    call, long = function.call, LONG_STRING

    def run(state: EvaluationState) -> ClassAdValue:
        value = operand(state)
        result = call((value,), state.env)
        if (type(value) is str and len(value) > long) or (type(result) is str and len(result) > long):
            state.charge(function.extra_steps((value, result)))
        return result

    return run


def _two_arguments(function: Function, left: Run, right: Run) -> Run:
    call, long = function.call, LONG_STRING

    def run(state: EvaluationState) -> ClassAdValue:
        one, other = left(state), right(state)
        result = call((one, other), state.env)
        if (
            (type(one) is str and len(one) > long)
            or (type(other) is str and len(other) > long)
            or (type(result) is str and len(result) > long)
        ):
            state.charge(function.extra_steps((one, other, result)))
        return result

    return run


def _arguments(function: Function, operands: tuple[Run, ...]) -> Run:
    call, long = function.call, LONG_STRING

    def run(state: EvaluationState) -> ClassAdValue:
        args = [operand(state) for operand in operands]
        result = call(args, state.env)
        if type(result) is str and len(result) > long:
            state.charge(function.extra_steps((*args, result)))
            return result
        for value in args:
            if type(value) is str and len(value) > long:
                state.charge(function.extra_steps((*args, result)))
                break
        return result

    return run


class _PendingArguments(Sequence["ClassAdValue"]):
    """The arguments of a call, each evaluated once, when it is first read; a failure is raised again at each reading."""

    __slots__ = ("_failures", "_operands", "_state", "known")

    def __init__(self, operands: tuple[Run, ...], state: EvaluationState) -> None:
        self._operands = operands
        self._state = state
        self.known: dict[int, ClassAdValue] = {}
        self._failures: dict[int, EvaluationFailed] = {}

    def __len__(self) -> int:
        return len(self._operands)

    @overload
    def __getitem__(self, at: int) -> ClassAdValue: ...
    @overload
    def __getitem__(self, at: slice) -> list[ClassAdValue]: ...
    def __getitem__(self, at: int | slice) -> ClassAdValue | list[ClassAdValue]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        place = at + len(self) if at < 0 else at
        value = self.known.get(place)
        return self._evaluate(place) if value is None else value

    def _evaluate(self, place: int) -> ClassAdValue:
        if place in self._failures:
            raise self._failures[place]
        try:
            value = self.known[place] = self._operands[place](self._state)
        except EvaluationFailed as failure:
            # Without it, join(join(join(...))) of a failing argument would evaluate it 2**n times.
            self._failures[place] = failure
            raise
        return value


def _selective(function: Function, operands: tuple[Run, ...], level: int) -> Run:
    call, levels = function.call, function.levels if operands else 0

    def run(state: EvaluationState) -> ClassAdValue:
        before = state.levels_left
        state.levels_left = before - level - levels
        if state.levels_left < 0:
            state.levels_left = before
            raise EvaluationFailed
        args = _PendingArguments(operands, state)
        try:
            result = call(args, state.env)
        finally:
            state.levels_left = before
        extra_steps = function.extra_steps((*args.known.values(), result))
        if extra_steps:
            state.charge(extra_steps)
        return result

    return run


def _draw(call: Callable[..., ClassAdValue], values: tuple[Run, ...]) -> Run:
    def run(state: EvaluationState) -> ClassAdValue:
        state.charge(_STEPS_TO_DRAW)
        state.mark_random()
        return call([value(state) for value in values], state.env)

    return run
