"""The attributes that an expression refers to, inside and outside of an ad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from negotiator.classad.bindings.errors import ClassAdValueError
from negotiator.classad.bindings.internal_references import InternalReferences
from negotiator.classad.context import EvaluationFailed, EvaluationState, Exhausted, Memo, enter_ads
from negotiator.classad.functions import ExternalReferences
from negotiator.classad.scalar import compiled

if TYPE_CHECKING:
    from collections.abc import Callable

    from negotiator.classad.context import Environment
    from negotiator.classad.syntax import AttributeMap, Expr

MAX_STEPS: Final = 100_000
"""Steps of one walk: attributes that refer to each other twice, in a long row, would take for ever."""


def external_references(expr: Expr, ad: AttributeMap, env: Environment) -> list[str]:
    """Return the sorted names, with their scopes, that an ad lacks; one empty name if there are none, as in HTCondor.

    :raises ClassAdValueError: a name is selected from what is not an ad, an attribute refers to itself, or a limit is reached.
    """
    return _names(lambda state: ExternalReferences(state).full_names(expr), ad, env, "external")


def internal_references(expr: Expr, ad: AttributeMap, env: Environment) -> list[str]:
    """Return the sorted names that an ad has, also in its own expressions; one empty name if there are none.

    :raises ClassAdValueError: as for external references.
    """
    return _names(lambda state: InternalReferences(state).names(expr), ad, env, "internal")


def _names(
    walk: Callable[[EvaluationState], list[str] | None], ad: AttributeMap, env: Environment, kind: str
) -> list[str]:
    state = EvaluationState(env, compiled, Memo)
    enter_ads(state, ad, None)
    state.limit_steps(MAX_STEPS)
    try:
        names = walk(state)
    except (EvaluationFailed, Exhausted, RecursionError, MemoryError):
        names = None
    if names is None:
        raise ClassAdValueError(
            f"Unable to determine {kind} references: a name is selected from something that is not an ad, an attribute "
            "refers to itself, or the walk is too long"
        )
    return names or [""]
