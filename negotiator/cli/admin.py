"""``negotiator admin``: acts of administrators on applications and on the configuration."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click

from negotiator.audit.errors import AuditError
from negotiator.bundle import Bundle, BundleError, default_bundle
from negotiator.cli import options
from negotiator.cli.bundles import examiner, print_broken, print_warnings
from negotiator.cli.problems import print_problems
from negotiator.cli.render import printable
from negotiator.cli.site import DEFAULT_STATE, LONGEST_NOTE, ProgramSite, pass_site
from negotiator.hooks import command_options
from negotiator.hooks.administration import (
    NO_AUDIT,
    NO_STATE,
    NOT_DONE,
    ChangeOutcome,
    ChangeStatus,
    CommandError,
    CommandTargets,
)
from negotiator.hooks.command_options import ANY_PATH
from negotiator.runtime.admin_requests import AdminEnvironment, submit
from negotiator.runtime.state import AdminAction, AdminAnswer, StateError, StateStore
from negotiator.runtime.state import AdminRequest as Request

WAITING = 4
_POLL = 0.2  # seconds between two looks for an answer


@click.group(short_help="Move, hold and release applications; change the configuration.")
def admin() -> None:
    """Act on applications and on the configuration, as an administrator.

    An application is named SCHEDD#CLUSTER, or CLUSTER where only one schedd has it. Who may act: administrators of the
    queue (adminacl), and those of the scheduler (scheduleracl). Every act stands in the audit log, denied ones too.

    A running negotiator (negotiator run --state DIR --every SECONDS) does what it is asked between two cycles. Where none
    is running, the command does it itself, if the state belongs to who calls it.

    \b
    Exit codes:
      0  it was done
      1  it was not: denied, or there is no such application or queue; or the new bundle has errors
      2  the command line is wrong
      3  the audit log could not be written: nothing was done
      4  the negotiator did not answer in time: it will do it later
      6  the state could not be read or written

    \b
    Examples:
      negotiator admin hold node1.example.org#12 --note "fills the scratch disk"
      negotiator admin move 12 root.production
      negotiator admin change queues.yaml new-queues.yaml --bundle policies/site
    """


def _bounded(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if len(value) > LONGEST_NOTE:
        raise click.BadParameter(f"it has {len(value)} characters: {LONGEST_NOTE} at most")
    return value


def _common(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--note", default="", callback=_bounded, help="Why; it stands in the audit log."),
        click.option(
            "--wait", type=float, default=30.0, show_default=True, help="Seconds to wait for an answer."
        ),
        options.key_file,
        options.audit_log,
        options.disable,
        options.plugins_dir,
        options.bundle,
        click.option(
            "--state",
            type=ANY_PATH,
            default=DEFAULT_STATE,
            show_default=True,
            envvar=command_options.STATE,
            show_envvar=True,
            help="Folder of the negotiator's state.",
        ),
    ):
        function = option(function)
    return function


@admin.command(short_help="Move an application to another queue.")
@click.argument("application", callback=_bounded)
@click.argument("queue")
@_common
@pass_site
def move(site: ProgramSite, /, application: str, queue: str, **common: Any) -> None:
    """Move APPLICATION to QUEUE, a leaf that exists."""
    _ask(site, AdminAction.MOVE, application, queue, **common)


@admin.command(short_help="Take an application out of matching.")
@click.argument("application", callback=_bounded)
@_common
@pass_site
def hold(site: ProgramSite, /, application: str, **common: Any) -> None:
    """Take APPLICATION out of matching: what runs goes on, nothing of it is matched."""
    _ask(site, AdminAction.HOLD, application, "", **common)


@admin.command(short_help="Let an application take part in matching again.")
@click.argument("application", callback=_bounded)
@_common
@pass_site
def release(site: ProgramSite, /, application: str, **common: Any) -> None:
    """Let APPLICATION, which was held, take part in matching again."""
    _ask(site, AdminAction.RELEASE, application, "", **common)


@admin.command(short_help="Let the running negotiator read its bundle again.")
@_common
@pass_site
def reload(site: ProgramSite, /, **common: Any) -> None:
    """Let the running negotiator read its bundle again; one with errors leaves the active one in place."""
    _ask(site, AdminAction.RELOAD, "", "", **common)


@admin.command(short_help="Replace a file of the bundle.")
@click.argument("name")
@click.argument("new", type=click.File("rb"))
@_common
@pass_site
def change(site: ProgramSite, /, name: str, new: Any, note: str, wait: float, **common: Any) -> None:
    """Replace the file NAME of the bundle by NEW (- for standard input), if the bundle is then without errors.

    The old file is kept beside it. A running negotiator takes the new bundle before its next cycle.
    """
    places = CommandTargets(bundle=common.pop("folder"), **common)
    try:
        outcome = site.change(places, name, new.read(), note)
    except CommandError as error:
        if error.exit_code == click.UsageError.exit_code:
            raise click.UsageError(printable(error.message)) from None
        raise
    print_problems(outcome.problems, folder=places.bundle, err=True)
    if outcome.result is ChangeStatus.DONE:
        click.echo(printable(outcome.text))  # whatever became of the record
    else:
        denied = "denied: " if outcome.result is ChangeStatus.DENIED else ""
        click.echo(f"error: {denied}{printable(outcome.text)}", err=True)
    if outcome.trouble:
        click.echo(f"error: {printable(outcome.trouble)}", err=True)
    if outcome.exit_code:
        sys.exit(outcome.exit_code)
    _wait_for(common["state"], outcome, wait)


def _wait_for(state: Path, outcome: ChangeOutcome, wait: float) -> NoReturn:
    try:
        with StateStore.open(state) as store:
            answer = _answer(store, outcome.request, wait)
    except StateError as error:
        _no_state(error)
    _end(answer, wait)


def _ask(
    site: ProgramSite,
    kind: AdminAction,
    application: str,
    queue: str,
    *,
    state: Path,
    note: str,
    wait: float,
    **common: Any,
) -> NoReturn:
    """Write the request down, and wait until it is answered; answer it where no negotiator is running."""
    caller = site.caller()
    request = Request(0, time.time(), caller.name, caller.groups, kind, application, queue, note)
    folder = common["folder"] or default_bundle()
    load = partial(_load, folder, common["plugins_dirs"], common["disable"])
    try:
        StateStore.require(state)  # there is something to act on where a negotiator ran
        with StateStore.open(state) as store:
            number = submit(store, request, AdminEnvironment(load, common["audit_log"], common["key_file"]))
            answer = _answer(store, number, wait)
    except StateError as error:
        _no_state(error)
    except BundleError as error:
        print_broken(error.problems, folder, undone="nothing was done")
        sys.exit(NOT_DONE)
    except AuditError as error:
        click.echo(f"error: {printable(str(error))}: nothing was done", err=True)
        sys.exit(NO_AUDIT)
    _end(answer, wait)


def _load(folder: Path, plugins_dirs: tuple[Path, ...], disable: tuple[str, ...]) -> Bundle:
    """Load the bundle, and tell its warnings."""
    examination = examiner(folder, plugins_dirs, disable)()
    if examination.bundle is None:
        raise BundleError(examination.problems)
    print_warnings(examination.problems, folder)
    return examination.bundle


def _no_state(error: StateError) -> NoReturn:
    click.echo(f"error: {printable(str(error))}", err=True)
    sys.exit(NO_STATE)


def _end(answer: AdminAnswer | None, wait: float) -> NoReturn:
    """Tell the answer, or that there is none yet, and end."""
    if answer is None:
        click.echo(
            f"the negotiator did not answer in {wait:g} s; it will do it before its next cycle", err=True
        )
        sys.exit(WAITING)
    click.echo(printable(answer.text), err=not answer.ok)
    sys.exit(0 if answer.ok else NOT_DONE)


def _answer(store: StateStore, number: int, wait: float) -> AdminAnswer | None:
    """Look for the answer until it is there, or it was waited long enough."""
    end = time.monotonic() + wait
    while (answer := store.answered(number)) is None and time.monotonic() < end:
        time.sleep(_POLL)
    return answer
