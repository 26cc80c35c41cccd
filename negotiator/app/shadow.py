"""Shadow mode: each cycle is compared with what the pool's own negotiator did until the next one."""

from __future__ import annotations

from typing import Any

import attrs

from negotiator.audit.values import bounded, instant, reason_fields
from negotiator.explain.shadow import Cause as Cause
from negotiator.explain.shadow import Difference as Difference
from negotiator.explain.shadow import DifferenceKind as DifferenceKind
from negotiator.explain.shadow import (
    JobDecisions,
    Observation,
    compare,
)
from negotiator.explain.shadow import ShadowReport as ShadowReport
from negotiator.explain.shadow import ShadowTotals as ShadowTotals
from negotiator.runtime.run import CycleReport


@attrs.define
class ShadowComparison:
    """Compares cycle after cycle. ``totals`` are the sums since the start."""

    totals: ShadowTotals = attrs.field(factory=ShadowTotals)
    _last: tuple[JobDecisions, Observation] | None = None

    def next(self, cycle: CycleReport) -> ShadowReport | None:
        """Return the report on the cycle before, now that a next one has seen the pool; None for the first cycle."""
        result = cycle.result
        seen = Observation.of(cycle.snapshot, result.now)
        last, self._last = self._last, (JobDecisions.of(result), seen)
        if last is None:
            return None
        report = compare(*last, seen)
        self.totals.add(report)
        return report


#: Differences of one cycle that are recorded in the audit log.
MOST_RECORDED = 100


def report_values(report: ShadowReport, most: int | None = None) -> dict[str, Any]:
    """Return a report as plain data.

    :param most: differences in it; None for all.
    """
    differences = report.differences[:most]
    return {
        "cycle": report.number,
        "bundle": report.digest,
        "since": instant(report.since),
        "until": instant(report.until),
        "same_slot": report.same_slot,
        "other_slot": report.other_slot,
        "same_idle": report.same_idle,
        "differences": [_difference_values(each) for each in differences],
        "differences_left_out": len(report.differences) - len(differences),
        "not_comparable": {str(cause): count for cause, count in sorted(report.not_comparable.items())},
        "not_comparable_jobs": {str(cause): [*jobs] for cause, jobs in sorted(report.examples.items())},
        "new_jobs": report.new_jobs,
        "new_running": report.new_running,
    }


def totals_values(totals: ShadowTotals) -> dict[str, Any]:
    """Return the totals as plain data."""
    return {
        "cycles": totals.cycles,
        "same": totals.same,
        "other_slot": totals.other_slot,
        "differences": [
            {"kind": str(kind), "rule": rule, "jobs": jobs}
            for (kind, rule), jobs in totals.differences.most_common()
        ],
        "not_comparable": {str(cause): count for cause, count in sorted(totals.not_comparable.items())},
    }


def _difference_values(difference: Difference) -> dict[str, Any]:
    texts = ("schedd", "job", "submitter", "slot", "theirs", "instead", "rule")
    return {
        "kind": str(difference.kind),
        **{name: bounded(getattr(difference, name)) for name in texts},
        "reason": None if difference.reason is None else reason_fields(difference.reason),
    }
