"""``negotiator fetch``: saves the ads of a live pool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.cli import options


@click.command(short_help="Save the ads of a live pool as files.")
@click.argument("pool", default="", metavar="[POOL]")
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    default=Path("pool"),
    show_default=True,
    help="Folder to save the ads in; it must not exist.",
)
@options.targets("bundle", "plugins_dirs", "disable")
@click.option("--gzip", "compress", is_flag=True, help="Write gzipped files.")
@click.option("--replace", is_flag=True, help="Replace a folder that an earlier call saved.")
@options.as_json
def fetch(**given: Any) -> None:
    """Save the ads of a live pool as files that the other commands read: slots, schedds, submitters and jobs.

    POOL is the address of the pool's collector, HOST or HOST:PORT (without a port 9618); by default it is the pool of the policy bundle, whose settings (such as
    a token) are used in any case. Needs READ authorization at the collector and the schedds. Nothing in the pool
    changes, and no claim id or other secret is fetched or saved.

    The folder appears when all files are complete. A daemon that does not answer is reported, and what the others
    sent is saved.

    \b
    Exit codes:
      0  saved
      1  the policy bundle has errors, or the folder cannot be written: nothing was saved
      2  invalid command line or address; or the folder exists: nothing was saved
      4  the collector did not answer: nothing was saved; or a schedd did not answer: its jobs are missing
      7  a plugin failed: nothing was saved

    \b
    Examples:
      negotiator fetch cm.example.org
      negotiator fetch --bundle policies/site --to pool --replace && negotiator run --bundle policies/site pool
    """
    from negotiator.cli import fetch as implementation

    implementation.fetch(**given)
