"""``negotiator admin``: administrators' actions on applications and on the configuration."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import click

from negotiator.app.administer import AdminAction, AdminAnswer, administer, pending_text, wait_for_answer
from negotiator.app.context import ProgramContext
from negotiator.app.targets import bundle_folder, without_state_bundle
from negotiator.cli.loading import print_warnings
from negotiator.cli.problems import print_problems
from negotiator.cli.render import printable
from negotiator.exit_codes import ExitCode
from negotiator.hooks.administration import ChangeStatus
from negotiator.hooks.command_targets import CommandTargets


def move(program: ProgramContext, /, application: str, queue: str, **common: Any) -> None:
    """Move APPLICATION to QUEUE, an existing leaf."""
    _perform(program, AdminAction.MOVE, application, queue, **common)


def hold(program: ProgramContext, /, application: str, **common: Any) -> None:
    """Exclude APPLICATION from matching; its running jobs continue."""
    _perform(program, AdminAction.HOLD, application, "", **common)


def release(program: ProgramContext, /, application: str, **common: Any) -> None:
    """Admit APPLICATION, which is held, to matching again."""
    _perform(program, AdminAction.RELEASE, application, "", **common)


def kill(program: ProgramContext, /, application: str, **common: Any) -> None:
    """End the jobs of APPLICATION, by the command that the bundle names."""
    _perform(program, AdminAction.KILL, application, "", **common)


def reload(program: ProgramContext, /, **common: Any) -> None:
    """Make the running negotiator reload its bundle; a bundle with errors does not replace the active one."""
    _perform(program, AdminAction.RELOAD, "", "", **common)


def change(
    program: ProgramContext, /, name: str, new: Any, note: str, wait: float, targets: CommandTargets
) -> None:
    """Replace the file NAME of the bundle by NEW (- for standard input), unless the bundle would have errors."""
    targets = without_state_bundle(targets)
    outcome = program.change(targets, name, new.read(), note)
    print_problems(outcome.problems, folder=bundle_folder(targets), err=True)
    if outcome.status is ChangeStatus.DONE:
        click.echo(printable(outcome.text))  # the file was written, even if that could not be recorded
    else:
        denied = "denied: " if outcome.status is ChangeStatus.DENIED else ""
        click.echo(f"error: {denied}{printable(outcome.text)}", err=True)
    if outcome.error:
        click.echo(f"error: {printable(str(outcome.error))}", err=True)
    if outcome.exit_code:
        sys.exit(outcome.exit_code)
    _end(wait_for_answer(targets, outcome.request, wait), wait)


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
    targets = without_state_bundle(targets)
    outcome = administer(targets, program.caller(), action, application, queue, note, wait)
    print_warnings(outcome.problems, bundle_folder(targets))
    _end(outcome.answer, wait)


def _end(answer: AdminAnswer | None, wait: float) -> NoReturn:
    """Print the answer, or that the request timed out, and exit."""
    if answer is None:
        click.echo(pending_text(wait), err=True)
        sys.exit(ExitCode.PENDING)
    for line in answer.text.split("\n"):
        click.echo(printable(line), err=not answer.ok)
    sys.exit(ExitCode.DONE if answer.ok else ExitCode.NOT_DONE)
