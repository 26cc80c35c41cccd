"""``negotiator check``: everything that is wrong with a policy bundle, where, and what to do about it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from negotiator.bundle import Examination, examine_bundle
from negotiator.cli import options
from negotiator.cli.problems import github_command, print_problems, problem_json, summary
from negotiator.cli.render import printable
from negotiator.records import Severity


@click.command(short_help="Print every problem of a policy bundle.")
@click.argument("folder", type=options.FOLDER, default=Path())
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    show_default=True,
    help="For people, for programs, or as commands of a GitHub workflow.",
)
@options.plugins_dir
@options.disable
def check(folder: Path, form: str, plugins_dirs: tuple[Path, ...], disable: tuple[str, ...]) -> None:
    """Check the policy bundle in FOLDER (default: this one) and print every problem of it.

    Errors keep a bundle from being used. Warnings do not; notices say what has no effect.

    \b
    Exit codes:
      0  there is no error
      1  there are errors
      2  the command line is wrong

    \b
    Examples:
      negotiator check policies/minimum-machine
      negotiator check --format github policies/minimum-machine
    """
    examination = examine_bundle(folder, extra_folders=plugins_dirs, disable=disable)
    if form == "json":
        click.echo(json.dumps(_as_json(folder, examination), indent=2))
    elif form == "github":
        for problem in examination.problems:
            click.echo(github_command(problem, folder))
        _last_lines(folder, examination)
    else:
        print_problems(examination.problems, folder=folder)
        _last_lines(folder, examination)
    sys.exit(0 if examination.bundle else 1)


def _last_lines(folder: Path, examination: Examination) -> None:
    if examination.problems:
        click.echo(summary(examination.problems))
    if examination.bundle:
        click.echo(f"{printable(str(folder))}: ok (digest {examination.digest})")


def _as_json(folder: Path, examination: Examination) -> dict[str, object]:
    counts = {
        f"{severity}s": sum(problem.severity is severity for problem in examination.problems)
        for severity in Severity
    }
    return {
        "folder": str(folder),
        "ok": examination.bundle is not None,
        "digest": examination.digest,
        **counts,
        "problems": [problem_json(problem, folder) for problem in examination.problems],
    }
