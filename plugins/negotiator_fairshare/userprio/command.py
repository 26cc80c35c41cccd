"""The command: shows accounts, changes them, and imports them from ``Accountantnew.log`` and exports them to it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

import click

from negotiator.plugin import (
    CommandContext,
    CommandError,
    CommandTargets,
    ExitCode,
    InvalidCallError,
    Problem,
    RowsOutcome,
    Severity,
    printable,
    replace_file,
)
from negotiator_fairshare.account_requests import AccountsImport
from negotiator_fairshare.accounts.changes import AccountChange
from negotiator_fairshare.accounts.log_records import ImportedAccounts, log_text, parse_log, read_log
from negotiator_fairshare.accounts.state_rows import ORDER
from negotiator_fairshare.userprio.arguments import UserprioArguments, read_arguments
from negotiator_fairshare.userprio.resources import (
    UsedResource,
    claimed_resources,
    recorded_resources,
    resource_lines,
)
from negotiator_fairshare.userprio.selection import PLUGIN, StoredAccounts, settings_of
from negotiator_fairshare.userprio.table import table_lines

_STANDARD = Path("-")


class DamagedLogError(CommandError):
    """A log of accounts with damaged lines, of which nothing was imported; ``problems`` has them."""

    def __init__(self, message: str, problems: tuple[Problem, ...]) -> None:
        super().__init__(message)
        self.problems = problems


def import_accounts(
    program: CommandContext,
    targets: CommandTargets,
    path: Path,
    note: str,
    wait: float,
    *,
    set_aside: bool,
) -> tuple[ImportedAccounts, RowsOutcome]:
    """Replace all accounts by those of a log.

    :param set_aside: import a damaged log too, without its damaged accounts.
    :raises DamagedLogError: the log has errors; nothing was imported.
    :raises PoolError: the file cannot be read.
    """
    imported = parse_log(sys.stdin.buffer, "<stdin>") if path == _STANDARD else read_log(path)
    errors = sum(each.severity is Severity.ERROR for each in imported.problems)
    if errors and not set_aside:
        text = (
            f"nothing was imported: {printable(str(path))} has {errors} errors; "
            "correct the lines, or use --set-aside to import the accounts that are not damaged"
        )
        raise DamagedLogError(text, imported.problems)
    accounts = imported.accounts
    if accounts.resources:  # slots in use; an export of accounts has none
        accounts = accounts.reconciled(settings_of(program, targets).accounts)
    change = AccountsImport.of(path.name, accounts).to_text()
    return imported, program.change_order(targets, ORDER, change, note, wait, make_state=True)


def export_accounts(stored: StoredAccounts, path: Path, now: int) -> tuple[str, ...]:
    """Write all accounts to a log, whole or not at all; return the names that it cannot contain.

    :param path: ``-`` is standard output.
    :param now: the time of the file, in seconds since the epoch.
    :raises CommandError: the file cannot be written.
    """
    content, left_out = log_text(stored.accounts, now)
    if path == _STANDARD:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return left_out
    try:
        replace_file(path, content, path.stat() if path.exists() else None)
    except OSError as error:
        raise CommandError(f"{printable(str(path))}: cannot be written: {error.strerror}") from error
    return left_out


def run(
    program: CommandContext,
    targets: CommandTargets,
    words: tuple[str, ...],
    source: Path | None,
    target: Path | None,
    note: str,
    wait: float,
    *,
    set_aside: bool,
) -> None:
    """Carry out the command: see ``negotiator_fairshare.commands.userprio``."""
    now = int(time.time() if targets.now is None else targets.now)
    if set_aside and source is None:
        raise InvalidCallError("--set-aside needs --import")
    if sum((bool(words), source is not None, target is not None)) > 1:
        raise InvalidCallError("--import and --export go without each other, and without further words")
    if source is not None:
        _import(program, targets, source, note, wait, set_aside=set_aside)
    elif target is not None:
        _export(StoredAccounts.read(program, targets), target, now)
    elif {"-help", "-h"} & set(words):
        click.echo(click.get_current_context().get_help())
    else:
        arguments = read_arguments(words, now, zone=None)
        if arguments.change is not None:
            _change(program, targets, arguments.change, note, wait)
        elif arguments.resources_of:
            _show_resources(program, targets, arguments, now)
        else:
            _show(StoredAccounts.read(program, targets), arguments)


def _change(
    program: CommandContext, targets: CommandTargets, change: AccountChange, note: str, wait: float
) -> None:
    _end(program.change_order(targets, ORDER, change.to_text(), note, wait))


def _show(stored: StoredAccounts, arguments: UserprioArguments) -> None:
    _warn(stored.damaged)
    report = arguments.selected(stored.report())
    if arguments.autoformat is not None:
        click.echo(arguments.autoformat.text(report.ads(), arguments.view.zone), nl=False)
    elif not arguments.long:
        for line in table_lines(report, arguments.view):
            click.echo(line)
    else:
        click.echo(report.modular_long_form() if arguments.modular else report.long_form(), nl=False)


def _show_resources(
    program: CommandContext, targets: CommandTargets, arguments: UserprioArguments, now: int
) -> None:
    """Show the slots that a submitter uses: those of the pool if one is named, else those of the last cycle."""
    user = arguments.resources_of
    if targets.pool:
        stored = program.stored_matches(targets)
        _warn(stored.damaged)
        usage, settings = program.plugin_usage(targets, PLUGIN), settings_of(program, targets)
        _print(usage.problems)
        resources = claimed_resources(
            *(user, stored.matches, usage.slots, now),
            discount_suspended=settings.NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES,
        )
    else:
        rows = program.order_rows(targets, ORDER)
        _warn(rows.damaged)
        found = recorded_resources(rows.rows, user)
        resources = [UsedResource(each.name.rpartition("@")[0], each.since) for each in found]
    for line in resource_lines(resources, now, arguments.view.zone):
        click.echo(line)


def _import(
    program: CommandContext, targets: CommandTargets, source: Path, note: str, wait: float, *, set_aside: bool
) -> None:
    try:
        imported, outcome = import_accounts(program, targets, source, note, wait, set_aside=set_aside)
    except DamagedLogError as error:
        _print(error.problems)
        raise
    _print(imported.problems)
    _warn(f"account {name[:200]} was set aside" for name in imported.set_aside)
    _end(outcome)


def _export(stored: StoredAccounts, target: Path, now: int) -> None:
    _warn(stored.damaged)
    left_out = export_accounts(stored, target, now)
    _warn(f"{name[:200]!r} is left out: a log cannot contain names with white space" for name in left_out)
    if str(target) != "-":
        click.echo(
            f"{len(stored.accounts.records) - len(left_out)} accounts were written to {printable(str(target))}"
        )


def _end(outcome: RowsOutcome) -> None:
    """Print the outcome of a change, and exit."""
    _print(outcome.problems)
    click.echo(printable(outcome.text), err=outcome.exit_code != ExitCode.DONE)
    click.get_current_context().exit(outcome.exit_code)


def _print(problems: Iterable[Problem]) -> None:
    for problem in problems:
        click.echo(printable(str(problem)), err=True)


def _warn(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        click.echo(f"warning: {printable(sentence)}", err=True)
