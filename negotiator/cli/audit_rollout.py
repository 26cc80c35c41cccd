"""``negotiator audit rollout``: what the rules that do not enforce would have denied, to decide whether they should."""

from __future__ import annotations

import json
from typing import Final

import click

from negotiator.app.rollout import (
    RolloutBy,
    RolloutPart,
    RolloutReport,
    RolloutRule,
    rollout_report,
    rollout_values,
)
from negotiator.cli.phrases import record_time
from negotiator.cli.render import Row, printable
from negotiator.cli.screen import ScreenTable, print_tables
from negotiator.hooks.command_targets import CommandTargets

_DAY: Final = 10  # characters of a time: 2026-11-23
_MINUTE: Final = 16  # 2026-11-23 14:05
_COUNTS: Final = ("MATCHES", "OF ALL", "JOBS")
_LEGEND: Final[tuple[str, ...]] = (
    "MATCHES that the rule would have denied (in parentheses: that no other such rule would),",
    "ADS that it would have discarded, jobs DENIED ANYWAY all slots by another rule (ads and",
    "jobs: of the cycle with most of them).",
)


def rollout(
    targets: CommandTargets, rule: str, by: str | None, since: float | None, *, full: bool, as_json: bool
) -> None:
    """Print what the rules in mode warn or dryrun would have denied."""
    group = None if by is None else RolloutBy(by)
    report = rollout_report(targets, rule, group, since)
    if as_json:
        click.echo(json.dumps(rollout_values(report), indent=2))
    elif not report.rules:
        click.echo("No rule of the last bundle in the log is in mode warn or dryrun.")
    else:
        _print(report, group, full=full)
    if not report.searched:
        click.echo("the search ended before the beginning of the log: use --since", err=True)


def _print(report: RolloutReport, by: RolloutBy | None, *, full: bool) -> None:
    if by is None:
        table, heading = _by_rule(report), _LEGEND
    else:
        headers = ("RULE", by.upper(), *_COUNTS, "USERS", "FIRST", "LAST")
        rows = [_part_row(each, part) for each in report.rules for part in each.parts]
        table = ScreenTable("Matches that the rules would have denied", headers, rows, right=(2, 3, 4, 5))
        heading = () if rows else ("The rules would have denied no match.",)
    print_tables([table], full=full, heading=heading, details="Details: --full, --by user or day, or --json")


def _by_rule(report: RolloutReport) -> ScreenTable:
    headers = ("RULE", "MODE", "SINCE", *_COUNTS, "USERS", "FIRST", "LAST", "ADS", "DENIED ANYWAY")
    rows = [_row(each) for each in report.rules]
    return ScreenTable("Rules", headers, rows, right=(3, 4, 5, 6, 9), noun="rule")


def _row(found: RolloutRule) -> Row:
    total = found.total
    denied = [f"{jobs} by {printable(rule)}" for rule, jobs in found.denied.items()]
    return (
        _name(found),
        found.mode,
        ("before " if found.is_older else "") + _minute(found.since),
        *_counts(total),
        str(total.users or ""),
        total.first[:_DAY],
        total.last[:_DAY],
        str(found.ads or ""),
        ", ".join(denied),
    )


def _part_row(found: RolloutRule, part: RolloutPart) -> Row:
    name = printable(part.name or "(unknown)")
    return (_name(found), name, *_counts(part), str(part.users), _minute(part.first), _minute(part.last))


def _counts(part: RolloutPart) -> Row:
    share = f"{part.matches / part.of_all:.1%}" if part.of_all else ""
    return (f"{part.matches} ({part.alone})" if part.matches else "0", share, str(part.jobs or ""))


def _name(found: RolloutRule) -> str:
    return printable(f"{found.plugin}: {found.rule}")


def _minute(time: str) -> str:
    return record_time(time)[:_MINUTE]
