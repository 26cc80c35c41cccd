"""``negotiator replay``: recorded cycles, decided again."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import click

from negotiator.app.bundle_choice import BundleChoice
from negotiator.app.recordings import recorded_files
from negotiator.app.replay import ReplayReport, ReplayTask
from negotiator.cli.batch import Batch
from negotiator.cli.phrases import number
from negotiator.cli.render import printable
from negotiator.engines.choice import EngineChoice
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets


def replay(
    paths: tuple[Path, ...],
    targets: CommandTargets,
    engine: EngineChoice,
    resume: Path | None,
    *,
    as_json: bool,
) -> None:
    """Decide recorded cycles again, and print how each compares, as soon as it is known."""
    different = files = 0
    batch = Batch(engine, resume, prints=True)
    for file, report in batch.results(recorded_files(paths), ReplayTask(BundleChoice(targets))):
        files += 1
        different += bool(report.difference)
        click.echo(_json(file, report) if as_json else _line(file, report))
    if not as_json:
        click.echo(
            f"{number(files, 'cycle')}: {files - different} the same, {different} different{batch.remark}"
        )
    batch.end(ExitCode.NOT_DONE if different else ExitCode.DONE)


def _json(file: Path, report: ReplayReport) -> str:
    return json.dumps({"file": str(file), **attrs.asdict(report)})


def _line(file: Path, report: ReplayReport) -> str:
    outcome = f"different: {report.difference}" if report.difference else "the same"
    return printable(f"{file}: cycle {report.number}, {number(report.matches, 'match')}: {outcome}")
