"""Check the expressions that select decisions for the audit log."""

from __future__ import annotations

from collections.abc import Iterator

from negotiator.bundle.model import AuditSettings
from negotiator.classad import references
from negotiator.hooks.declarations import Expression
from negotiator.records import Problem, Severity, Source

_HINT = "write MY.{name} (the job's) or TARGET.{name} (the slot's); the words all and none need no scope"


def audit_problems(settings: AuditSettings) -> Iterator[Problem]:
    """Find names that let a job keep a decision out of the log, or that are always undefined."""
    for selection in (settings.matches, settings.denials):
        if isinstance(selection, Expression):
            yield from _unscoped(selection)
    if isinstance(settings.denials, Expression):
        for name in sorted(references(settings.denials.tree).target):
            spelled, source = settings.denials.find(f"TARGET.{name}")
            message = f"{spelled} is always undefined here: a denial is about all slots"
            yield Problem(Severity.WARNING, source, message, "use MY, the job")


def _unscoped(expression: Expression) -> Iterator[Problem]:
    """Find names without scope: they resolve in the job first, so that a job could choose not to be recorded."""
    found = references(expression.tree)
    for name in sorted(found.unscoped):
        spelled, source = expression.find(name)
        message = f"{spelled} has no scope: a job could define it and keep its matches out of the audit log"
        yield Problem(Severity.ERROR, source, message, _HINT.format(name=spelled))
    if found.dynamic:
        message = "the attributes that this expression reads are not known from its text (eval, an absolute reference, or an ad as a value)"
        yield Problem(Severity.ERROR, _place(expression), message, "name the attributes with MY. or TARGET.")


def _place(expression: Expression) -> Source:
    return expression.source or Source("")
