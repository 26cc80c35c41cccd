"""Traces: the values of the parts of an expression in one evaluation.

This is not a second evaluator. Trees are compiled as for ``evaluate``, with each closure wrapped in one that records
what it returned. Levels and steps are counted alike, so a trace always ends with the value of ``evaluate``.
"""

from __future__ import annotations

import enum
from collections import deque
from typing import TYPE_CHECKING, Final

import attrs

from negotiator.classad.context import (
    AdScope,
    AdValue,
    ClassAdValue,
    Environment,
    EvaluationFailed,
    EvaluationState,
    Exhausted,
    Memo,
    ValueNode,
    enter_ads,
    find_reference,
    root,
)
from negotiator.classad.scalar.compiler import CountingCompiler, DirectCompiler, compile_tree, compiled
from negotiator.classad.scalar.evaluation import evaluate
from negotiator.classad.scalar.trace_reasons import (
    CHAINED,
    GIVEN_UP,
    TOO_DEEP,
    operands,
    why_error,
    why_given_up,
    why_no_attribute,
    why_not_followed,
)
from negotiator.classad.syntax import (
    SIDES,
    AdRef,
    Attr,
    Binary,
    Expr,
    ListExpr,
    Literal,
    Paren,
    RecordExpr,
    Side,
    bare,
    fold,
)
from negotiator.classad.values import ERROR

if TYPE_CHECKING:
    from negotiator.classad.context import Compiled, Node, Run
    from negotiator.classad.syntax import AttributeMap

MAX_RECORDED: Final = 2000

_NOT_RECORDED: Final = frozenset({Literal, ValueNode, Paren})
_UNRECORDED: Final = frozenset({ListExpr, RecordExpr, AdRef})
"""Expressions that are their own value. Their steps are dropped when the step around them is complete."""


class TraceLocation(enum.StrEnum):
    """Where an attribute was found, or where an expression was evaluated.

    MY and TARGET are the two ads of the evaluation, even in an expression of the other ad, where ``MY.`` means that
    one.
    """

    MY = "in MY"
    TARGET = "in TARGET"
    INSIDE_MY = "in an ad inside MY"
    INSIDE_TARGET = "in an ad inside TARGET"
    MATCH = "in the match"  # such as ``symmetricMatch``, which HTCondor defines around the two ads
    ALONE = "outside of both ads"
    NOWHERE = "not found"


@attrs.frozen
class TraceStep:
    """A part of an evaluation: an expression, its value, and the steps that led to it.

    ``value`` is None if the expression was not evaluated, such as the right side of ``false && x``. ``location`` is
    where the attribute of a reference was found, or where another expression was evaluated if that differs from the
    step around it. The step of a reference contains that of the attribute's expression, unless it is a constant.
    ``note`` is why the value is an error, or that a reference is circular. Constants and parentheses have no steps of
    their own.
    """

    expr: Expr
    value: ClassAdValue | None
    location: TraceLocation | None = None
    note: str = ""
    steps: tuple[TraceStep, ...] = ()


@attrs.frozen
class Trace:
    """The steps of an evaluation. ``complete`` is False if there were too many to record all."""

    root: TraceStep
    complete: bool = True


def trace(
    expr: Expr,
    my: AttributeMap | None = None,
    target: AttributeMap | None = None,
    env: Environment | None = None,
    *,
    most: int = MAX_RECORDED,
) -> Trace:
    """Evaluate ``expr`` like ``evaluate`` and return the trace. Never raises.

    The value of the root step is the value of the expression. At most ``most`` steps are recorded.
    """
    recorder = _Recorder(most)
    state = EvaluationState(env or Environment(), recorder.compile, Memo)
    enter_ads(state, my, target)
    top = recorder.begin(state.base)
    try:
        value = state.evaluate(expr)
    except (EvaluationFailed, Exhausted):
        value = ERROR
    except (RecursionError, MemoryError):  # the recording closures need more of Python's stack
        return Trace(
            TraceStep(expr, evaluate(expr, my, target, env), note="too deep to be traced"), complete=False
        )
    whole = top.steps[0] if top.steps else TraceStep(expr, value)
    return Trace(whole, complete=not recorder.missed)


@attrs.define(eq=False)
class _Frame:
    """A step that is being recorded: the scope in which it began, and the steps inside it so far."""

    expr: Expr | None
    current: AdScope
    steps: list[TraceStep] = attrs.field(factory=list)
    note: str = ""
    cut: bool = False
    """True if steps inside this one were not recorded."""


