"""``negotiator policies``: what each rule does, and which did nothing in the last cycles."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import Final

import attrs
import click

from negotiator.app.policies import PolicyReport, RuleUse, policy_report, policy_values
from negotiator.cli.errors import print_failures
from negotiator.cli.loading import load_view
from negotiator.cli.phrases import number
from negotiator.cli.problems import print_problems
from negotiator.cli.render import Row, printable
from negotiator.cli.screen import ScreenTable, print_tables
from negotiator.errors import InvalidCallError
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets

_LEGEND: Final = (
    "ADS that it discards, SLOTS that it rejects (once for each request), JOBS of these",
    "requests without a slot, MATCHES that it would deny if it enforced, RUNNING jobs that break it.",
)
_LEGEND_OF_ALONE: Final = "In parentheses: those of them that no other rule does."
_HEADERS: Final = ("RULE", "PLACE", "MODE", "ADS", "SLOTS", "JOBS", "MATCHES", "RUNNING")
_HISTORY_HEADER: Final = "DID NOTHING IN"


def policies(targets: CommandTargets, idle: int | None, *, full: bool, as_json: bool) -> None:
    """Print what each rule does."""
    view = load_view(targets)
    report = policy_report(view)
    if report.cycle is None:
        print_problems(view.snapshot.problems, err=True)
    print_failures(report.failures)
    if idle is not None:
        if not report.has_history:
            raise InvalidCallError(
                "--idle: no negotiator has counted cycles: use --state FOLDER of one that runs"
            )
        report = attrs.evolve(report, rules=tuple(each for each in report.rules if _is_idle(each, idle)))
    if as_json:
        click.echo(json.dumps(policy_values(report), indent=2))
    else:
        _print(report, full=full)
    sys.exit(ExitCode.PLUGIN if report.failures else ExitCode.DONE)


def _is_idle(use: RuleUse, cycles: int) -> bool:
    return use.activity is not None and use.activity.idle >= cycles


def _print(report: PolicyReport, *, full: bool) -> None:
    alone = report.cycle is None
    when = "A cycle now" if alone else f"Cycle {report.cycle}"
    sizes = (number(report.slots, "slot"), number(report.jobs, "job"), number(report.matched, "match"))
    first = f"{when}: {', '.join(sizes)}, {number(report.unmatched, 'job')} without a slot."
    heading = (first, *_LEGEND, *((_LEGEND_OF_ALONE,) if alone else ()))
    rows = [_row(each, alone=alone, idle=report.has_history) for each in report.rules]
    headers = (*_HEADERS, _HISTORY_HEADER) if report.has_history else _HEADERS
    table = ScreenTable("Rules", headers, rows, right=(3, 4, 5, 6, 7), noun="rule")
    print_tables([table], full=full, heading=heading, details="Details: --full, --idle CYCLES, or --json")
    if report.rules_left_out:
        click.echo(f"{number(report.rules_left_out, 'rule')} too many: their cycles are not counted.")
    if not rows:
        click.echo("No such rule.")


def _row(use: RuleUse, *, alone: bool, idle: bool) -> Row:
    counts = use.counts
    pairs = (
        (counts.ads, counts.ads_alone),
        (counts.slots, counts.slots_alone),
        (counts.jobs, counts.jobs_alone),
        (counts.matches, counts.matches_alone),
    )
    return (
        printable(f"{use.plugin}: {use.rule}"),
        printable(use.source),
        use.mode,
        *((f"{count} ({only})" if alone else f"{count}") if count else "" for count, only in pairs),
        str(use.overruns or ""),
        *((_idle(use),) if idle else ()),
    )


def _idle(use: RuleUse) -> str:
    """``all 500 cycles since 2026-11-20 14:00`` or ``the last 12 of 500 cycles``; empty for a rule that did something in the last one."""
    found = use.activity
    if found is None:
        return "no cycle was counted" if use.is_declared else ""
    if not found.idle:
        return ""
    if found.active:
        return f"the last {found.idle} of {number(found.cycles, 'cycle')}"
    since = datetime.fromtimestamp(found.since, UTC).isoformat(" ", "minutes")[:16]
    return f"all {number(found.cycles, 'cycle')} since {since}"
