"""``negotiator queues``: the tree of queues, as configured or as a negotiator keeps it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import click

from negotiator.app.queue_values import QueueValues
from negotiator.app.queues import QueueReport, queue_report
from negotiator.cli.errors import print_failures
from negotiator.cli.loading import load_view
from negotiator.cli.problems import print_problems
from negotiator.cli.queue_tables import (
    access_table,
    draining_table,
    limits_table,
    print_source,
    templates_table,
    tree_table,
    usage_table,
)
from negotiator.cli.screen import print_tables
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets
from negotiator.queues import ROOT
from negotiator.queues.names import parent_of, upwards


def queues(path: str | None, targets: CommandTargets, *, full: bool, as_json: bool) -> None:
    """Print the queues of a policy bundle; with PATH those below it, with their limits."""
    view = load_view(targets)
    report = queue_report(view, path or ROOT)
    if view.paths:
        print_problems(view.snapshot.problems, err=True)
    print_failures(report.failures)
    if as_json:
        click.echo(json.dumps(_values(report, QueueValues.of(report.tree, view.bundle)), indent=2))
    else:
        if view.bundle.chain is None:
            click.echo("No plugin brings placement rules: jobs have no queue.\n")
        _print(report, view.now, full=full, detailed=path is not None)
    sys.exit(ExitCode.PLUGIN if report.failures else ExitCode.DONE)


def _values(report: QueueReport, values: QueueValues) -> dict[str, Any]:
    """Return the tree below a queue, children in the order of their names.

    ``runningApps`` counts the applications that use something, if the usage is known; otherwise all in the queue,
    whether or not one of their jobs runs.
    """
    usage = report.usage or {}
    running: Mapping[str, int] = report.applications or {}
    if report.usage is not None:
        running = {path: used.applications for path, used in usage.items()}
    entries: dict[str, dict[str, Any]] = {}
    for queue in report.tree:
        entry = entries[queue.path] = values.entry(queue, queue.config.max)
        used = usage.get(queue.path)
        if used and (amounts := {name: amount for name, amount in used.resources.items() if amount}):
            entry["allocatedResource"] = amounts
        if running.get(queue.path):
            entry["runningApps"] = running[queue.path]
        above = entries.get(parent_of(queue.path))
        if above is not None:
            above.setdefault("childNames", []).append(queue.path)
            above.setdefault("children", []).append(entry)
    return entries[report.top]


def _print(report: QueueReport, now: float, *, full: bool, detailed: bool) -> None:
    tree, top = report.tree, report.top
    shown = [queue for queue in tree if top in upwards(queue.path)]
    tables = [tree_table(tree, shown, report.applications)]
    if report.usage is not None:
        tables.append(usage_table(tree, shown, report.usage))
    above = [queue for queue in map(tree.get, reversed([*upwards(parent_of(top))])) if queue]
    tables += (draining_table(shown, now), access_table([*above, *shown]))
    if detailed:
        tables += (limits_table(tree, shown), templates_table(shown))
    print_tables(tables, full=full or detailed, details="Details: --full, or the PATH of a queue")
    if detailed:
        print_source(shown[0])
