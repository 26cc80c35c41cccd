"""``negotiator init``: a policy bundle to start from, and the example pool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

#: Names of systems, as those of ``PoolSystem``, which is not imported for help and completion.
SYSTEMS = ("htcondor", "yunikorn", "gridengine")


@click.command(short_help="Write a policy bundle to start from, also from your own files.")
@click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--from",
    "system",
    type=click.Choice(SYSTEMS),
    help="The system whose words the bundle uses.  [default: that of the files; on a terminal, a question]",
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
    "--example",
    metavar="POOL",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write the ads of an example pool into this folder.",
)
def init(**given: Any) -> None:
    """Write a policy bundle to start from into FOLDER: settings with comments, and a test of them.

    The bundle has examples, or your own files, unchanged: of HTCondor its configuration, such as what condor_config_val -dump prints;
    of YuniKorn its queues.yaml, or the ConfigMap that has it; of Grid Engine what qconf -srqs prints, and if you have them
    -sc, -su NAME and -shgrp NAME. The test of your own files has some jobs, and what the bundle decides about them today.

    Files that exist are never changed: then nothing is written. Without FOLDER, on a terminal, questions are asked.

    \b
    Exit codes:
      0  the bundle is written, and has no errors
      1  a file exists, or cannot be read or written; or your files have errors
      2  invalid command line

    \b
    Examples:
      negotiator init --example pool; negotiator run pool
      negotiator init site --from htcondor
      negotiator init site --file queues.yaml
      negotiator init site --from gridengine --file quotas --file complexes
    """
    from negotiator.cli import init as implementation

    implementation.init(**given)
