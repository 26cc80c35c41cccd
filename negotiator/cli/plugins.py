"""``negotiator plugins``: the plugins of a bundle with their calls and failures, and those that were refused."""

from __future__ import annotations

import json
import sys

import attrs
import click

from negotiator.app.plugins import plugin_report
from negotiator.app.targets import bundle_folder
from negotiator.cli.problems import print_problems, problem_json
from negotiator.cli.render import print_table
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.manager import PluginInfo

_HEADERS = ("NAME", "VERSION", "STATUS", "CALLS", "MS", "FAILURES", "SLOW", "ORIGIN", "HOOKS", "LAST FAILURE")
_NUMBERS = (3, 4, 5, 6)


def plugins(targets: CommandTargets, *, as_json: bool) -> None:
    """List the plugins of a policy bundle in the order in which they are called, and their problems."""
    report = plugin_report(targets)
    folder = bundle_folder(targets)
    if as_json:
        shown = {
            "plugins": [attrs.asdict(info) for info in report.plugins],
            "problems": [problem_json(problem, folder) for problem in report.problems],
        }
        click.echo(json.dumps(shown, indent=2))
    else:
        print_table(
            "Plugins, in the order of their calls",
            _HEADERS,
            [_row(info) for info in report.plugins],
            _NUMBERS,
        )
        print_problems(report.problems, folder=folder)
    sys.exit(ExitCode.DONE if report.ok else ExitCode.NOT_DONE)


def _row(info: PluginInfo) -> tuple[str, ...]:
    short = ", ".join(hook.removeprefix("negotiator_") for hook in info.hooks)
    counts = (str(info.calls), f"{info.seconds * 1000:.1f}", str(info.failures), str(info.slow_calls))
    return info.name, info.version, info.status, *counts, info.origin, short, info.last_failure
