"""``negotiator status``: the health and the last cycle of a negotiator."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import attrs
import click

from negotiator.app.health import HealthReport, NegotiatorStatus, negotiator_health
from negotiator.app.targets import clock
from negotiator.cli.overruns import overrun_sums
from negotiator.cli.phrases import number
from negotiator.cli.render import printable
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records.text import utc_time

_WIDTH = 12  # of the names of rows
_DIGITS = 12  # of a digest


def status(targets: CommandTargets, *, as_json: bool) -> None:
    """Print the health of the negotiator of a state, and exit with its code."""
    if targets.state is None:
        raise click.UsageError("missing --state")
    now = clock(targets)()
    report = negotiator_health(targets.required_state, now)
    if as_json:
        values = None if report.status is None else attrs.asdict(report.status)
        shown = {"health": str(report.health), "text": report.text, "status": values}
        click.echo(json.dumps(shown, sort_keys=True))
    else:
        for name, text in _rows(report, now):
            click.echo(f"{name:<{_WIDTH}}{printable(text)}")
    sys.exit(report.health.exit_code)


def _rows(report: HealthReport, now: float) -> Iterator[tuple[str, str]]:
    yield "Negotiator", f"{report.health}: {report.text}" if report.text else str(report.health)
    if (status := report.status) is not None:
        yield "Process", f"{status.process} on {status.host}, started {utc_time(status.started)}"
        yield "Bundle", status.bundle[:_DIGITS]
        for each in status.rejection:
            yield "Rejected", f"{utc_time(status.rejected or 0.0)}: {each}"
        for each in status.differences:
            yield "Differs", each
        yield from _last_cycle(status)
        yield "Next cycle", _next(status, now)


def _last_cycle(status: NegotiatorStatus) -> Iterator[tuple[str, str]]:
    last = status.last
    if last is None:
        yield "Last cycle", "none"
        return
    seconds = last.ended - last.begun
    yield "Last cycle", f"{last.number}, ended {utc_time(last.ended)} after {seconds:.1f} s"
    yield "Pool", f"{number(last.slots, 'slot')}, {number(last.jobs, 'job')}"
    matched = f"{number(last.matches, 'match')}, {number(last.rejections, 'rejection')}"
    yield "Decided", f"{matched}, {last.undelivered} not delivered" if last.undelivered else matched
    if found := overrun_sums(last):
        yield "Overruns", found
    for each in last.bypassed:
        yield "Bypassable", each
    for each in last.reuse:
        yield "One job", f"a claim on {number(last.one_job_slots, 'slot')}: {each}"
    for each in last.unanswered:
        yield "Unanswered", each
    for each in last.plugins:
        yield "Failed", f"plugin {each}"


def _next(status: NegotiatorStatus, now: float) -> str:
    if status.cycle_since is not None:
        return f"runs since {utc_time(status.cycle_since)}"
    if status.next_cycle is None:
        return "not scheduled"
    return f"{utc_time(status.next_cycle)} (in {max(0.0, status.next_cycle - now):.0f} s)"
