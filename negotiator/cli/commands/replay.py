"""``negotiator replay``: recorded cycles, decided again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.cli import batch_options, options


@click.command(short_help="Decide recorded cycles again, and compare the decisions.")
@click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path)
)
@options.targets("plugins_dirs", "disable")
@batch_options.batch
@options.as_json
def replay(**given: Any) -> None:
    """Decide recorded cycles again, each under its own bundle, and compare the decisions byte for byte.

    PATHs are files that negotiator serve --set record=DIR wrote, or folders of them. Nothing is handed out and nothing is written. The recorded bundle
    is loaded with its plugins, so a file that another user could have written is refused; the others are decided all the same. Ctrl-C ends
    with the cycles that are decided.

    \b
    Exit codes:
      0  all decisions are the same
      1  a cycle was decided differently, or a file is refused
      2  invalid command line
      3  a file cannot be read, is cut or changed, or is of another version
      130  stopped by Ctrl-C

    \b
    Examples:
      negotiator replay /var/lib/negotiator/recorded
      negotiator replay recorded/ --engine processes:4 --resume replayed.jsonl
      negotiator replay recorded/20261123T101500Z-00000042.cycle --json
    """
    from negotiator.cli import replay as implementation

    implementation.replay(**given)
