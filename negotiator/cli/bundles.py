"""Loads the bundle that a command works with, and tells what is wrong with it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from negotiator.bundle import Bundle, BundleCheck, default_bundle, examine_bundle
from negotiator.cli.problems import print_problems
from negotiator.cli.render import printable
from negotiator.hooks.guard import Tracer
from negotiator.records import Problem, Severity

BAD_BUNDLE = 1


def examiner(
    folder: Path | None, plugins_dirs: Sequence[Path], disable: Sequence[str], tracer: Tracer | None = None
) -> Callable[[], BundleCheck]:
    """Give what looks at a bundle's folder, as often as it is asked."""
    chosen = folder or default_bundle()
    return lambda: examine_bundle(chosen, extra_folders=plugins_dirs, disable=disable, tracer=tracer)


def the_bundle(
    folder: Path | None,
    plugins_dirs: Sequence[Path] = (),
    disable: Sequence[str] = (),
    tracer: Tracer | None = None,
    *,
    undone: str = "nothing was run",
) -> Bundle:
    """Load a bundle, the built-in one where none is named; end the command where it has errors."""
    chosen = folder or default_bundle()
    examination = examiner(chosen, plugins_dirs, disable, tracer)()
    if examination.bundle is None:
        print_broken(examination.problems, chosen, undone=undone)
        sys.exit(BAD_BUNDLE)
    print_warnings(examination.problems, chosen)
    return examination.bundle


def print_broken(problems: Sequence[Problem], folder: Path, *, undone: str) -> None:
    """Tell what is wrong with a bundle that has errors, and what was not done for it."""
    print_problems(problems, folder=folder, err=True)
    click.echo(f"error: {printable(str(folder))} has errors: {undone} (see negotiator check)", err=True)


def print_warnings(problems: Sequence[Problem], folder: Path) -> None:
    """Tell the warnings. Notices are for ``check``: a whole pool's configuration has hundreds of knobs without effect."""
    warnings = [problem for problem in problems if problem.severity is Severity.WARNING]
    print_problems(warnings, folder=folder, err=True)
