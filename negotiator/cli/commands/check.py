"""``negotiator check``: all problems of a policy bundle, with their places and hints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.cli import options
from negotiator.hooks.command_options import FOLDER


@click.command(short_help="Print every problem of a policy bundle.")
@click.argument("folder", type=FOLDER, default=Path())
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    show_default=True,
    help="For people, for programs, or as commands of a GitHub workflow.",
)
@click.option(
    "--ignored",
    is_flag=True,
    help="List each setting of HTCondor without effect; otherwise several are summed up.",
)
@options.targets(
    "pool",
    "now",
    "plugins_dirs",
    "disable",
    # Without a variable: a bundle is checked by itself unless the command line names a pool.
    pool={
        "help": "Folder or file of ads to check the expressions against; may be repeated.",
        "envvar": None,
        "show_envvar": False,
    },
)
def check(**given: Any) -> None:
    """Check the policy bundle in FOLDER (default: the current one) and print all of its problems.

    Errors prevent the use of a bundle. Warnings do not; notices name settings without effect. Expressions that have the same
    value for any ads are reported. With --pool they are also evaluated on the ads of a pool: attributes that none of them
    has, strings compared with numbers, gates that would discard all of them (see negotiator expr lint); and for each policy
    the number of ads or pairs is printed for which it is true, false and undefined. An amount of a resource
    that no slot of the pool has and no job requests is an error.

    \b
    Exit codes:
      0  the bundle has no errors
      1  the bundle has errors
      2  invalid command line
      4  the pool could not be read

    \b
    Examples:
      negotiator check policies/minimum-machine
      negotiator check policies/minimum-machine --pool examples/first-pool
      negotiator check --format github policies/minimum-machine
    """
    from negotiator.cli import check as implementation

    implementation.check(**given)
