"""The gates of the expressions, over the ads of one kind."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from negotiator.plugin import (
    AdKind,
    Cycle,
    DeclaredRule,
    Expression,
    Gate,
    GateTest,
    Mode,
    OverrunAction,
    Reuse,
    Table,
    bind,
    evaluate_table,
)
from negotiator_expressions.settings import AppliesTo, CentralExpressions, NamedPolicy, one_line

_KINDS = {
    AppliesTo.SCHEDD: (AdKind.SCHEDD, AdKind.SUBMITTER),
    AppliesTo.STARTD: (AdKind.STARTD,),
    AppliesTo.JOB: (AdKind.JOB,),
}


@attrs.frozen
class _GateRule:
    """One gate as configured: its kinds of ads, and whether a true expression keeps or discards.

    ``outside``: condor_negotiator does not read what it discards.
    """

    name: str
    kinds: tuple[AdKind, ...]
    expression: Expression
    keeps: bool = False
    mode: Mode = Mode.ENFORCE
    description: str = ""
    outside: bool = False
    overruns: OverrunAction | None = None
    overrun_grace: float | None = None
    reuse: Reuse | None = None

    @property
    def text(self) -> str:
        """The text of its reason."""
        return one_line(
            self.description or f"{self.name} is {'not ' if self.keeps else ''}true: {self.expression.text}"
        )


def gates(kind: AdKind, ads: Table, settings: CentralExpressions, cycle: Cycle) -> Iterator[Gate]:
    """Yield the gates for a kind of ads, those of knobs first, then those of named policies in their order."""
    for rule in _rules(settings):
        if kind in rule.kinds:
            true = evaluate_table(bind(rule.expression.tree), ads, env=cycle.environment).is_true()
            yield Gate(
                rule=rule.name,
                discard=~true if rule.keeps else true,
                code="constraint" if rule.keeps else "policy_gate",
                text=rule.text,
                source=rule.expression.source,
                mode=rule.mode,
                outside=rule.outside,
                overruns=rule.overruns,
                overrun_grace=rule.overrun_grace,
            )


def declared_rules(settings: CentralExpressions) -> Iterator[DeclaredRule]:
    """Yield the gates as rules."""
    for each in _rules(settings):
        gate = GateTest(kinds=each.kinds, expression=each.expression.tree, keeps=each.keeps, reason=each.text)
        yield DeclaredRule(
            rule=each.name,
            text=each.expression.text,
            source=each.expression.source,
            mode=each.mode,
            gate=gate,
            reuse=each.reuse,
        )


def _rules(settings: CentralExpressions) -> Iterator[_GateRule]:
    schedd, startd, job = (_KINDS[kind] for kind in (AppliesTo.SCHEDD, AppliesTo.STARTD, AppliesTo.JOB))
    knobs = (
        ("NEGOTIATOR_PE_SCHEDD_ONLY_EXPR", schedd, settings.schedd_only, False),
        ("NEGOTIATOR_PE_STARTD_ONLY_EXPR", startd, settings.startd_only, False),
        ("NEGOTIATOR_PE_JOB_ONLY_EXPR", job, settings.job_only, False),
        ("NEGOTIATOR_SUBMITTER_CONSTRAINT", (AdKind.SUBMITTER,), settings.submitter_constraint, True),
        ("NEGOTIATOR_SLOT_CONSTRAINT", startd, settings.slot_constraint, True),
        ("NEGOTIATOR_JOB_CONSTRAINT", job, settings.job_constraint, True),
    )
    for name, kinds, expression, keeps in knobs:
        if expression:
            yield _GateRule(name, kinds, expression, keeps, outside=name == "NEGOTIATOR_SLOT_CONSTRAINT")
    yield from (_named(policy) for policy in settings.policies if policy.applies_to is not AppliesTo.MATCH)


def _named(policy: NamedPolicy) -> _GateRule:
    return _GateRule(
        policy.name,
        _KINDS[policy.applies_to],
        policy.expression,
        mode=policy.mode,
        description=policy.description,
        overruns=policy.overruns,
        overrun_grace=policy.overrun_grace,
        reuse=policy.reuse,
    )
