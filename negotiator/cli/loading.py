"""Loads the inputs of a command, and prints the warnings of the bundle and the problems of the ads."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from negotiator.app.pool_view import PoolView, read_paths
from negotiator.cli.problems import print_problems
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records import Problem, Severity

if TYPE_CHECKING:
    from negotiator.pool import Snapshot


def standard_input() -> BinaryIO | None:
    """Return the bytes of standard input, None if it is closed."""
    return sys.stdin.buffer if sys.stdin else None


def load_view(targets: CommandTargets) -> PoolView:
    """Load the bundle and print its warnings; the state and the pool are read when they are used."""
    view = PoolView.load(targets, standard_input())
    print_warnings(view.bundle.problems, view.bundle.folder)
    return view


def load_pool(paths: Sequence[Path]) -> Snapshot:
    """Read a pool and print the problems of its ads."""
    snapshot = read_paths(paths, standard_input())
    print_problems(snapshot.problems, err=True)
    return snapshot


def print_warnings(problems: Sequence[Problem], folder: Path) -> None:
    """Print the warnings to standard error. Notices are for ``check``: a pool's configuration may have hundreds of them."""
    print_problems(warnings(problems), folder=folder, err=True)


def warnings(problems: Sequence[Problem]) -> list[Problem]:
    """Return the warnings of a bundle's problems."""
    return [problem for problem in problems if problem.severity is Severity.WARNING]
