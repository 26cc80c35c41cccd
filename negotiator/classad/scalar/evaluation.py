"""The value of an expression for one ad or for a pair of ads (SEMANTICS sections 2 to 5)."""

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
    """Steps that several evaluations may take together; counted, so that the same evaluations always end alike."""

    steps: int

    def charge(self, steps: int) -> None:
        """Take steps off it. Raises ``Exhausted`` where there are not as many."""
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
    """Return the value of ``expr`` in ``my``, in a match context if there is a ``target``.

    Never raises: what HTCondor gives up (deeper than 400 levels, longer than 10,000,000 steps) or crashes on is an
    error. The elements of a returned list and the attributes of a returned ad are still expressions, which
    ``functions.elements`` and further evaluation can follow.
    """
    state = EvaluationState(env or Environment(), compiled, Memo)
    enter_ads(state, my, target)
    granted = 0 if allowance is None else state.limit_steps(allowance.steps)
    try:
        return state.evaluate(expr)
    except (EvaluationFailed, Exhausted, RecursionError, MemoryError):
        return ERROR
    finally:
        if allowance is not None:
            allowance.steps -= granted - max(state.remaining, 0)


def is_true(value: Value) -> bool:
    """Return whether a value of Requirements lets two ads match: true, a number but 0, NaN; nothing else does."""
    kind = type(value)
    return value is True or ((kind is int or kind is float) and value != 0)