class _RecordingCompiler(DirectCompiler):
    """Compiles nodes that need not count levels to recording closures."""

    def __init__(self, recorder: _Recorder) -> None:
        self._recorder = recorder

    def __call__(self, expr: Node, level: int) -> Run:
        return self._recorder.record(expr, super().__call__(expr, level))


class _RecordingCountingCompiler(CountingCompiler):
    """Compiles nodes that count levels to recording closures."""

    def __init__(self, recorder: _Recorder) -> None:
        self._recorder = recorder

    def __call__(self, expr: Node, level: int) -> Run:
        return self._recorder.record(expr, super().__call__(expr, level))


class _Recorder:
    """Compiles trees so that evaluating them records steps."""

    def __init__(self, most: int) -> None:
        self.missed = False
        self._left = most
        self._direct, self._careful = _RecordingCompiler(self), _RecordingCountingCompiler(self)
        self._codes: dict[int, Compiled] = {}
        self._failure: Exception | None = None

    def begin(self, base: AdScope) -> _Frame:
        """Start in the scope of my ad. The whole evaluation becomes a step of the returned frame."""
        self._mine, self._theirs = base, base.alternate
        self._frame = _Frame(None, base)
        return self._frame

    def compile(self, expr: Node) -> Compiled:
        """Compile a tree to recording closures, unless the maximum of steps is reached."""
        if type(expr) is Literal:
            return compiled(expr)
        if self._left <= 0:
            self._miss()
            return compiled(expr)
        code = self._codes.get(id(expr))
        if code is None:
            code = self._codes[id(expr)] = compile_tree(expr, self._direct, self._careful)
        return code

    def record(self, expr: Node, run: Run) -> Run:
        """Wrap a closure so that each run records a step."""
        if isinstance(expr, ValueNode) or type(expr) in _NOT_RECORDED:
            return run

        def recorded(state: EvaluationState) -> ClassAdValue:
            if self._left <= 0:
                self._miss()
                return run(state)
            self._left -= 1
            outer = self._frame
            frame = self._frame = _Frame(expr, state.current)
            value: ClassAdValue = ERROR
            try:
                value = run(state)
            except (EvaluationFailed, Exhausted) as failure:
                innermost, self._failure = failure is not self._failure, failure
                frame.note = why_given_up(expr, state, failure) if innermost else GIVEN_UP
                raise
            finally:
                self._frame = outer
                outer.steps.append(self._step(expr, value, frame, outer, state))
            return value

        return recorded

    def _miss(self) -> None:
        self.missed = self._frame.cut = True

    def _step(
        self, expr: Expr, value: ClassAdValue, frame: _Frame, outer: _Frame, state: EvaluationState
    ) -> TraceStep:
        if type(expr) is Attr:
            return self._reference(expr, value, frame, state)
        steps = _flat(expr, frame)
        note = frame.note
        if value is ERROR and not (note or frame.cut or any(step.value is ERROR for step in steps)):
            note = why_error(expr, {id(step.expr): step.value for step in steps})
        elsewhere = frame.current is not outer.current and type(outer.expr) is not Attr
        location = self._location(frame.current) if elsewhere else None
        return TraceStep(expr, value, location, note, tuple(self._with_unevaluated(expr, steps)))

    def _with_unevaluated(self, expr: Expr, steps: list[TraceStep]) -> list[TraceStep]:
        """Return the steps with those of operands that were not evaluated inserted in order."""
        waiting = deque(steps)
        shown: list[TraceStep] = []
        for operand in map(bare, operands(expr)):
            if waiting and waiting[0].expr is operand:
                shown.append(waiting.popleft())
            elif type(operand) is not Literal:
                if self._left <= 0:  # then it is unknown which operands were evaluated
                    self.missed = True
                    break
                self._left -= 1
                shown.append(TraceStep(operand, None))
        return [step for step in (*shown, *waiting) if type(step.expr) not in _UNRECORDED]

    def _reference(self, expr: Attr, value: ClassAdValue, frame: _Frame, state: EvaluationState) -> TraceStep:
        """Return the step of a reference: where the attribute was found, and the steps of its expression."""
        if frame.note or frame.cut:
            return TraceStep(expr, value, None, frame.note, tuple(frame.steps))
        if not frame.steps and not _needs_no_step(expr.scope):
            return TraceStep(expr, value, None, TOO_DEEP)
        holder, steps = self._holder(expr, frame)
        if holder is not None and not isinstance(holder, AdValue):
            return TraceStep(expr, value, None, why_no_attribute(expr, holder), tuple(steps))
        found, where = _locate(expr, holder, frame.current, state)
        if found is None:
            return TraceStep(
                expr, value, TraceLocation.NOWHERE, TOO_DEEP if value is ERROR else "", tuple(steps)
            )
        name, location = fold(expr.name), self._location(where)
        if (
            isinstance(found, ValueNode)
            or name not in where.positions
            or (location is TraceLocation.MATCH and isinstance(value, AdValue))
        ):
            return TraceStep(expr, value)  # predefined, such as MY, TARGET and CurrentTime
        circular = where.active.get(name) == state.epoch
        note = "" if steps else why_not_followed(bare(found), value, circular=circular)
        return TraceStep(expr, value, location, note, tuple(steps))

    def _holder(self, expr: Attr, frame: _Frame) -> tuple[ClassAdValue | None, list[TraceStep]]:
        """Return the value the attribute is selected from (None for a name without a scope), and the other steps.

        ``MY`` and ``TARGET`` are often not evaluated at all. If they are, their steps are left out.
        """
        steps = [step for step in frame.steps if type(step.expr) not in _UNRECORDED]
        if expr.scope is None:
            return None, steps
        scope = bare(expr.scope)
        if isinstance(scope, Literal):
            return scope.value, steps
        first = frame.steps[0] if frame.steps else None
        if first is None or first.expr is not scope:
            return _side(scope, frame.current).value(), steps
        if steps and steps[0] is first and _is_side(first):
            del steps[0]
        return first.value, steps

    def _location(self, scope: AdScope) -> TraceLocation:
        for ad, itself, inside in (
            (self._mine, TraceLocation.MY, TraceLocation.INSIDE_MY),
            (self._theirs, TraceLocation.TARGET, TraceLocation.INSIDE_TARGET),
        ):
            if ad is not None and scope is ad:
                return itself
            if ad is not None and scope.side is ad:
                return inside
        if self._theirs is not None and (around := self._mine.parent) is not None:
            return (
                TraceLocation.MATCH
                if scope in {around, around.parent, self._theirs.parent}
                else TraceLocation.ALONE
            )
        return TraceLocation.ALONE


