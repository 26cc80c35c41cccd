"""``negotiator init``: a policy bundle to start from, the example pool, or the package of a plugin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.cli import options


def _complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of starting bundles, for the shell: only this option loads the plugins."""
    from negotiator.app.new_bundle import StartingBundles

    return [name for name in StartingBundles.of_installed_plugins().offered if name.startswith(incomplete)]


@click.command(short_help="Write a policy bundle to start from, or a plugin.")
@click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--from",
    "name",
    metavar="NAME",
    shell_complete=_complete,
    help="The bundle to start from, by its name in --list.  [default: by the files; on a terminal, a question]",
)
@click.option(
    "--file",
    "own",
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of your own that replaces the examples; may be repeated.",
)
@click.option(
    "--answer",
    "answers",
    multiple=True,
    callback=options.named_values,
    metavar="NAME=VALUE",
    help="The answer to a question of the bundle; may be repeated.  [default: on a terminal, a question]",
)
@click.option(
    "--example",
    metavar="POOL",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write the ads of an example pool into this folder.",
)
@click.option(
    "--plugin",
    metavar="NAME",
    help='Write the package of a plugin instead: letters in lower case, digits and "-".  [default of FOLDER: negotiator-NAME]',
)
@click.option("--list", "listed", is_flag=True, help="List the bundles to start from.")
def init(**given: Any) -> None:
    """Write a policy bundle to start from into FOLDER: settings with comments, and a test of them.

    Installed plugins offer the bundles; --list describes them, the files that each takes, and its questions. A bundle has examples, or your
    own files, unchanged: then its test has some jobs, and what the bundle decides about them today.

    Files that exist are never changed: then nothing is written. Without FOLDER, on a terminal, questions are asked.

    With --plugin, the package of a plugin is written: a policy with its own key of pool.yaml, tests of it, and a pyproject.toml. It passes
    its tests, ruff and mypy as it is written.

    \b
    Exit codes:
      0  the bundle is written, and has no errors; or the package
      1  a file exists, or cannot be read or written; or your files have errors
      2  invalid command line
      7  a plugin failed

    \b
    Examples:
      negotiator init --example pool; negotiator run pool
      negotiator init --list
      negotiator init site --from htcondor
      negotiator init site --file queues.yaml
      negotiator init site --from gridengine --file quotas --file complexes
      negotiator init --plugin night-shift; pip install --editable 'negotiator-night-shift[test]'
    """
    from negotiator.cli import init as implementation

    implementation.init(**given)
