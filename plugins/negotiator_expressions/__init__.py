"""The central expressions: gates over ads, and constraints that are ANDed to every Requirements.

Source: "Pool-wide policy enforcement", Solution design. A ``NEGOTIATOR_PE_*_ONLY_EXPR`` discards an ad where it is
true: undefined and error discard nothing. HTCondor's own ``NEGOTIATOR_*_CONSTRAINT`` mean the opposite: an ad is admitted
only where the expression is true.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs

from negotiator.plugin import Constraint, ConstraintSide, Expression, Mode, Section, hookimpl, references
from negotiator_expressions.settings import AppliesTo, CentralExpressions, check, one_line

if TYPE_CHECKING:
    from negotiator.plugin import AdKind, Cycle, DeclaredRule, Gate, QueueConfig, Table


@hookimpl
def negotiator_section() -> Section:
    """Own the knobs of the specification and the list of named policies."""
    return Section(schema=CentralExpressions, check=check, rules=_declared_rules)


def _declared_rules(settings: CentralExpressions, root: QueueConfig) -> Iterator[DeclaredRule]:
    from negotiator_expressions.gates import declared_rules

    del root
    return declared_rules(settings)


@hookimpl
def negotiator_gate_ads(
    kind: AdKind, ads: Table, settings: CentralExpressions, cycle: Cycle
) -> Iterator[Gate]:
    """Evaluate the gates for this kind of ads, knobs first, then named policies in their order."""
    from negotiator_expressions.gates import gates

    return gates(kind, ads, settings, cycle)


@hookimpl
def negotiator_gate_attributes(settings: CentralExpressions) -> Iterator[str]:
    """Name what the gates of jobs read."""
    named = (each.expression for each in settings.policies if each.applies_to is AppliesTo.JOB)
    for expression in filter(None, (settings.job_only, settings.job_constraint, *named)):
        found = references(expression.tree)
        # A schedd cannot be told of a name in quotes.
        yield from filter(str.isidentifier, sorted(found.my | found.target | found.unscoped))


@hookimpl
def negotiator_constraints(settings: CentralExpressions) -> Iterator[Constraint]:
    """Return the two central match expressions, then the named policies that apply to matches."""
    if settings.resource:
        yield _constraint("NEGOTIATOR_PE_RESOURCE_EXPR", ConstraintSide.RESOURCE, settings.resource)
    if settings.job:
        yield _constraint("NEGOTIATOR_PE_JOB_EXPR", ConstraintSide.JOB, settings.job)
    for policy in settings.policies:
        if policy.applies_to is AppliesTo.MATCH:
            made = _constraint(
                policy.name, ConstraintSide.JOB, policy.expression, policy.mode, policy.description
            )
            yield attrs.evolve(
                made, overruns=policy.overruns, overrun_grace=policy.overrun_grace, reuse=policy.reuse
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
        text=one_line(description or f"{rule}: {expression.text}"),
        source=expression.source,
        mode=mode,
    )
