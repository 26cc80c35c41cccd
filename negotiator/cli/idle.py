"""``negotiator idle``: why the idle jobs of a pool get no slot."""

from __future__ import annotations

import json
import sys

import click

from negotiator.app.why.idle import idle_report, idle_values
from negotiator.app.why.idle_groups import IdleBy, idle_groups, selected
from negotiator.app.why.texts import idle_text
from negotiator.cli.errors import print_failures
from negotiator.cli.loading import load_view
from negotiator.cli.problems import print_problems
from negotiator.cli.render import terminal_lines
from negotiator.cli.why import print_text
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets


def idle(
    targets: CommandTargets, by: str, user: str, queue: str | None, *, full: bool, as_json: bool
) -> None:
    """Print why the idle jobs of a pool get no slot."""
    view = load_view(targets)
    report = idle_report(view)
    print_problems(view.snapshot.problems, err=True)
    print_failures(report.failures)
    report = selected(report, user, queue)
    if as_json:
        click.echo(json.dumps(idle_values(report), indent=2))
    else:
        group = IdleBy(by)
        groups = idle_groups(report.idle, group, by_text=True)
        room = terminal_lines()
        if not full and room is not None and len(groups) > room:
            groups = idle_groups(report.idle, group)
        text = idle_text(report, group, groups)
        details = "Details: --full, --by user or queue, or negotiator why JOB"
        print_text(text, full=full, details=details)
    sys.exit(ExitCode.PLUGIN if report.failures else ExitCode.DONE)
