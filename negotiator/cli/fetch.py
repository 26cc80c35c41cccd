"""``negotiator fetch``: the ads of a live pool as files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from negotiator.app.fetch import SavedPool, fetch_pool
from negotiator.cli.phrases import number
from negotiator.cli.problems import print_problems
from negotiator.cli.render import printable
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets


def fetch(
    pool: str, folder: Path, targets: CommandTargets, *, compress: bool, replace: bool, as_json: bool
) -> None:
    """Save the ads of a live pool in a folder, and print how many there are, and what did not answer."""
    saved = fetch_pool(targets, folder, pool, compress=compress, replace=replace)
    print_problems((*saved.unanswered, *saved.set_aside), err=True)
    if as_json:
        click.echo(json.dumps(_as_json(saved), sort_keys=True))
    else:
        counts = ", ".join(number(count, kind) for kind, count in saved.counts.items())
        click.echo(f"{printable(str(saved.folder))}: {counts}")
    sys.exit(ExitCode.POOL if saved.unanswered else ExitCode.DONE)


def _as_json(saved: SavedPool) -> dict[str, object]:
    return {
        "folder": str(saved.folder),
        **{f"{kind}s": count for kind, count in saved.counts.items()},
        "unanswered": [str(each) for each in saved.unanswered],
        "set_aside": [str(each) for each in saved.set_aside],
    }
