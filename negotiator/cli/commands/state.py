"""``negotiator state``: the backup of a state, and its restoration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from negotiator.cli import options
from negotiator.defaults import DEFAULT_STATE

_FILE: Final = click.Path(dir_okay=False, path_type=Path)
_targets: Final[Callable[..., Any]] = options.targets(
    "state",
    state={"default": DEFAULT_STATE, "show_default": True, "help": "Folder of the negotiator's state."},
)


@click.group(short_help="Back up a state, and restore a backup.")
def state() -> None:
    """Back up a state, and restore a backup; negotiator status prints what it has.

    \b
    Examples:
      negotiator state backup /var/backups/negotiator.gz
      negotiator state restore /var/backups/negotiator.gz --replace
    """


@state.command("backup", short_help="Write a backup of a state.")
@click.argument("file", type=_FILE)
@_targets
def backup_command(**given: Any) -> None:
    """Write the state to FILE, compressed, as it is at one moment; a negotiator may use it meanwhile.

    Only this user may read FILE. An old FILE is replaced once the new one is complete.

    \b
    Exit codes:
      0  written
      1  the file could not be written
      2  invalid command line
      6  no state in the folder, or it could not be read
    """
    from negotiator.cli import state as implementation

    implementation.backup(**given)


@state.command("restore", short_help="Replace a state by a backup.")
@click.argument("file", type=_FILE)
@_targets
@click.option("--replace", is_flag=True, help="Replace a state that is not empty.")
def restore_command(**given: Any) -> None:
    """Make the state what it was when the backup FILE was made: all of it, or nothing.

    The negotiator must not run. If the audit log has later cycles than FILE, it refuses to start until --recover: matches since then may be
    handed out again.

    \b
    Exit codes:
      0  restored
      2  invalid command line
      6  a negotiator uses the state, it is not empty, or FILE was cut off or changed: nothing was restored
    """
    from negotiator.cli import state as implementation

    implementation.restore(**given)
