"""``negotiator admin``: administrators' actions on applications and on the configuration."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

import click

from negotiator.app.administer import AdminAction, AdminAnswer, administer, wait_for_answer
from negotiator.app.change import DEFAULT_STATE, MAX_NOTE
from negotiator.app.context import ProgramContext
from negotiator.app.targets import bundle_folder
from negotiator.cli.loading import print_warnings
from negotiator.cli.options import RegularFile, pass_program
from negotiator.cli.problems import print_problems
from negotiator.cli.render import printable
from negotiator.exit_codes import ExitCode
from negotiator.hooks.administration import ChangeStatus, CommandTargets
from negotiator.hooks.command_options import targets_from


@click.group(short_help="Move, hold and release applications; change the configuration.")
def admin() -> None:
    """Act on applications and on the configuration, as an administrator.

    An application is named SCHEDD#CLUSTER, or CLUSTER if only one schedd has it. Administrators of its queue (adminacl)
    and of the scheduler (scheduleracl) may act on it. Every action is in the audit log, denied ones too.

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
    """


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
            state={"default": DEFAULT_STATE, "show_default": True},
        ),
        pass_program,
    ):
        function = option(function)
    return function


@admin.command(short_help="Move an application to another queue.")
@click.argument("application", callback=_bounded)
@click.argument("queue")
@_common
def move(program: ProgramContext, /, application: str, queue: str, **common: Any) -> None:
    """Move APPLICATION to QUEUE, an existing leaf."""
    _perform(program, AdminAction.MOVE, application, queue, **common)


@admin.command(short_help="Exclude an application from matching.")
@click.argument("application", callback=_bounded)
@_common
def hold(program: ProgramContext, /, application: str, **common: Any) -> None:
    """Exclude APPLICATION from matching; its running jobs continue."""
    _perform(program, AdminAction.HOLD, application, "", **common)


@admin.command(short_help="Admit an application to matching again.")
@click.argument("application", callback=_bounded)
@_common
def release(program: ProgramContext, /, application: str, **common: Any) -> None:
    """Admit APPLICATION, which is held, to matching again."""
    _perform(program, AdminAction.RELEASE, application, "", **common)


@admin.command(short_help="Make the running negotiator reload its bundle.")
@_common
def reload(program: ProgramContext, /, **common: Any) -> None:
    """Make the running negotiator reload its bundle; a bundle with errors does not replace the active one."""
    _perform(program, AdminAction.RELOAD, "", "", **common)


@admin.command(short_help="Replace a file of the bundle.")
@click.argument("name")
@click.argument("new", type=RegularFile("rb"))
@_common
def change(
    program: ProgramContext, /, name: str, new: Any, note: str, wait: float, targets: CommandTargets
) -> None:
    """Replace the file NAME of the bundle by NEW (- for standard input), unless the bundle would have errors.

    The old file is saved beside it. A running negotiator loads the new bundle before its next cycle.
    """
    outcome = program.change(targets, name, new.read(), note)
    print_problems(outcome.problems, folder=targets.bundle, err=True)
    if outcome.status is ChangeStatus.DONE:
        click.echo(printable(outcome.text))  # the file was written, even if that could not be recorded
    else:
        denied = "denied: " if outcome.status is ChangeStatus.DENIED else ""
        click.echo(f"error: {denied}{printable(outcome.text)}", err=True)
    if outcome.error:
        click.echo(f"error: {printable(str(outcome.error))}", err=True)
    if outcome.exit_code:
        sys.exit(outcome.exit_code)
    _end(wait_for_answer(targets.state, outcome.request, wait), wait)


def _perform(
    program: ProgramContext,
    action: AdminAction,
    application: str,
    queue: str,
    *,
    note: str,
    wait: float,
    targets: CommandTargets,
) -> NoReturn:
    outcome = administer(targets, program.caller(), action, application, queue, note, wait)
    print_warnings(outcome.problems, bundle_folder(targets))
    _end(outcome.answer, wait)


def _end(answer: AdminAnswer | None, wait: float) -> NoReturn:
    """Print the answer, or that the request timed out, and exit."""
    if answer is None:
        click.echo(
            f"the negotiator did not answer within {wait:g} s; it will do it before its next cycle", err=True
        )
        sys.exit(ExitCode.PENDING)
    click.echo(printable(answer.text), err=not answer.ok)
    sys.exit(ExitCode.DONE if answer.ok else ExitCode.NOT_DONE)
