"""``negotiator diff``: what another policy bundle would decide otherwise."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import attrs
import click

from negotiator.app.bundle_choice import BundleChoice
from negotiator.app.diff import ComparisonTask, compare_pool
from negotiator.cli.batch import Batch
from negotiator.cli.comparison import ComparisonOutput
from negotiator.cli.loading import standard_input
from negotiator.hooks.command_targets import CommandTargets

_RECORDED: Final = Path("recorded")


def diff(
    old: Path,
    new: Path,
    targets: CommandTargets,
    recorded: tuple[Path, ...],
    workers: int,
    resume: Path | None,
    *,
    with_jobs: bool,
    full: bool,
    as_json: bool,
) -> None:
    """Compare what two bundles decide."""
    if old == _RECORDED and not recorded:
        raise click.UsageError("OLD is recorded: name the recorded cycles by --recorded PATH")
    after = BundleChoice.of_folder(attrs.evolve(targets, bundle=new))
    before = None if old == _RECORDED else BundleChoice.of_folder(attrs.evolve(targets, bundle=old))
    output = ComparisonOutput(
        before="the decisions in the recordings" if before is None else described(before),
        after=described(after),
        as_json=as_json,
        full=full,
        with_jobs=with_jobs,
    )
    if recorded:
        task = ComparisonTask(before, after, output.most_jobs)
        output.print_recorded(recorded, task, Batch(workers, resume))
    elif before is not None:
        found = compare_pool(targets, before, after, output.most_jobs, standard_input())
        sys.exit(output.print(found))


def described(choice: BundleChoice) -> str:
    """Return the folder and the digest of a bundle."""
    return f"{choice.targets.bundle}, sha256 {choice.digest[:12]}"
