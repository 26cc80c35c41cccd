"""What schedds may do with claims under a bundle: the rules that jobs may break without being matched, and what keeping them costs."""

from __future__ import annotations

from collections.abc import Iterator

from negotiator.bundle import Bundle
from negotiator.bundle.folder import MAIN
from negotiator.bundle.reuse import ReusePlan, RuleKind
from negotiator.cycle.claim_reuse import ReuseReport
from negotiator.hooks.overruns import Reuse
from negotiator.pool import Snapshot
from negotiator.records import Problem, Severity, Source


def lint_reuse(bundle: Bundle, pool: Snapshot | None) -> Iterator[Problem]:
    """Name the rules that can be bypassed; without a pool those of which ``allow`` is written, and those that no expression can say."""
    plan = ReusePlan.of(bundle)
    if pool is not None:
        report = ReuseReport.of(plan, pool)
        for each in report.bypasses:
            message = f"{each.rule} can be bypassed by further jobs of a claim: {each.why}"
            yield Problem(Severity.NOTICE, each.source or Source(MAIN), message)
        for note in report.notes:
            of = f"{report.one_job:,} of {report.slots:,} slots"
            yield Problem(Severity.NOTICE, Source(MAIN), f"{of}: {note}")
        return
    for rule in plan.rules:
        place = rule.source or Source(MAIN)
        if not rule.can_be_bypassed or rule.kind is RuleKind.COUNT:
            continue
        if rule.reuse is Reuse.ALLOW and plan.tested is not Reuse.NEVER:
            message = f"{rule.name} can be bypassed by further jobs of a claim: reuse: allow is written"
            yield Problem(Severity.NOTICE, place, message)
        elif rule.reuse is Reuse.SAME and rule.condition is None:
            message = f"{rule.name} leaves each claim to one job: {rule.obstacle}"
            yield Problem(Severity.NOTICE, place, message, "reuse: allow, if it may be bypassed")
