"""The last error of this process, for ``lastError``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from negotiator.classad.scalar import trace
from negotiator.classad.values import ERROR

if TYPE_CHECKING:
    from negotiator.classad.context import Environment
    from negotiator.classad.scalar import TraceStep
    from negotiator.classad.syntax import AttributeMap, Expr

_COMPARED_STRING: Final = "strings can only be compared to strings"

_Failure = tuple["Expr", "AttributeMap | None", "AttributeMap | None", "Environment"]
_last: list[str | _Failure] = [""]


def note_message(message: str) -> None:
    """Make a message the last error."""
    _last[0] = message


def note_failure(expr: Expr, my: AttributeMap | None, target: AttributeMap | None, env: Environment) -> None:
    """Make an evaluation without a value, or whose value is error, the last error. The reason is found when asked for."""
    _last[0] = (expr, my, target, env)


def lastError() -> str:  # noqa: N802 - HTCondor's name
    """Return why the last text did not parse, or why the last value was an error; "" before the first error."""
    last = _last[0]
    if not isinstance(last, str):
        last = _last[0] = _reason(trace(*last).root)
    return last


def _reason(step: TraceStep) -> str:
    """Return the note of the innermost step whose value is an error."""
    notes: list[str] = []
    pending = [step]
    while pending:
        step = pending.pop()
        if step.note and (step.value is ERROR or step.value is None):
            notes.append(step.note)
        pending += reversed(step.steps)
    note = notes[0] if notes else "the value is error"
    return _COMPARED_STRING if "does not compare" in note and "a string" in note else note