def _flat(expr: Expr, frame: _Frame) -> list[TraceStep]:
    """Return the operands of a chain of ``&&`` or ``||`` as steps of the whole chain, even if levels were counted."""
    steps = frame.steps
    if frame.note or frame.cut or not steps or type(expr) is not Binary or expr.op not in CHAINED:
        return steps
    first = steps[0]
    nested = first.expr is expr.left and type(first.expr) is Binary and first.expr.op == expr.op
    return [*(step for step in first.steps if step.value is not None), *steps[1:]] if nested else steps


def _locate(
    expr: Attr, holder: AdValue | None, current: AdScope, state: EvaluationState
) -> tuple[Node | None, AdScope]:
    """Return the expression a reference refers to and its scope, by the evaluator's own look-up."""
    before = state.current
    try:
        if holder is not None:
            found = find_reference(state, holder.scope, fold(expr.name), unscoped=False)
        else:
            start = root(state) if expr.absolute else current
            found = find_reference(state, start, fold(expr.name), unscoped=not expr.absolute)
        return found, state.current
    finally:
        state.current = before


def _side(scope: Expr, current: AdScope) -> AdScope:
    """Return the ad that ``MY`` or ``TARGET`` means, for references that did not evaluate the word."""
    mine = not isinstance(scope, Attr) or SIDES[fold(scope.name)] is Side.MY
    return current if mine or current.alternate is None else current.alternate


def _needs_no_step(scope: Expr | None) -> bool:
    """True if the scope of a reference needs no step: it is missing, a constant, or one of the two ads."""
    if scope is None:
        return True
    scope = bare(scope)
    return isinstance(scope, Literal) or (
        isinstance(scope, Attr) and scope.scope is None and fold(scope.name) in SIDES
    )


def _is_side(step: TraceStep) -> bool:
    """True if a step is just one of the two ads, or the name of one that is missing."""
    if not isinstance(step.expr, Attr):
        return False
    if step.location is TraceLocation.NOWHERE:
        return step.expr.scope is None and fold(step.expr.name) in SIDES
    return step.location is None and isinstance(step.value, AdValue)
