"""``negotiator state``: the backup of a state, and its restoration."""

from __future__ import annotations

from pathlib import Path

import click

from negotiator.app import state_copies
from negotiator.cli.phrases import number
from negotiator.cli.render import printable
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records.text import utc_time


def backup(targets: CommandTargets, file: Path) -> None:
    """Write a backup."""
    done = state_copies.back_up(targets, file)
    click.echo(printable(f"{file}: {number(sum(done.rows.values()), 'row')} of {done.place}"))


def restore(targets: CommandTargets, file: Path, *, replace: bool) -> None:
    """Restore a backup."""
    done = state_copies.restore(targets, file, replace=replace)
    made = utc_time(done.made)
    click.echo(printable(f"restored {number(sum(done.rows.values()), 'row')}, as {done.place} was at {made}"))
