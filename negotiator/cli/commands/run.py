"""``negotiator run``: negotiation cycles over the ads of a pool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.cli import cycle_options, options
from negotiator.cli.cycle_options import Seconds
from negotiator.hooks import command_options


@click.command(short_help="Run negotiation cycles over the ads of a pool.")
@click.argument(
    "pool",
    nargs=-1,
    required=True,
    type=click.Path(allow_dash=True, path_type=Path),
    envvar=command_options.POOL,
    metavar="POOL...",
)
@options.targets(
    "bundle",
    "plugins_dirs",
    "disable",
    "audit_log",
    "key_file",
    "state",
    "now",
    bundle=command_options.OPTIONS["bundle"],
    audit_log={
        "show_default": False,
        "help": "Folder of the audit log.  [default: no log is written; with --state, with --key-file, or where the bundle asks for it, var/audit]",
    },
    state={"help": "Folder that saves queues and applications between runs.  [default: nothing is saved]"},
    now={"help": "Use this as the current time, in seconds since the epoch, to make a run repeatable."},
)
@click.option("--no-audit", is_flag=True, help="Write no audit log, whatever asks for one.")
@click.option(
    "--cycles",
    type=click.IntRange(min=1),
    help="Number of cycles to run.  [default: 1; with --every, until stopped]",
)
@click.option(
    "--every", type=Seconds(min=0), metavar="SECONDS", help="Time between the beginnings of two cycles."
)
@cycle_options.bundle_changes
@click.option("--full", is_flag=True, help="Print every match, and all reasons, instead of a summary.")
@click.option("--user", metavar="NAME", help="Print the matches and reasons of this owner or submitter only.")
@click.option(
    "--queue",
    type=options.QUEUE_PATH,
    help="Print the matches and reasons of this queue and those below it only.",
)
@click.option(
    "--job",
    metavar="ID",
    callback=options.job_id,
    help="Print the match or the reasons of a job only, such as 12.7, or of all jobs of cluster 12.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a cycle.")
@click.option(
    "--record",
    type=command_options.ANY_PATH,
    metavar="DIR",
    help="Folder to record each cycle in (negotiator replay, diff and whatif).",
)
@cycle_options.engine
@cycle_options.log_lines
@click.option("--trace-hooks", is_flag=True, help="Print every call of a plugin, to standard error.")
def run(**given: Any) -> None:
    """Run negotiation cycles over the ads in POOL; print the matches, and why other jobs were not matched.

    A summary is printed: totals, the rules that blocked most jobs, ads that were set aside, and failures of plugins. --full
    prints every match and all reasons, --user, --queue and --job those of a user, a queue or a job.

    Nothing is written but what is asked for: the audit log (--audit-log, --key-file, --state, or audit: {write: true} in pool.yaml),
    the state (--state) and recorded cycles (--record).

    POOL is a folder or file of ads (long form, -json or -xml, gzipped or not), or - for standard input. Ads that cannot
    be used are set aside and reported; the others are used. Nothing runs if a file cannot be read to its end. In folders,
    audit logs and states of the program are skipped. [env var: NEGOTIATOR_POOL]

    Ctrl-C (SIGINT) or SIGTERM ends a cycle before its next turn: its matches so far are recorded and printed. A second one
    ends the program at once.

    With --every it runs until SIGTERM or SIGINT. SIGHUP, --watch and negotiator admin reload make it read its bundle again
    between two cycles. A new bundle replaces the active one as a whole; a bundle with errors is reported and does not
    replace it. Instead of tables it prints a line with time and level for each event, to standard error; the reasons of all
    decisions are in the audit log.

    \b
    Exit codes:
      0  the cycles ran, whether or not anything was matched
      1  the policy bundle has errors: nothing ran
      2  invalid command line; or the state belongs to another policy bundle
      3  the audit log could not be written, or it was changed or replaced: no match of that cycle was handed out
      4  the pool could not be read
      5  matches were handed out, but the audit log or the state could not be written afterwards: they are named
      6  the state could not be read or written, or it was changed or replaced: no match of that cycle was handed out
      7  a plugin that takes part in decisions failed: its jobs wait (without an end of the run: in the last cycle)
      74, 130, 141  the output could not be written; interrupted; the reader of the output closed it

    \b
    Examples:
      negotiator run examples/first-pool
      condor_status -long | negotiator run --bundle policies/default - jobs.ads
      negotiator run --record recorded/ --bundle policies/site pool/
      negotiator run --every 60 --watch --state var/state --bundle policies/site pool/
    """
    from negotiator.cli import run as implementation

    implementation.run(**given)
