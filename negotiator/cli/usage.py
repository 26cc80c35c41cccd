"""``negotiator usage``: the usage of users and groups, beside their limits."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from negotiator.app.usage import entry_name, usage_report
from negotiator.cli.bars import limited
from negotiator.cli.errors import print_failures
from negotiator.cli.loading import load_view
from negotiator.cli.problems import print_problems
from negotiator.cli.render import print_table, printable
from negotiator.exit_codes import ExitCode
from negotiator.hooks.administration import CommandTargets
from negotiator.queues.quantities import format_quantity

#: The reports with the keys of the specification, of the plugin that reports users and groups.
SPECIFICATION_REPORTS = {"users": "users-spec", "groups": "groups-spec"}


def usage(report: str, name: str | None, targets: CommandTargets, *, as_json: bool, spec_names: bool) -> None:
    """Print the usage of users or groups over the tree of queues, beside their limits; with NAME, of that one alone."""
    view = load_view(targets)
    print_problems(view.snapshot.problems, err=True)
    wanted = SPECIFICATION_REPORTS.get(report, report) if spec_names and as_json else report
    result = usage_report(view, wanted, name)
    print_failures(result.failures)
    if as_json:
        click.echo(json.dumps(result.entries, indent=2))
    elif result.entries:
        _print(report, result.entries)
    else:
        selection = f"{name} in the report" if name else "the report"
        click.echo(f"Nothing is used or limited: no plugin has {printable(selection)} {printable(report)}.")
    if result.failures:
        sys.exit(ExitCode.PLUGIN)
    is_found = result.is_known and (result.entries or not name)
    sys.exit(ExitCode.DONE if is_found else ExitCode.NOT_DONE)


def _print(report: str, entries: Sequence[Mapping[str, Any]]) -> None:
    trees = [entry for entry in entries if "queues" in entry]
    flat = [entry for entry in entries if "queues" not in entry]
    if trees:
        _print_trees(report, trees)
    if flat:
        headers = tuple(dict.fromkeys(key for entry in flat for key in entry))
        rows = [tuple(printable(str(entry.get(key, ""))) for key in headers) for entry in flat]
        print_table(f"Usage of {printable(report)}", tuple(printable(key).upper() for key in headers), rows)


def _print_trees(report: str, entries: Sequence[Mapping[str, Any]]) -> None:
    rows = [row for entry in entries for row in _rows(entry_name(entry), entry.get("queues", {}))]
    headers = (report.removesuffix("s").upper(), "QUEUE", "RESOURCE", "USED", "LIMIT", "")
    print_table(f"Usage of {printable(report)}", headers, rows, right=(3, 4))


def _queue_path(node: Mapping[str, Any]) -> str:
    return str(node.get("queuePath") or node.get("queuename", ""))


def _rows(name: str, node: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Return the rows of one user or group: each resource of each queue that is used or limited, then its applications."""
    stack = [node] if node else []
    while stack:
        queue = stack.pop()
        used, maximum = queue.get("resourceUsage", {}), queue.get("maxResources", {})
        for resource in sorted({*used, *maximum}):
            shown = [format_quantity(resource, amount.get(resource, 0)) for amount in (used, maximum)]
            limit = maximum.get(resource)
            yield (
                name,
                _queue_path(queue),
                resource,
                shown[0],
                *limited(used.get(resource, 0), limit, shown[1]),
            )
        running, limit = len(queue.get("runningApplications", ())), queue.get("maxApplications")
        if running or limit:
            yield (
                name,
                _queue_path(queue),
                "applications",
                str(running),
                *limited(running, limit, str(limit)),
            )
        stack += reversed(queue.get("children", ()))
