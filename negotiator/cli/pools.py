"""Reads the pool that a command is asked about."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from negotiator.cli.problems import print_problems
from negotiator.cli.render import printable
from negotiator.pool import PoolError, Snapshot, read_pool

NO_POOL = 4


def read_paths(paths: Sequence[Path]) -> Snapshot:
    """Read the pool; ``-`` is standard input. PoolError where it can't be read."""
    named: list[Path | Literal["-"]] = ["-" if str(path) == "-" else path for path in paths]
    return read_pool(named, sys.stdin.buffer if sys.stdin else None)


def the_pool(paths: Sequence[Path]) -> Snapshot:
    """Read the pool; what is wrong with its ads goes to standard error, since it is not what was asked for."""
    try:
        snapshot = read_paths(paths)
    except PoolError as error:
        click.echo(f"error: {printable(str(error))}", err=True)
        sys.exit(NO_POOL)
    print_problems(snapshot.problems, err=True)
    return snapshot
