"""``negotiator admin``: acts of administrators on applications and on the configuration."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click

from negotiator.audit.errors import AuditError
from negotiator.audit.key import read_key
from negotiator.audit.log import AuditLog
from negotiator.bundle import Examination, examine_bundle
from negotiator.bundle.folder import is_settings_file
from negotiator.classad import Table
from negotiator.cli import options
from negotiator.cli.bundles import the_bundle
from negotiator.cli.caller import caller
from negotiator.cli.problems import print_problems
from negotiator.cli.render import printable
from negotiator.hooks.access import AccessQuestion, Act, Decision
from negotiator.pool.snapshot import Snapshot
from negotiator.queues import QueueTree
from negotiator.runtime.change import ChangeError, change_file
from negotiator.runtime.run import Runtime
from negotiator.runtime.settle import Offline
from negotiator.runtime.state import Act as Request
from negotiator.runtime.state import ActKind, Answer, StateError, StateStore

NOT_DONE, NO_AUDIT, WAITING, NO_STATE = 1, 3, 4, 6
_POLL = 0.2  # seconds between two looks for an answer
_LONGEST = 500  # characters of a text, as the audit log has them


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
    if len(value) > _LONGEST:
        raise click.BadParameter(f"it has {len(value)} characters: {_LONGEST} at most")
    return value


def _common(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--note", default="", callback=_bounded, help="Why; it stands in the audit log."),
        click.option(
            "--wait", type=float, default=30.0, show_default=True, help="Seconds to wait for an answer."
        ),
        click.option(
            "--key-file",
            type=click.Path(path_type=Path, readable=False),
            help="Key for the chain of the audit log.",
        ),
        click.option(
            "--audit-log",
            type=click.Path(path_type=Path, readable=False),
            default=Path("var/audit"),
            show_default=True,
            help="Folder of the audit log, where no negotiator is running.",
        ),
        options.disable,
        options.plugins_dir,
        options.bundle,
        click.option(
            "--state",
            type=click.Path(path_type=Path, readable=False),
            default=Path("var/state"),
            show_default=True,
            help="Folder of the negotiator's state.",
        ),
    ):
        function = option(function)
    return function


@admin.command(short_help="Move an application to another queue.")
@click.argument("application", callback=_bounded)
@click.argument("queue")
@_common
def move(application: str, queue: str, **common: Any) -> None:
    """Move APPLICATION to QUEUE, a leaf that exists."""
    _ask(ActKind.MOVE, application, queue, **common)


@admin.command(short_help="Take an application out of matching.")
@click.argument("application", callback=_bounded)
@_common
def hold(application: str, **common: Any) -> None:
    """Take APPLICATION out of matching: what runs goes on, nothing of it is matched."""
    _ask(ActKind.HOLD, application, "", **common)


@admin.command(short_help="Let an application take part in matching again.")
@click.argument("application", callback=_bounded)
@_common
def release(application: str, **common: Any) -> None:
    """Let APPLICATION, which was held, take part in matching again."""
    _ask(ActKind.RELEASE, application, "", **common)


@admin.command(short_help="Let the running negotiator read its bundle again.")
@_common
def reload(**common: Any) -> None:
    """Let the running negotiator read its bundle again; one with errors leaves the active one in place."""
    _ask(ActKind.RELOAD, "", "", **common)


@admin.command(short_help="Replace a file of the bundle.")
@click.argument("name")
@click.argument("new", type=click.File("rb"))
@_common
def change(name: str, new: Any, **common: Any) -> None:
    """Replace the file NAME of the bundle by NEW (- for standard input), if the bundle is then without errors.

    The old file is kept beside it. A running negotiator takes the new bundle before its next cycle.
    """
    folder: Path | None = common["folder"]
    if folder is None:
        raise click.UsageError("say which bundle: --bundle FOLDER (the built-in one can't be changed)")
    if not _may_be_changed(folder, name):
        raise click.UsageError(
            f"{printable(name)!r} is no name of a file of a bundle: settings (pool.yaml, queues.yaml, *.conf), "
            "or a file that is there already"
        )
    examine = partial(examine_bundle, folder, extra_folders=common["plugins_dirs"], disable=common["disable"])
    content = new.read()
    _may_change(name, content, examine, **common)
    try:
        changed = change_file(folder, name, content, lambda files: examine(replaced=files), time.time())
    except ChangeError as error:
        click.echo(f"error: {printable(str(error))}", err=True)
        sys.exit(NOT_DONE)
    print_problems(changed.problems, folder=folder, err=True)
    if not changed.written:
        click.echo(f"error: with this {name} the bundle has errors: nothing was changed", err=True)
        sys.exit(NOT_DONE)
    kept = f", the old one is kept as {changed.kept.name}" if changed.kept else ""
    told = f"{name} was written{kept}; digest {changed.digest}"
    why = f" ({common['note']})" if common["note"] else ""
    click.echo(printable(told))  # whatever becomes of the request
    _ask(ActKind.CHANGE, "", "", **{**common, "note": f"{told}{why}"})


def _may_be_changed(folder: Path, name: str) -> bool:
    if not name.isprintable() or "/" in name or name.startswith(".") or name.endswith("~"):
        return False
    return is_settings_file(name) or (folder / name).is_file()


def _may_change(name: str, content: bytes, examine: Callable[..., Examination], **common: Any) -> None:
    """End the command unless who calls it may change the bundle.

    The bundle that is there says so. One that has errors can say nothing, and has to be mended: who owns the
    negotiator's state may do that, if the bundle with the change lets them.
    """
    folder: Path = common["folder"]
    examination = examine()
    if examination.bundle is None:
        if not _is_owner(common["state"], folder):
            print_problems(examination.problems, folder=folder, err=True)
            click.echo("error: the bundle has errors: only who runs the negotiator may change it", err=True)
            sys.exit(NOT_DONE)
        examination = examine(replaced={name: content})
        if examination.bundle is None:
            return  # which errors it then has is told where it is written
    bundle, (by, groups) = examination.bundle, caller()
    question = AccessQuestion(by, groups, Act.CONFIGURE)
    (answer,), _ = bundle.hooks.access([question], QueueTree.of(bundle.partition.root, 0), bundle.settings)
    if answer.record.decision is not Decision.GRANT:
        click.echo(f"error: denied: {printable(answer.record.text)}", err=True)
        with suppress(SystemExit):  # it is asked for the record alone
            _ask(ActKind.CHANGE, "", "", **{**common, "note": f"asked to change {name}: nothing was written"})
        sys.exit(NOT_DONE)


def _is_owner(state: Path, folder: Path) -> bool:
    """Whether the negotiator's state belongs to who calls, or, where there is none, the bundle."""
    try:
        if StateStore.exists(state):
            return StateStore.is_owned(state)
        return folder.stat().st_uid == os.geteuid()
    except (StateError, OSError):
        return False


