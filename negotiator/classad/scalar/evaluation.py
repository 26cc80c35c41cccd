"""Evaluation of an expression for one ad or a pair of ads (SEMANTICS sections 2 to 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from negotiator.classad.context import (
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
    from negotiator.classad.context import Value
    from negotiator.classad.syntax import AttributeMap, Expr


@attrs.define
class Allowance:
    """Steps that several evaluations may take together. Counting steps, not time, makes the outcome reproducible."""

    steps: int

    def charge(self, steps: int) -> None:
        """Subtract steps.

        :raises Exhausted: fewer were left.
        """
        self.steps -= steps
        if self.steps < 0:
            raise Exhausted


def evaluate(
    expr: Expr,
    my: AttributeMap | None = None,
    target: AttributeMap | None = None,
    env: Environment | None = None,
    allowance: Allowance | None = None,
) -> Value:
    """Return the value of ``expr`` in ``my``, matched with ``target`` if given.

    Never raises: where HTCondor gives up (more than 400 levels) or would crash, and beyond 10,000,000 steps, the value
    is error. The elements of a returned list and the attributes of a returned ad are still expressions.

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
) -> Value | None:
    """Return the value of ``expr`` like ``evaluate``, but None if HTCondor gives up.

    Then not only this value is an error: if the expression is a part of another one, the value of that one is.
    """
    state = EvaluationState(env or Environment(), compiled, Memo)
    enter_ads(state, my, target)
    granted = 0 if allowance is None else state.limit_steps(allowance.steps)
    try:
        return state.evaluate(expr)
    except EvaluationFailed:
        return None
    except (Exhausted, RecursionError, MemoryError):
        return ERROR
    finally:
        if allowance is not None:
            allowance.steps -= granted - max(state.remaining, 0)


def is_true(value: Value) -> bool:
    """True if a value of Requirements allows a match: true, or a number other than 0 (NaN included)."""
    kind = type(value)
    return value is True or ((kind is int or kind is float) and value != 0)
