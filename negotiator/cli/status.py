"""``negotiator status``: the health and the last cycle of a negotiator, its state, and the settings of the service."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import attrs
import click

from negotiator.app.health import HealthReport, NegotiatorStatus, negotiator_health
from negotiator.app.state_copies import StateSummary, state_summary
from negotiator.app.targets import clock
from negotiator.cli.messages import print_message
from negotiator.cli.overruns import overrun_sums
from negotiator.cli.phrases import number
from negotiator.cli.render import print_table, printable
from negotiator.cli.settings import print_settings, take_settings
from negotiator.errors import StateError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records.text import utc_time

_WIDTH = 12  # of the names of rows
_DIGITS = 12  # of a digest


def status(
    context: click.Context, *, settings: bool, full: bool, now: float | None, as_json: bool, **given: Any
) -> None:
    """Print the health of the negotiator of a state and what the state has, and exit with the code of its health.

    :param settings: print the settings of the service instead.
    :raises StateError: the state is missing.
    :raises SettingsError: the settings are printed, and have errors.
    """
    found = take_settings(context, given)
    if settings:
        if full or now is not None:
            raise click.UsageError("--full and --now cannot be used with --settings")
        print_settings(context, found, as_json=as_json)
        return
    targets = attrs.evolve(found.targets, now=now)
    at = clock(targets)()
    report = negotiator_health(targets.required_state, at)
    if as_json:
        values = None if report.status is None else attrs.asdict(report.status)
        state = _read_state(targets)
        found_state = None if state is None else attrs.asdict(state)
        shown = {"health": str(report.health), "text": report.text, "status": values, "state": found_state}
        click.echo(json.dumps(shown, sort_keys=True))
    else:
        _print_rows(_rows(report, at))  # before the state, which a database may not give
        if (state := _read_state(targets)) is not None:
            _print_state(state, full=full)
    sys.exit(report.health.exit_code)


def _read_state(targets: CommandTargets) -> StateSummary | None:
    """Return what the state has; None, with a warning, if it cannot be read here: whether a negotiator works is known without it."""
    try:
        return state_summary(targets)
    except StateError as error:
        print_message(f"warning: {printable(str(error))}", err=True)
        return None


def _print_rows(rows: Iterator[tuple[str, str]]) -> None:
    for name, text in rows:
        click.echo(f"{name:<{_WIDTH}}{printable(text)}")


def _print_state(found: StateSummary, *, full: bool) -> None:
    _print_rows(_state(found))
    if full:
        click.echo()
        rows = [(name, str(count)) for name, count in found.rows.items()]
        print_table("Rows", ("TABLE", "ROWS"), rows, right=(1,))


def _state(found: StateSummary) -> Iterator[tuple[str, str]]:
    yield "State", f"{found.place}, version {found.version}"
    if found.leader is not None:
        yield "Leader", f"process {found.leader.process} on {found.leader.host}"
    yield "Rows", f"{sum(found.rows.values())} in {number(len(found.rows), 'table')}"


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
