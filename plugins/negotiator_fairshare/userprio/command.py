"""The command: shows accounts, changes them, and imports and exports them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import click

from negotiator.plugin import (
    CommandContext,
    CommandTargets,
    ExitCode,
    InvalidCallError,
    Problem,
    RowsOutcome,
    printable,
    target_options,
)
from negotiator_fairshare.accounts.changes import AccountChange
from negotiator_fairshare.accounts.state_rows import ORDER
from negotiator_fairshare.userprio.arguments import UserprioArguments, read_arguments
from negotiator_fairshare.userprio.stored import StoredAccounts
from negotiator_fairshare.userprio.table import table_lines
from negotiator_fairshare.userprio.transfer import DamagedLogError, export_accounts, import_accounts

_FILE = click.Path(path_type=Path, allow_dash=True)


# -h and the letters of -all are abbreviations and options of condor_userprio: the command has no short switches.
@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
    short_help="Show and set priorities and usage of submitters, as condor_userprio does.",
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[OPTION OF CONDOR_USERPRIO|NAME]...")
@click.option(
    "--import", "source", type=_FILE, metavar="FILE", help="Replace all accounts by those of a log."
)
@click.option("--export", "target", type=_FILE, metavar="FILE", help="Write all accounts to a log.")
@click.option("--set-aside", is_flag=True, help="Import a damaged log without its damaged accounts.")
@click.option("--note", default="", help="Reason of a change, for the audit log.")
@click.option("--wait", type=float, default=30.0, show_default=True, help="Seconds to wait for an answer.")
@target_options
@click.pass_obj
def userprio(
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
    """Show and set the accounts of submitters and accounting groups, with the options of condor_userprio.

    Without options, the submitters of the last 24 hours are shown, as of the last cycle under order: submitters. Options
    may be abbreviated.

    \b
    Show (with names: those submitters):
      -most  -all  -priority  -usage  -quotas  -surplus  -sortkey    columns
      -allusers  -activefrom MONTH DAY YEAR                          submitters
      -hierarchical  -flat  -grouporder                              below their groups, or in one list
      -grouprollup                                                   groups with the sums of those below
      -constraint EXPRESSION                                         entries for whose ads it is true
      -autoformat[:jlhVr,tng] EXPRESSION...  (-af)                   lines of attributes
      -long [-legacy|-modular]                                       ads; condor_userprio -inputfile reads them

    \b
    Change (USER@DOMAIN is the full name of a submitter):
      -setprio USER@DOMAIN VALUE       -setfactor USER@DOMAIN VALUE [-duration SECONDS]
      -setaccum USER@DOMAIN SECONDS    -setceiling USER@DOMAIN VALUE [-duration SECONDS]
      -setbegin USER@DOMAIN TIME       -setfloor USER@DOMAIN VALUE [-duration SECONDS]
      -setlast USER@DOMAIN TIME        -cancelfactorlease, -cancelceilinglease, -cancelfloorlease USER@DOMAIN
      -delete USER@DOMAIN              -resetusage USER@DOMAIN, -resetall

    Administrators of the scheduler (scheduleracl) may change accounts. Every change is in the audit log, a denied one too.
    A running negotiator carries it out between two cycles; if none is running, the command does so itself, provided that
    the state belongs to its caller. --import and --export read and write HTCondor's Accountantnew.log; - is standard
    input or output.

    \b
    Examples:
      negotiator userprio --state var/state
      negotiator userprio -all -allusers
      negotiator userprio -setfactor ann@example.org 250 --note "as agreed"
      negotiator userprio -setceiling ann@example.org 100 -duration 86400
      negotiator userprio -long > ads; condor_userprio -inputfile ads -quotas
      negotiator userprio --import /var/lib/condor/spool/Accountantnew.log

    \b
    Exit codes:
      0   it was done
      1   it was not done: denied or refused, a damaged log, or the bundle has errors
      2   invalid command line
      3   the audit log could not be written: nothing was done
      4   the log of accounts could not be read
      6   the state could not be read or written
      75  the negotiator did not answer in time: it will do it later
    """
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
        click.echo(arguments.autoformat.text(report.ads()), nl=False)
    elif not arguments.long:
        for line in table_lines(report, arguments.view):
            click.echo(line)
    else:
        click.echo(report.modular_long_form() if arguments.modular else report.long_form(), nl=False)


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
