"""The central expressions: gates over ads, and constraints that are ANDed to every Requirements.

Source: "Pool-wide policy enforcement", Solution design. A ``NEGOTIATOR_PE_*_ONLY_EXPR`` discards an ad where it is
true: undefined and error discard nothing. HTCondor's own ``NEGOTIATOR_*_CONSTRAINT`` mean the opposite: an ad is admitted
only where the expression is true.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from negotiator.plugin import (
    AdKind,
    Constraint,
    ConstraintSide,
    Cycle,
    Expression,
    Gate,
    Mode,
    Section,
    Table,
    bind,
    evaluate_table,
    hookimpl,
    printable,
)
from negotiator_expressions.settings import AppliesTo, CentralExpressions, NamedPolicy, check

_KINDS = {
    AppliesTo.SCHEDD: (AdKind.SCHEDD, AdKind.SUBMITTER),
    AppliesTo.STARTD: (AdKind.STARTD,),
    AppliesTo.JOB: (AdKind.JOB,),
}


_LONGEST_TEXT = 500  # characters; the audit log has no more


@attrs.frozen
class _GateRule:
    """One gate as configured: its kinds of ads, and whether a true expression keeps or discards."""

    name: str
    kinds: tuple[AdKind, ...]
    expression: Expression
    keeps: bool = False
    mode: Mode = Mode.ENFORCE
    description: str = ""


@hookimpl
def negotiator_section() -> Section:
    """Own the knobs of the specification and the list of named policies."""
    return Section(schema=CentralExpressions, check=check)


@hookimpl
def negotiator_gate_ads(
    kind: AdKind, ads: Table, settings: CentralExpressions, cycle: Cycle
) -> Iterator[Gate]:
    """Evaluate the gates for this kind of ads, knobs first, then named policies in their order."""
    for rule in _rules(settings):
        if kind in rule.kinds:
            true = evaluate_table(bind(rule.expression.tree), ads, env=cycle.environment).is_true()
            yield Gate(
                rule=rule.name,
                discard=~true if rule.keeps else true,
                code="constraint" if rule.keeps else "policy_gate",
                text=_line(
                    rule.description
                    or f"{rule.name} is {'not ' if rule.keeps else ''}true: {rule.expression.text}"
                ),
                source=rule.expression.source,
                mode=rule.mode,
            )


@hookimpl
def negotiator_constraints(settings: CentralExpressions) -> Iterator[Constraint]:
    """Return the two central match expressions, then the named policies that apply to matches."""
    if settings.resource:
        yield _constraint("NEGOTIATOR_PE_RESOURCE_EXPR", ConstraintSide.RESOURCE, settings.resource)
    if settings.job:
        yield _constraint("NEGOTIATOR_PE_JOB_EXPR", ConstraintSide.JOB, settings.job)
    for policy in settings.policies:
        if policy.applies_to is AppliesTo.MATCH:
            yield _constraint(
                policy.name, ConstraintSide.JOB, policy.expression, policy.mode, policy.description
            )


def _constraint(
    rule: str,
    side: ConstraintSide,
    expression: Expression,
    mode: Mode = Mode.ENFORCE,
    description: str = "",
) -> Constraint:
    return Constraint(
        rule=rule,
        side=side,
        expression=expression.tree,
        text=_line(description or f"{rule}: {expression.text}"),
        source=expression.source,
        mode=mode,
    )


def _line(text: str) -> str:
    """Return one printable line of bounded length; in the bundle a text may have several lines."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= _LONGEST_TEXT else f"{line[: _LONGEST_TEXT - 3]}..."


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
            yield _GateRule(name, kinds, expression, keeps)
    yield from (_named(policy) for policy in settings.policies if policy.applies_to is not AppliesTo.MATCH)


def _named(policy: NamedPolicy) -> _GateRule:
    return _GateRule(
        policy.name,
        _KINDS[policy.applies_to],
        policy.expression,
        mode=policy.mode,
        description=policy.description,
    )
