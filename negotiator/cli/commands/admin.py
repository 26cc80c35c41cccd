"""``negotiator admin``: administrators' actions on applications and on the configuration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from negotiator.app.token_roles import Role
from negotiator.cli.options import RegularFile, pass_program
from negotiator.defaults import DEFAULT_STATE, MAX_NOTE
from negotiator.hooks.command_options import OPTIONS, targets_from

if TYPE_CHECKING:
    from negotiator.app.context import ProgramContext


def _bounded(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if len(value) > MAX_NOTE:
        raise click.BadParameter(f"it has {len(value)} characters: at most {MAX_NOTE} are allowed")
    return value


def _common(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--note", default="", callback=_bounded, help="Reason, for the audit log."),
        click.option(
            "--wait", type=float, default=30.0, show_default=True, help="Seconds to wait for an answer."
        ),
        targets_from(
            "bundle",
            "plugins_dirs",
            "disable",
            "state",
            "audit_log",
            "key_file",
            short=True,
            bundle=OPTIONS["bundle"],
            state={"default": DEFAULT_STATE, "show_default": True},
        ),
        pass_program,
    ):
        function = option(function)
    return function


@click.group(short_help="Act on applications, change the bundle, make tokens.")
def admin() -> None:
    """Act on applications and on the configuration, as an administrator.

    An application is named SCHEDD#CLUSTER, or CLUSTER if only one schedd has it. Administrators of its queue (adminacl)
    may act on it; those of the scheduler (scheduleracl) change its configuration. Every action is in the audit log,
    denied ones too.

    A running negotiator (negotiator run --state DIR --every SECONDS) acts between two cycles. If none is running, the
    command itself acts, provided that the state belongs to its caller.

    \b
    Exit codes:
      0   it was done
      1   it was not done: denied, unknown application or queue, or the bundle has errors
      2   invalid command line
      3   the audit log could not be written: nothing was done
      6   the state could not be read or written
      75  the negotiator did not answer in time: it will do it later

    \b
    Examples:
      negotiator admin hold node1.example.org#12 --note "fills the scratch disk"
      negotiator admin move 12 root.production
      negotiator admin change queues.yaml new-queues.yaml --bundle policies/site
      negotiator admin token tokens.yaml --user alice
    """


@admin.command(short_help="Move an application to another queue.")
@click.argument("application", callback=_bounded)
@click.argument("queue")
@_common
def move(program: ProgramContext, /, **given: Any) -> None:
    """Move APPLICATION to QUEUE, an existing leaf."""
    from negotiator.cli import admin as implementation

    implementation.move(program, **given)


@admin.command(short_help="Exclude an application from matching.")
@click.argument("application", callback=_bounded)
@_common
def hold(program: ProgramContext, /, **given: Any) -> None:
    """Exclude APPLICATION from matching; its running jobs continue."""
    from negotiator.cli import admin as implementation

    implementation.hold(program, **given)


@admin.command(short_help="Admit an application to matching again.")
@click.argument("application", callback=_bounded)
@_common
def release(program: ProgramContext, /, **given: Any) -> None:
    """Admit APPLICATION, which is held, to matching again."""
    from negotiator.cli import admin as implementation

    implementation.release(program, **given)


@admin.command(short_help="End the jobs of an application.")
@click.argument("application", callback=_bounded)
@_common
def kill(program: ProgramContext, /, **given: Any) -> None:
    """End the jobs of APPLICATION, by the command that the bundle names (kill: command:); its owner may, too."""
    from negotiator.cli import admin as implementation

    implementation.kill(program, **given)


@admin.command(short_help="Make the running negotiator reload its bundle.")
@_common
def reload(program: ProgramContext, /, **given: Any) -> None:
    """Make the running negotiator reload its bundle; a bundle with errors does not replace the active one."""
    from negotiator.cli import admin as implementation

    implementation.reload(program, **given)


@admin.command(short_help="Replace a file of the bundle.")
@click.argument("name")
@click.argument("new", type=RegularFile("rb"))
@_common
def change(program: ProgramContext, /, **given: Any) -> None:
    """Replace the file NAME of the bundle by NEW (- for standard input), unless the bundle would have errors.

    The old file is saved beside it. A running negotiator loads the new bundle before its next cycle.
    """
    from negotiator.cli import admin as implementation

    implementation.change(program, **given)


@admin.command("token", short_help="Make a token for a client of the HTTP interface.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--user", required=True, help="User that the access policies of the bundle see.")
@click.option(
    "--group", "groups", multiple=True, help="Group of the user, the primary one first; may be repeated."
)
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.VIEWER.value,
    show_default=True,
    help="What it may be used for.",
)
@click.option("--days", type=click.IntRange(1, 36_500), help="Days that it is valid for.  [default: no end]")
def token_command(**given: Any) -> None:
    """Make a token, add its entry to FILE, and print it. FILE has only its SHA-256: nobody can print it again.

    A client sends it as ``Authorization: Bearer TOKEN``. To end it, delete its entry: the service reads a changed FILE at once.

    \b
    Exit codes:
      0  made
      1  the file cannot be read or written, or has an invalid entry
      2  invalid command line

    \b
    Example:
      negotiator admin token tokens.yaml --user alice --role scheduler-administrator --days 365
    """
    from negotiator.cli import token as implementation

    implementation.token(**given)
