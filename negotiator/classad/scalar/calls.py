"""Compiles calls of functions to closures (see ``compiler``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, overload

from negotiator.classad.context import EvaluationFailed
from negotiator.classad.functions import FUNCTIONS, LONG_STRING
from negotiator.classad.syntax import fold
from negotiator.classad.values import ERROR

if TYPE_CHECKING:
    from collections.abc import Callable

    from negotiator.classad.context import ClassAdValue, EvaluationState, Run
    from negotiator.classad.functions import Function
    from negotiator.classad.syntax import Call, Expr

_STEPS_TO_DRAW: Final = 60


def compile_call(expr: Call, child: Callable[[Expr, int], Run], level: int) -> Run:
    """Compile a call. ``child`` compiles an argument, given its level below the root."""
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
