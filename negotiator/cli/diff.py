"""``negotiator diff``: what another policy bundle would decide otherwise."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import attrs
import click

from negotiator.app.bundle_choice import BundleChoice
from negotiator.app.diff import ComparisonTask, compare_pool
from negotiator.cli.comparison import ComparisonOptions, ComparisonOutput
from negotiator.cli.loading import standard_input
from negotiator.hooks.command_targets import CommandTargets

_RECORDED: Final = Path("recorded")


def diff(old: Path, new: Path, targets: CommandTargets, how: ComparisonOptions) -> None:
    """Compare what two bundles decide."""
    if old == _RECORDED and not how.recorded:
        raise click.UsageError("OLD is recorded: name the recorded cycles by --recorded PATH")
    after = BundleChoice.of_folder(attrs.evolve(targets, bundle=new))
    before = None if old == _RECORDED else BundleChoice.of_folder(attrs.evolve(targets, bundle=old))
    output = ComparisonOutput(
        before="the decisions in the recordings" if before is None else described(before),
        after=described(after),
        how=how,
    )
    if how.recorded:
        output.print_recorded(ComparisonTask(before, after, how.most_jobs))
    elif before is not None:
        found = compare_pool(targets, before, after, how.most_jobs, standard_input())
        sys.exit(output.print(found))


def described(choice: BundleChoice) -> str:
    """Return the folder and the digest of a bundle."""
    return f"{choice.targets.bundle}, sha256 {choice.digest[:12]}"
