"""The settings of the central expressions, and their check.

Source: "Pool-wide policy enforcement" (the five ``NEGOTIATOR_PE_*`` expressions); the HTCondor manual, configuration
macros of the negotiator (``NEGOTIATOR_*_CONSTRAINT``).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Iterator

import attrs

from negotiator.plugin import (
    Expression,
    Mode,
    OverrunAction,
    Problem,
    Reuse,
    Severity,
    Source,
    printable,
    references,
)

_LONGEST_NAME = 200  # characters; the most that the name of a rule may have


_LONGEST_TEXT = 500  # characters; the audit log has no more


class AppliesTo(enum.StrEnum):
    """The ads that a named policy is evaluated for."""

    SCHEDD = "schedd"  # schedd and submitter ads: true discards
    STARTD = "startd"  # slot ads: true discards
    JOB = "job"  # job ads: true discards
    MATCH = "match"  # a job (MY) and a slot (TARGET): anything but true forbids the match


@attrs.frozen
class NamedPolicy:
    """One named policy of the list ``policies:``."""

    name: str
    applies_to: AppliesTo
    expression: Expression
    mode: Mode = Mode.ENFORCE
    description: str = ""
    allow_unscoped: bool = False
    overruns: OverrunAction | None = (
        None  # what becomes of running jobs that it would deny; None for the bundle's
    )
    overrun_grace: float | None = None
    reuse: Reuse | None = None  # None: as the bundle says
    source: Source | None = None


@attrs.frozen
class CentralExpressions:
    """The keys of ``pool.yaml`` (and the knobs of an HTCondor-style file) that this plugin owns."""

    schedd_only: Expression | None = attrs.field(default=None, alias="NEGOTIATOR_PE_SCHEDD_ONLY_EXPR")
    startd_only: Expression | None = attrs.field(default=None, alias="NEGOTIATOR_PE_STARTD_ONLY_EXPR")
    job_only: Expression | None = attrs.field(default=None, alias="NEGOTIATOR_PE_JOB_ONLY_EXPR")
    resource: Expression | None = attrs.field(default=None, alias="NEGOTIATOR_PE_RESOURCE_EXPR")
    job: Expression | None = attrs.field(default=None, alias="NEGOTIATOR_PE_JOB_EXPR")
    submitter_constraint: Expression | None = attrs.field(
        default=None, alias="NEGOTIATOR_SUBMITTER_CONSTRAINT"
    )
    slot_constraint: Expression | None = attrs.field(default=None, alias="NEGOTIATOR_SLOT_CONSTRAINT")
    job_constraint: Expression | None = attrs.field(default=None, alias="NEGOTIATOR_JOB_CONSTRAINT")
    allow_unscoped: bool = attrs.field(default=False, alias="NEGOTIATOR_PE_ALLOW_UNSCOPED")
    policies: tuple[NamedPolicy, ...] = ()


def check(settings: CentralExpressions) -> Iterator[Problem]:
    """Find names that let an ad evade a policy, or that are always undefined."""
    for expression in (settings.resource, settings.job):
        if expression and not settings.allow_unscoped:
            yield from _unscoped(expression, "NEGOTIATOR_PE_ALLOW_UNSCOPED: true")
    gates = (
        settings.schedd_only,
        settings.startd_only,
        settings.job_only,
        settings.submitter_constraint,
        settings.slot_constraint,
        settings.job_constraint,
    )
    for expression in gates:
        if expression:
            yield from _targets(expression)
    yield from _names(settings.policies)
    for policy in settings.policies:
        if policy.applies_to is not AppliesTo.MATCH:
            yield from _targets(policy.expression)
        elif not policy.allow_unscoped:
            yield from _unscoped(policy.expression, "allow_unscoped: true")


def _unscoped(expression: Expression, way_out: str) -> Iterator[Problem]:
    """Find names without scope: they resolve in MY first, so that a job with ``Mips`` would pass a test of the slot's."""
    found = references(expression.tree)
    for name in sorted(found.unscoped):
        spelled, source = expression.find(name)
        as_text = (
            f'write "{spelled}" if it is a text; or ' if f"'{name}'" in expression.text.lower() else "write "
        )
        yield Problem(
            Severity.ERROR,
            source,
            f"{spelled} has no scope: the ad whose Requirements this is ANDed to could define it and evade the policy",
            f"{as_text}MY.{spelled} or TARGET.{spelled}; or, if that is intended, {way_out}",
        )
    if found.dynamic:
        yield Problem(
            Severity.ERROR,
            expression.source or Source(""),
            "the attributes that this expression reads are not known from its text (eval, an absolute reference, or an ad as a value)",
            f"name the attributes with MY. or TARGET.; or, if that is intended, {way_out}",
        )


def _targets(expression: Expression) -> Iterator[Problem]:
    if "currenttime" in references(expression.tree).unscoped:
        spelled, source = expression.find("CurrentTime")
        yield Problem(
            Severity.ERROR,
            source,
            f"{spelled} can be defined by an ad, which would then set the clock of this policy",
            "use time()",
        )
    for name in sorted(references(expression.tree).target):
        spelled, source = expression.find(f"TARGET.{name}")
        yield Problem(
            Severity.WARNING,
            source,
            f"{spelled} is always undefined here: a gate is evaluated for one ad alone",
            "remove the scope, or write a policy with applies_to: match",
        )


def _names(policies: Iterable[NamedPolicy]) -> Iterator[Problem]:
    seen: dict[str, NamedPolicy] = {}
    for policy in policies:
        if not policy.name.strip():
            yield Problem(
                Severity.ERROR,
                policy.source or Source(""),
                "missing name of a policy",
                "the audit log needs it",
            )
        elif len(policy.name) > _LONGEST_NAME or not policy.name.isprintable():
            yield Problem(
                Severity.ERROR,
                policy.source or Source(""),
                f"a policy name must have at most {_LONGEST_NAME} printable characters",
                "put the rest into its description",
            )
        if policy.overrun_grace is not None and not 0 <= policy.overrun_grace < math.inf:
            yield Problem(
                Severity.ERROR,
                policy.source or Source(""),
                "overrun_grace must be a number of seconds, 0 or more",
                "remove it for the bundle's own",
            )
        first = seen.setdefault(policy.name, policy)
        if first is not policy:
            yield Problem(
                Severity.ERROR,
                policy.source or Source(""),
                f"duplicate policy {policy.name!r}; the first is at {first.source}",
                "rename one: the audit log identifies policies by name",
            )


def one_line(text: str) -> str:
    """Return one printable line of bounded length; in the bundle a text may have several lines."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= _LONGEST_TEXT else f"{line[: _LONGEST_TEXT - 3]}..."
