"""``negotiator plugins``: which plugins a bundle is asked with, how they fared, and which were refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import attrs
import click

from negotiator.bundle import default_bundle, examine_bundle
from negotiator.cli import options
from negotiator.cli.problems import print_problems, problem_json
from negotiator.cli.render import print_table
from negotiator.hooks.manager import PluginInfo
from negotiator.records import Severity

_HEADERS = ("NAME", "VERSION", "STATUS", "CALLS", "MS", "FAILURES", "SLOW", "ORIGIN", "HOOKS", "LAST FAILURE")
_NUMBERS = (3, 4, 5, 6)


@click.command(short_help="List the plugins of a policy bundle.")
@options.bundle
@options.plugins_dir
@options.disable
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def plugins(
    folder: Path | None, plugins_dirs: tuple[Path, ...], disable: tuple[str, ...], *, as_json: bool
) -> None:
    """List the plugins of a policy bundle, in the order in which they are asked, and what is wrong with any.

    Calls, time and failures are those of loading the bundle. Plugins that were refused are named below, with the
    reason.

    \b
    Exit codes:
      0  all plugins were loaded
      1  a plugin was refused, or the bundle has other errors
      2  the command line is wrong

    \b
    Examples:
      negotiator plugins
      negotiator plugins --bundle policies/minimum-machine --plugins-dir examples/maintenance
    """
    chosen = folder or default_bundle()
    examination = examine_bundle(chosen, extra_folders=plugins_dirs, disable=disable)
    found = examination.hooks.plugins if examination.hooks else ()
    problems = examination.problems
    if as_json:
        shown = {
            "plugins": [attrs.asdict(info) for info in found],
            "problems": [problem_json(problem, chosen) for problem in problems],
        }
        click.echo(json.dumps(shown, indent=2))
    else:
        print_table(
            "Plugins, in the order in which they are asked",
            _HEADERS,
            [_row(info) for info in found],
            _NUMBERS,
        )
        print_problems(problems, folder=chosen)
    sys.exit(any(problem.severity is Severity.ERROR for problem in problems))


def _row(info: PluginInfo) -> tuple[str, ...]:
    short = ", ".join(hook.removeprefix("negotiator_") for hook in info.hooks)
    counts = (str(info.calls), f"{info.seconds * 1000:.1f}", str(info.failures), str(info.slow_calls))
    return info.name, info.version, info.status, *counts, info.origin, short, info.last_failure
