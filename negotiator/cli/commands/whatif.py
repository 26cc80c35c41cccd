"""``negotiator whatif``: what a cycle would decide if something were changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.cli import batch_options, options

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_COUNT = click.IntRange(1, 1_000_000)


@click.command(short_help="Print what a cycle would decide if the pool or the policies were changed.")
@options.targets(
    "pool",
    "bundle",
    "state",
    "plugins_dirs",
    "disable",
    "now",
    pool=options.READ_POOL,
    state=options.READ_STATE,
)
@batch_options.recorded
@click.option("--changes", multiple=True, type=_FILE, metavar="FILE", help="YAML file of changes; see below.")
@click.option(
    "--add-slots", multiple=True, type=(_COUNT, str), metavar="N SLOT", help="Add N free slots like this one."
)
@click.option(
    "--remove-slots", multiple=True, metavar="EXPR", help="Remove the slots for which EXPR is true."
)
@click.option(
    "--set-slots",
    multiple=True,
    type=(str, str),
    metavar="EXPR NAME=VALUE",
    help="Give an attribute of these slots another value.",
)
@click.option(
    "--add-jobs", multiple=True, type=(_COUNT, str), metavar="N JOB", help="Add N idle jobs like this one."
)
@click.option("--remove-jobs", multiple=True, metavar="EXPR", help="Remove the jobs for which EXPR is true.")
@click.option(
    "--set-jobs",
    multiple=True,
    type=(str, str),
    metavar="EXPR NAME=VALUE",
    help="Give an attribute of these jobs another value.",
)
@click.option(
    "--factor",
    multiple=True,
    metavar="ACCOUNT=NUMBER",
    help="Another priority factor of a submitter or group.",
)
@click.option(
    "--file", "files", multiple=True, metavar="NAME=PATH", help="Another content of a file of the bundle."
)
@click.option(
    "--setting", "settings", multiple=True, metavar="KEY=VALUE", help="Another value of a key of pool.yaml."
)
@batch_options.batch
@batch_options.jobs
@options.full
@options.as_json
def whatif(**given: Any) -> None:
    """Print what a cycle would decide if slots, jobs, priorities or policies were changed.

    The report is that of negotiator diff: the cycle as it is, and with the changes; over a pool, or over recorded cycles, each under its own bundle
    unless --bundle names another one. Nothing is handed out and nothing is written.

    Expressions are ClassAd expressions on the ad of a slot or job. VALUE is one too: a text needs quotes, and in it the attribute itself stands for
    the value before. Options of one kind may be repeated. A file of changes has the keys slots and jobs (lists of changes: add, like and set; remove;
    or where and set), factors, files and settings.

    \b
    Exit codes:
      0  the decisions were compared, whether or not anything differs
      1  the bundle has errors, a slot or job is unknown, or a recorded cycle is refused
      2  invalid command line, or errors in a file of changes
      3  a recorded cycle cannot be read, is cut or changed, or is of another version
      4  the pool could not be read
      6  the state could not be read
      7  a plugin failed
      130  stopped by Ctrl-C: the cycles that were decided are printed

    \b
    Examples:
      negotiator whatif --pool pool/ --bundle policies/site --add-slots 10 slot1@node1.example.org
      negotiator whatif --state var/state --bundle policies/site --file queues.yaml=draft.yaml --jobs
      negotiator whatif --recorded recorded/ --set-jobs 'Owner == "sue"' 'RequestMemory=RequestMemory / 2'
      negotiator whatif --state var/state --factor sue@example.org=100 --changes more-nodes.yaml
    """
    from negotiator.cli import whatif as implementation

    implementation.whatif(**given)
