"""``negotiator whatif``: what a cycle would decide if something were changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from negotiator.cli import batch_options, options

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_COUNT = click.IntRange(1, 1_000_000)


def _rows(noun: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that gives a command the options which change slots or jobs."""
    add = click.option(
        f"--add-{noun}s",
        multiple=True,
        type=(_COUNT, str),
        metavar=f"N {noun.upper()}",
        help=f"Add N {noun}s like this one, which are {'free' if noun == 'slot' else 'idle'}.",
    )
    remove = click.option(
        f"--remove-{noun}s", multiple=True, metavar="EXPR", help=f"Remove the {noun}s for which EXPR is true."
    )
    change = click.option(
        f"--set-{noun}s",
        multiple=True,
        type=(str, str),
        metavar="EXPR NAME=VALUE",
        help=f"Give an attribute of these {noun}s another value.",
    )
    return lambda command: add(remove(change(command)))


@click.command(short_help="Print what a cycle would decide with another pool or policies.")
@options.targets(
    "pool",
    "bundle",
    "state",
    "plugins_dirs",
    "disable",
    "now",
    pool=options.READ_POOL,
    bundle={"help": "Policy bundle.  [default: the built-in one; with --recorded that of each recording]"},
    state=options.READ_STATE,
)
@click.option("--changes", multiple=True, type=_FILE, metavar="FILE", help="YAML file of changes; see below.")
@_rows("slot")
@_rows("job")
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
@batch_options.comparison
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
