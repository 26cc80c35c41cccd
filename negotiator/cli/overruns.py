"""Overruns for people: lines, tables, and one line of a summary. They are limits that are exceeded, and running jobs that a policy would deny."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from negotiator.cli.phrases import number, rule
from negotiator.queues.quantities import format_quantity

if TYPE_CHECKING:
    from negotiator.app.cycle_report import CycleReport, CycleResult, LastCycle, Overrun

#: Lines of each level in a cycle.
_LINES = 8
#: Columns of ``limit_rows`` and ``job_rows``.
LIMIT_COLUMNS = ("LIMIT OF", "RESOURCE", "USED", "LIMIT", "RULE")
JOB_COLUMNS = ("JOB", "USER", "SLOT", "REASON", "RULE")


def print_overrun_changes(log: Any, report: CycleReport) -> None:
    """Print what broke a rule in this cycle but not in the one before, and what no longer does; ``log`` is a bound logger.

    Limits also where they are exceeded by more or less than before.
    """
    result = report.result
    before = {each.key: each.used - each.limit for each in report.state.overruns if each.is_limit}
    more = [
        (each.used - each.limit - before[each.key], each)
        for each in result.overruns
        if each.is_limit and each.key in before
    ]
    worse = [("begun", each) for each in result.overruns_begun]
    worse += [("grown", each) for growth, each in more if growth > 0]
    better = [("shrunk", each) for growth, each in more if growth < 0]
    better += [("ended", each) for each in result.overruns_ended]
    _print_lines(log.warning, worse)
    _print_lines(log.info, better)
    for outcome in report.evicted[:_LINES]:
        overrun = outcome.eviction.overrun
        write = log.info if outcome.accepted else log.warning
        detail = {"detail": outcome.text} if outcome.text else {}
        write("eviction", of=overrun.subject, accepted=outcome.accepted, rule=rule(overrun.reason), **detail)
    if len(report.evicted) > _LINES:
        log.info("eviction", others=len(report.evicted) - _LINES)


def limit_rows(result: CycleResult) -> Iterator[tuple[str, ...]]:
    """Yield the exceeded limits, the most exceeded ones first."""
    for each in result.overruns:
        if each.is_limit:
            used, limit = _amount(each, each.used), _amount(each, each.limit)
            yield each.subject, each.resource, used, limit, rule(each.reason)


def job_rows(result: CycleResult) -> Iterator[tuple[str, ...]]:
    """Yield the running jobs that a policy would deny, rule by rule."""
    for each in result.overruns:
        if not each.is_limit:
            yield each.job, each.user, each.slot, each.reason.text, rule(each.reason)


def overrun_lines(result: CycleResult) -> tuple[list[str], list[str]]:
    """Return a line for each exceeded limit, and one for each rule that running jobs break."""
    limits = [f"{each.reason.text} ({rule(each.reason)})" for each in result.overruns if each.is_limit]
    jobs = [
        f"{number(each.jobs, 'running job')}: {each.reason.text} ({rule(each.reason)})"
        for each in result.overrun_counts
        if each not in result.shadow_overruns
    ]
    return limits, jobs


def overrun_sums(sums: LastCycle) -> str:
    """Return ``3 jobs run against 2 rules, 1 limit exceeded; 40 jobs unknown``; empty without any."""
    verb = "runs" if sums.overruns == 1 else "run"
    parts = (
        f"{number(sums.overruns, 'job')} {verb} against {number(sums.overrun_rules, 'rule')}"
        if sums.overruns
        else "",
        f"{number(sums.limits_exceeded, 'limit')} exceeded" if sums.limits_exceeded else "",
    )
    unknown = f"{number(sums.unjudged, 'job')} unknown" if sums.unjudged else ""
    return "; ".join(filter(None, (", ".join(filter(None, parts)), unknown)))


def _print_lines(write: Any, changes: Sequence[tuple[str, Overrun]]) -> None:
    for change, each in changes[:_LINES]:
        fields: dict[str, Any] = {"resource": each.resource} if each.resource else {}
        if each.is_limit and change != "ended":
            fields |= {"used": _amount(each, each.used), "limit": _amount(each, each.limit)}
        write("overrun", change=change, of=each.subject, **fields, rule=rule(each.reason))
    if len(changes) > _LINES:
        write("overrun", others=len(changes) - _LINES)


def _amount(overrun: Overrun, amount: float) -> str:
    if isinstance(amount, int):
        return format_quantity(overrun.resource, amount) if overrun.resource else str(amount)
    return f"{amount:g}"
