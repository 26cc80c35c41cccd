"""``negotiator check``: all problems of a policy bundle, with their places and hints."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from negotiator.app.check import check_bundle
from negotiator.app.targets import current_time
from negotiator.bundle import BundleCheck
from negotiator.cli.loading import load_pool
from negotiator.cli.problems import github_command, print_problems, problem_json, summary
from negotiator.cli.render import printable
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records import Severity

if TYPE_CHECKING:
    from negotiator.app.policy_counts import PolicyCount


def check(folder: Path, form: str, *, ignored: bool, targets: CommandTargets) -> None:
    """Check the policy bundle in FOLDER (default: the current one) and print all of its problems."""
    snapshot = load_pool(targets.pool) if targets.pool else None
    targets = attrs.evolve(targets, bundle=folder)
    examination = check_bundle(targets, snapshot, list_ignored=ignored)
    counts: tuple[PolicyCount, ...] = ()
    if snapshot is not None and examination.bundle is not None:
        from negotiator.app.policy_counts import policy_counts

        counts = policy_counts(examination.bundle, snapshot, current_time(targets))
    if form == "json":
        click.echo(json.dumps(_as_json(folder, examination, counts), indent=2))
    elif form == "github":
        for problem in examination.problems:
            click.echo(github_command(problem, folder))
        _print_summary(folder, examination)
    else:
        print_problems(examination.problems, folder=folder)
        for count in counts:
            click.echo(printable(str(count)))
        _print_summary(folder, examination)
    sys.exit(ExitCode.DONE if examination.bundle else ExitCode.NOT_DONE)


def _print_summary(folder: Path, examination: BundleCheck) -> None:
    if examination.problems:
        click.echo(summary(examination.problems))
    if examination.bundle:
        click.echo(f"{printable(str(folder))}: ok (digest {examination.digest})")


def _as_json(folder: Path, examination: BundleCheck, policies: tuple[PolicyCount, ...]) -> dict[str, object]:
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
        "policies": [{**attrs.asdict(each), "counted": each.counted} for each in policies],
    }
