"""``negotiator replay``: recorded cycles, decided again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import attrs
import click

from negotiator.app.replay import ReplayReport, recorded_files, replay_file
from negotiator.cli.phrases import number
from negotiator.cli.render import printable
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets


def replay(paths: tuple[Path, ...], targets: CommandTargets, *, as_json: bool) -> None:
    """Decide recorded cycles again, and print how each compares, as soon as it is known."""
    different = files = 0
    for file in recorded_files(paths):
        report = replay_file(file, targets)
        files += 1
        different += bool(report.difference)
        click.echo(_json(report) if as_json else _line(report))
    if not as_json:
        click.echo(f"{number(files, 'cycle')}: {files - different} the same, {different} different")
    sys.exit(ExitCode.NOT_DONE if different else ExitCode.DONE)


def _json(report: ReplayReport) -> str:
    return json.dumps({**attrs.asdict(report), "file": str(report.file)})


def _line(report: ReplayReport) -> str:
    outcome = f"different: {report.difference}" if report.difference else "the same"
    return printable(f"{report.file}: cycle {report.number}, {number(report.matches, 'match')}: {outcome}")
