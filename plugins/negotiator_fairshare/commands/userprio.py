"""``negotiator userprio``: show accounts, change them, import and export them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.plugin import target_options

_FILE = click.Path(path_type=Path, allow_dash=True)


# -h and the letters of -all are abbreviations and options of condor_userprio: the command has no short switches.
@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
    short_help="Show and set priorities and usage, as condor_userprio does.",
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
def userprio(program: Any, /, **given: Any) -> None:
    """Show and set the accounts of submitters and accounting groups, with the options of condor_userprio.

    Without options, the submitters of the last 24 hours are shown, as of the last cycle under order: submitters. Options
    may be abbreviated.

    \b
    Show (with names: those submitters):
      -most  -all  -priority  -usage     columns
      -quotas  -surplus  -sortkey        columns
      -groupid  -order                   columns: numbers of groups
      -allusers                          all submitters
      -activefrom MONTH DAY YEAR         submitters since a day
      -hierarchical  -flat  -grouporder  below their groups, or in one list
      -grouprollup                       groups with the sums of those below
      -constraint EXPRESSION             entries for whose ads it is true
      -autoformat[:jlhVr,tngTY] EXPRESSION...  (-af)  lines of attributes
      -getreslist USER@DOMAIN            slots in use (--pool: those of the pool)
      -long [-legacy|-modular]           ads; condor_userprio -inputfile reads them

    \b
    Change (USER is USER@DOMAIN, the full name of a submitter):
      -setprio USER VALUE           -setfactor USER VALUE [-duration SECONDS]
      -setaccum USER SECONDS        -setceiling USER VALUE [-duration SECONDS]
      -setbegin USER TIME           -setfloor USER VALUE [-duration SECONDS]
      -setlast USER TIME            -cancelfactorlease USER
      -delete USER                  -cancelceilinglease USER
      -resetusage USER, -resetall   -cancelfloorlease USER

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
      4   the log of accounts, or the pool, could not be read
      6   the state could not be read or written
      75  the negotiator did not answer in time: it will do it later
    """
    from negotiator_fairshare.userprio import command

    command.run(program, **given)
