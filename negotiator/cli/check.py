"""``negotiator check``: all problems of a policy bundle, with their places and hints."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from negotiator.app.check import ReuseReport, check_bundle, claim_reuse
from negotiator.app.targets import current_time
from negotiator.bundle import BundleCheck
from negotiator.cli.loading import load_pool
from negotiator.cli.phrases import number
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
    reuse = claim_reuse(examination.bundle, snapshot) if examination.bundle else ReuseReport()
    if form == "json":
        click.echo(json.dumps(_as_json(folder, examination, counts, reuse), indent=2))
    elif form == "github":
        for problem in examination.problems:
            click.echo(github_command(problem, folder))
        _print_summary(folder, examination)
    else:
        print_problems(examination.problems, folder=folder)
        for count in counts:
            click.echo(printable(str(count)))
        _print_reuse(reuse)
        _print_summary(folder, examination)
    sys.exit(ExitCode.DONE if examination.bundle else ExitCode.NOT_DONE)


def _print_reuse(reuse: ReuseReport) -> None:
    """Print a line for each rule that further jobs of a claim may break, and why claims are for one job."""
    for each in reuse.bypasses:
        click.echo(printable(f"can be bypassed by further jobs of a claim: {each}"))
    of = f"{reuse.one_job:,} of {number(reuse.slots, 'slot')}: " if reuse.slots else ""
    for note in reuse.notes:
        click.echo(printable(f"{of}{note}"))


def _print_summary(folder: Path, examination: BundleCheck) -> None:
    if examination.problems:
        click.echo(summary(examination.problems))
    if examination.bundle:
        click.echo(f"{printable(str(folder))}: ok (digest {examination.digest})")


def _as_json(
    folder: Path, examination: BundleCheck, policies: tuple[PolicyCount, ...], reuse: ReuseReport
) -> dict[str, object]:
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
        "bypassed": [
            {"rule": each.rule, "place": str(each.source or ""), "why": each.why} for each in reuse.bypasses
        ],
        "one_job_slots": reuse.one_job,
        "reuse": list(reuse.notes),
    }
