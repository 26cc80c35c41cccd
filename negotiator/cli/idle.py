"""``negotiator idle``: why the idle jobs of a pool get no slot."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import attrs
import click

from negotiator.app.idle import IdleJobs, IdleReport, SplitClasses, idle_report, idle_values
from negotiator.cli.errors import print_failures
from negotiator.cli.loading import load_view
from negotiator.cli.phrases import number, rule
from negotiator.cli.problems import print_problems
from negotiator.cli.render import Row, print_wrapped, printable
from negotiator.cli.screen import ScreenTable, print_tables
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets
from negotiator.queues.names import upwards
from negotiator.records import CORE

_Name: TypeAlias = Callable[[IdleJobs], str]

_NO_PART: Final = "(took no part)"


@attrs.define
class _Sum:
    """Jobs that are added up: their number, and the most of them that have one reason."""

    most: IdleJobs
    jobs: int = 0
    texts: int = 0


def idle(
    targets: CommandTargets, by: str, user: str, queue: str | None, *, full: bool, as_json: bool
) -> None:
    """Print why the idle jobs of a pool get no slot."""
    view = load_view(targets)
    report = idle_report(view)
    print_problems(view.snapshot.problems, err=True)
    print_failures(report.failures)
    report = attrs.evolve(report, idle=tuple(each for each in report.idle if _is_wanted(each, user, queue)))
    if as_json:
        click.echo(json.dumps(idle_values(report), indent=2))
    else:
        _print(report, by, full=full)
    sys.exit(ExitCode.PLUGIN if report.failures else ExitCode.DONE)


def _is_wanted(idle: IdleJobs, user: str, queue: str | None) -> bool:
    return (not user or idle.user == user) and (queue is None or queue in upwards(idle.queue))


def _print(report: IdleReport, by: str, *, full: bool) -> None:
    waiting = sum(each.jobs for each in report.idle)
    click.echo(f"{number(waiting, 'job')} without a slot; a cycle now would match {report.matched}.")
    if report.split is not None:
        print_wrapped(printable(_split(report.split)))
    click.echo()
    # A reason is its own name.
    first = 1 if by == "reason" else 0
    rows = [row[first:] for row in _rows(report.idle, by)]
    headers = (by.upper(), "JOBS", "VERDICT", "REASON", "RULE")[first:]
    table = ScreenTable("Idle jobs", headers, rows, right=(1 - first,))
    print_tables([table], full=full, details="Details: --full, --by user or queue, or negotiator why JOB")


def _split(found: SplitClasses) -> str:
    of = f"{found.jobs} idle jobs are {found.classes} classes of alike jobs"
    if not found.attribute:
        return (
            f"{of}: an expression or a plugin may read any attribute, so that no two of most jobs are alike."
        )
    readers = f"; it is read by {', '.join(found.readers)}" if found.readers else ""
    return f"{of}; without {found.attribute} they would be {found.without}{readers}."


def _rows(idle: Sequence[IdleJobs], by: str) -> list[Row]:
    """Return a row for each reason, user or queue, with the reason of most of its jobs; those with most jobs first."""
    names: dict[str, _Name] = {
        "reason": _reason,
        "user": lambda each: each.user or _NO_PART,
        "queue": lambda each: each.queue or _NO_PART,
    }
    sums: dict[str, _Sum] = {}
    for each in idle:
        own = sums.setdefault(names[by](each), _Sum(each))
        own.jobs += each.jobs
        own.texts += 1
        if each.jobs > own.most.jobs:
            own.most = each
    found = sorted(sums.items(), key=lambda item: (-item[1].jobs, item[0]))
    return [_row(name, own, by) for name, own in found]


def _row(name: str, own: _Sum, by: str) -> Row:
    reason = own.most.reason
    noun = "more like it" if by == "reason" else "other reasons"
    others = f" (and {own.texts - 1} {noun})" if own.texts > 1 else ""
    return (
        printable(name),
        str(own.jobs),
        str(reason.verdict),
        f"{printable(reason.text)}{others}",
        "" if reason.provenance.plugin == CORE else printable(rule(reason)),
    )


def _reason(idle: IdleJobs) -> str:
    """Return the rule and code of a reason; the core's own reasons name the expression of each job in their text."""
    reason = idle.reason
    where = CORE if reason.provenance.plugin == CORE else str(reason.provenance)
    return f"{reason.verdict} {reason.code} {where}"
