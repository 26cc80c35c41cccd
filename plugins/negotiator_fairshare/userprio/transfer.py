"""Import of accounts from ``Accountantnew.log``, and their export to it."""

from __future__ import annotations

import sys
from pathlib import Path

from negotiator.plugin import (
    CommandContext,
    CommandError,
    CommandTargets,
    Problem,
    RowsOutcome,
    Severity,
    printable,
    replace_file,
)
from negotiator_fairshare.account_requests import AccountsImport
from negotiator_fairshare.accounts.log_reader import ImportedAccounts, parse_log, read_log
from negotiator_fairshare.accounts.log_writer import log_text
from negotiator_fairshare.accounts.state_rows import ORDER
from negotiator_fairshare.userprio.stored import StoredAccounts, settings_of

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
