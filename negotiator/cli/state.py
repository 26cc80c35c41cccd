"""``negotiator state``: what a state has, its backup, and its restoration."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import click

from negotiator.app import state_copies
from negotiator.cli.phrases import number
from negotiator.cli.render import print_table, printable
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records.text import utc_time


def show(targets: CommandTargets, *, as_json: bool) -> None:
    """Print where a state is, its version and its rows."""
    found = state_copies.state_summary(targets)
    if as_json:
        click.echo(json.dumps(attrs.asdict(found), sort_keys=True))
        return
    click.echo(printable(f"State {found.place}, version {found.version}"))
    if found.leader is not None:
        click.echo(printable(f"Leader: process {found.leader.process} on {found.leader.host}"))
    click.echo()
    print_table(
        "Rows", ("TABLE", "ROWS"), [(name, str(rows)) for name, rows in found.rows.items()], right=(1,)
    )


def backup(targets: CommandTargets, file: Path) -> None:
    """Write a backup."""
    done = state_copies.back_up(targets, file)
    click.echo(printable(f"{file}: {number(sum(done.rows.values()), 'row')} of {done.place}"))


def restore(targets: CommandTargets, file: Path, *, replace: bool) -> None:
    """Restore a backup."""
    done = state_copies.restore(targets, file, replace=replace)
    made = utc_time(done.made)
    click.echo(printable(f"restored {number(sum(done.rows.values()), 'row')}, as {done.place} was at {made}"))
