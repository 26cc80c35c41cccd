"""``negotiator check``: everything that is wrong with a policy bundle, where, and what to do about it."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import attrs
import click

from negotiator.bundle import BundleCheck, examine_bundle
from negotiator.bundle.load import in_order
from negotiator.cli import options
from negotiator.cli.lint_bundle import lint_bundle
from negotiator.cli.pools import the_pool
from negotiator.cli.problems import github_command, print_problems, problem_json, summary
from negotiator.cli.render import POINT_IN_TIME, printable
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
@click.option(
    "--pool",
    multiple=True,
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="PATH",
    help="Folder or file of ads to look at the expressions with; may be given again.",
)
@click.option("--now", type=POINT_IN_TIME, help="Take this as the time, in seconds since the epoch.")
@options.plugins_dir
@options.disable
def check(
    folder: Path,
    form: str,
    pool: tuple[Path, ...],
    now: float | None,
    plugins_dirs: tuple[Path, ...],
    disable: tuple[str, ...],
) -> None:
    """Check the policy bundle in FOLDER (default: this one) and print every problem of it.

    Errors keep a bundle from being used. Warnings do not; notices say what has no effect. Of expressions it is told what
    they always are, whatever the ads; and with --pool what they are for the ads of a pool: attributes that none of them
    has, strings compared with numbers, rules that would discard all of them (see negotiator lint).

    \b
    Exit codes:
      0  there is no error
      1  there are errors
      2  the command line is wrong
      4  the pool could not be read

    \b
    Examples:
      negotiator check policies/minimum-machine
      negotiator check policies/minimum-machine --pool examples/first-pool
      negotiator check --format github policies/minimum-machine
    """
    snapshot = the_pool(pool) if pool else None
    examination = examine_bundle(folder, extra_folders=plugins_dirs, disable=disable)
    found = lint_bundle(examination, snapshot, time.time() if now is None else now)
    problems = in_order((*examination.problems, *found))
    examination = attrs.evolve(examination, problems=problems)
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


def _last_lines(folder: Path, examination: BundleCheck) -> None:
    if examination.problems:
        click.echo(summary(examination.problems))
    if examination.bundle:
        click.echo(f"{printable(str(folder))}: ok (digest {examination.digest})")


def _as_json(folder: Path, examination: BundleCheck) -> dict[str, object]:
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