def _ask(kind: ActKind, application: str, queue: str, **common: Any) -> None:
    """Write the request down, and wait until it is answered; answer it where no negotiator is running."""
    by, groups = caller()
    request = Request(0, time.time(), by, groups, kind, application, queue, common["note"])
    try:
        if kind is not ActKind.CHANGE:  # there is something to act on where a negotiator ran
            StateStore.require(common["state"])
        with StateStore.open(common["state"]) as store:
            number = store.request(request)
            if store.is_own and store.hold_lock():
                _do_it_here(store, number, kind, **common)
            answer = _answer(store, number, common["wait"])
    except StateError as error:
        click.echo(f"error: {printable(str(error))}", err=True)
        sys.exit(NO_STATE)
    if answer is None:
        click.echo(
            f"the negotiator did not answer in {common['wait']:g} s; it will do it before its next cycle",
            err=True,
        )
        sys.exit(WAITING)
    click.echo(printable(answer.text), err=not answer.ok)
    sys.exit(0 if answer.ok else NOT_DONE)


def _do_it_here(store: StateStore, number: int, kind: ActKind, **common: Any) -> None:
    """Be the negotiator for a moment. What can't be recorded is not left for later, but for a file that was written."""
    written = kind is ActKind.CHANGE
    undone = "the change is recorded when it next can be" if written else "nothing was done"
    try:
        bundle = the_bundle(common["folder"], common["plugins_dirs"], common["disable"], undone=undone)
        try:
            key = read_key(common["key_file"]) if common["key_file"] else None
            with AuditLog.open(common["audit_log"], key=key, rotate_bytes=bundle.audit.rotate_bytes) as log:
                Runtime(bundle, _no_pool, time.time, Offline(), log, store).between()
        except AuditError as error:
            click.echo(f"error: {printable(str(error))}: {undone}", err=True)
            sys.exit(NO_AUDIT)
    except SystemExit:
        if not written:
            store.answer(number, Answer(ok=False, text="it could not be recorded"))
        raise


def _no_pool() -> Snapshot:
    nothing = Table.from_ads(())
    return Snapshot(nothing, nothing, nothing, nothing)


def _answer(store: StateStore, number: int, wait: float) -> Answer | None:
    """Look for the answer until it is there, or it was waited long enough."""
    end = time.monotonic() + wait
    while (answer := store.answered(number)) is None and time.monotonic() < end:
        time.sleep(_POLL)
    return answer
