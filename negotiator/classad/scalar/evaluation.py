"""Evaluation of an expression for one ad or a pair of ads (SEMANTICS sections 2 to 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from negotiator.classad.context import (
    STEPS_OF_REFERENCE,
    Allowance,
    Environment,
    EvaluationFailed,
    EvaluationState,
    Exhausted,
    Memo,
    enter_ads,
)
from negotiator.classad.scalar.compiler import compiled
from negotiator.classad.values import ERROR

if TYPE_CHECKING:
    from negotiator.classad.context import ClassAdValue
    from negotiator.classad.syntax import AttributeMap, Expr


MAX_STEPS_PAID: Final = 100_000
"""Steps of one evaluation that is charged to somebody; beyond it the value is error."""

STEPS_TO_BEGIN: Final = 100
"""Steps that are charged for each evaluation, however short: making its scopes takes as long."""


class Paying(NamedTuple):
    """The allowances that one evaluation is charged to: of the expression itself, and of the attributes of each ad."""

    expression: Allowance
    my: Allowance
    target: Allowance

    @property
    def most(self) -> int:
        """The steps that all of them have left, at most ``MAX_STEPS_PAID``."""
        return min(self.expression.steps, self.my.steps, self.target.steps, MAX_STEPS_PAID)


def evaluate(
    expr: Expr,
    my: AttributeMap | None = None,
    target: AttributeMap | None = None,
    env: Environment | None = None,
    allowance: Allowance | None = None,
) -> ClassAdValue:
    """Return the value of ``expr`` in ``my``, matched with ``target`` if given.

    Never raises: where HTCondor gives up (more than 400 levels) or would crash, and beyond 10,000,000 steps, the value
    is error. The elements of a returned list and the attributes of a returned ad are still expressions. An environment
    with payers charges both ads to the owner of ``my``.

    :param allowance: a budget of steps shared with other evaluations.
    """
    value = evaluate_part(expr, my, target, env, allowance)
    return ERROR if value is None else value


def evaluate_part(
    expr: Expr,
    my: AttributeMap | None = None,
    target: AttributeMap | None = None,
    env: Environment | None = None,
    allowance: Allowance | None = None,
) -> ClassAdValue | None:
    """Return the value of ``expr`` like ``evaluate``, but None if HTCondor gives up.

    Then not only this value is an error: if the expression is a part of another one, the value of that one is.
    """
    env = env or Environment()
    if allowance is None and env.payers is not None:
        owner = env.payers.of_single(my)
        return evaluate_paid(expr, my, target, env, Paying(env.payers.expression or owner, owner, owner))
    state = EvaluationState(env, compiled, Memo)
    enter_ads(state, my, target)
    granted = 0 if allowance is None else state.limit_steps(allowance.steps)
    try:
        return _value(state, expr)
    finally:
        if allowance is not None:
            allowance.steps -= granted - max(state.remaining, 0)


def evaluate_paid(
    expr: Expr,
    my: AttributeMap | None,
    target: AttributeMap | None,
    env: Environment,
    paying: Paying,
) -> ClassAdValue | None:
    """Return the value of ``expr`` like ``evaluate_part``, within the steps that all who pay have left.

    Each ad pays for the steps of its own attributes, ``paying.expression`` for all others. If one has none left, the value
    is error.
    """
    if paying.most <= 0:
        return ERROR
    state = EvaluationState(env, compiled, Memo)
    enter_ads(state, my, target)
    granted = state.limit_steps(paying.most)
    try:
        return _value(state, expr)
    finally:
        spent = granted - max(state.remaining, 0) + STEPS_OF_REFERENCE * state.references + STEPS_TO_BEGIN
        paying.my.steps -= state.my_steps
        paying.target.steps -= state.target_steps
        paying.expression.steps -= spent - state.my_steps - state.target_steps


def _value(state: EvaluationState, expr: Expr) -> ClassAdValue | None:
    try:
        return state.evaluate(expr)
    except EvaluationFailed:
        return None
    except (Exhausted, RecursionError, MemoryError):
        return ERROR


def is_true(value: ClassAdValue) -> bool:
    """True if a value of Requirements allows a match: true, or a number other than 0 (NaN included)."""
    kind = type(value)
    return value is True or ((kind is int or kind is float) and value != 0)
