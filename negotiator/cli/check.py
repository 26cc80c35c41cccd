"""``negotiator check``: all problems of a policy bundle, with their places and hints."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import attrs
import click

from negotiator.app.check import check_bundle
from negotiator.bundle import BundleCheck
from negotiator.cli import options
from negotiator.cli.loading import load_pool
from negotiator.cli.problems import github_command, print_problems, problem_json, summary
from negotiator.cli.render import printable
from negotiator.exit_codes import ExitCode
from negotiator.hooks.administration import CommandTargets
from negotiator.hooks.command_options import FOLDER
from negotiator.records import Severity


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
def check(folder: Path, form: str, targets: CommandTargets) -> None:
    """Check the policy bundle in FOLDER (default: the current one) and print all of its problems.

    Errors prevent the use of a bundle. Warnings do not; notices name settings without effect. Expressions that have the same
    value for any ads are reported. With --pool they are also evaluated on the ads of a pool: attributes that none of them
    has, strings compared with numbers, gates that would discard all of them (see negotiator lint).

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
    snapshot = load_pool(targets.pool) if targets.pool else None
    examination = check_bundle(attrs.evolve(targets, bundle=folder), snapshot)
    if form == "json":
        click.echo(json.dumps(_as_json(folder, examination), indent=2))
    elif form == "github":
        for problem in examination.problems:
            click.echo(github_command(problem, folder))
        _print_summary(folder, examination)
    else:
        print_problems(examination.problems, folder=folder)
        _print_summary(folder, examination)
    sys.exit(ExitCode.DONE if examination.bundle else ExitCode.NOT_DONE)


def _print_summary(folder: Path, examination: BundleCheck) -> None:
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
