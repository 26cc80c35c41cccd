"""Lines on a cycle in shadow mode: what the pool's negotiator decided otherwise, by the rule that made the difference."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from negotiator.app.shadow import Difference, DifferenceKind, ShadowReport, ShadowTotals

#: Rules that are shown of each cycle, and of all cycles together.
_RULES, _TOTALS = 8, 8
_THEIRS = 120  # characters of the other negotiator's reason


def print_shadow_report(log: Any, report: ShadowReport, totals: ShadowTotals) -> None:
    """Print what the pool's negotiator did since a cycle, and the sums of all cycles; ``log`` is a bound logger."""
    log.info(
        "shadow",
        cycle=report.number,
        seconds=round(report.until - report.since),
        same=report.same,
        other_slot=report.other_slot,
        **_kinds(each.kind for each in report.differences),
        not_comparable=sum(report.not_comparable.values()),
        **{str(cause): count for cause, count in sorted(report.not_comparable.items())},
        new_jobs=report.new_jobs,
    )
    groups: dict[tuple[DifferenceKind, str], list[Difference]] = {}
    for each in report.differences:
        groups.setdefault((each.kind, each.rule), []).append(each)
    ranked = sorted(groups.items(), key=lambda item: -len(item[1]))
    for (kind, rule), found in ranked[:_RULES]:
        log.warning("difference", kind=str(kind), jobs=len(found), rule=rule, **_example(found[0]))
    _others(log, "difference", [len(found) for _, found in ranked[_RULES:]])
    log.info(
        "shadow total",
        cycles=totals.cycles,
        same=totals.same,
        other_slot=totals.other_slot,
        **_kinds(kind for kind, _ in totals.differences.elements()),
        not_comparable=totals.not_comparable.total(),
    )
    ranked_totals = totals.differences.most_common()
    for (kind, rule), jobs in ranked_totals[:_TOTALS]:
        log.info("shadow total", kind=str(kind), jobs=jobs, rule=rule)
    _others(log, "shadow total", [jobs for _, jobs in ranked_totals[_TOTALS:]])


def _kinds(kinds: Iterable[DifferenceKind]) -> dict[str, int]:
    found = list(kinds)
    return {str(kind): found.count(kind) for kind in DifferenceKind}


def _example(difference: Difference) -> dict[str, str]:
    """Return the fields of the first job of a rule."""
    fields = {"job": difference.job, "submitter": difference.submitter, "slot": difference.slot}
    if difference.reason is not None:
        fields["reason"] = difference.reason.text
    if difference.instead:
        fields["instead"] = difference.instead
    if difference.theirs:
        fields["theirs"] = difference.theirs[:_THEIRS]
    return fields


def _others(log: Any, event: str, jobs: list[int]) -> None:
    if jobs:
        log.info(event, other_rules=len(jobs), jobs=sum(jobs))
