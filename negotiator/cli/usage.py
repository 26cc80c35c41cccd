"""``negotiator usage``: the usage of users and groups, beside their limits."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from negotiator.app.pool_view import require_pool
from negotiator.app.usage import entry_name, usage_report
from negotiator.cli.bars import limited, most_used, used_part
from negotiator.cli.errors import print_failures
from negotiator.cli.loading import load_view
from negotiator.cli.mode_column import shown_mode, with_modes
from negotiator.cli.problems import print_problems
from negotiator.cli.render import Row, printable
from negotiator.cli.screen import ScreenTable, print_tables
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets
from negotiator.queues.quantities import format_quantity
from negotiator.records import Mode

#: The reports with the keys of the specification, of the plugin that reports users and groups.
SPECIFICATION_REPORTS = {"users": "users-spec", "groups": "groups-spec"}

_DETAILS = "Details: --full, --queue PATH, or the NAME of one"


def usage(
    report: str,
    name: str | None,
    queue: str | None,
    targets: CommandTargets,
    *,
    full: bool,
    as_json: bool,
    spec_names: bool,
) -> None:
    """Print the usage of users or groups over the tree of queues, beside their limits; with NAME, of that one alone."""
    require_pool(targets)
    view = load_view(targets)
    print_problems(view.snapshot.problems, err=True)
    wanted = SPECIFICATION_REPORTS.get(report, report) if spec_names and as_json else report
    result = usage_report(view, wanted, name)
    print_failures(result.failures)
    if as_json:
        click.echo(json.dumps(result.entries, indent=2))
    elif result.entries:
        tables = _tables(report, result.entries, queue or "")
        print_tables(tables, full=full or bool(name or queue), details=_DETAILS)
        if not any(table.rows for table in tables):
            click.echo(f"Nothing is used or limited in {queue}.")
    else:
        selection = f"{name} in the report" if name else "the report"
        click.echo(f"Nothing is used or limited: no plugin has {printable(selection)} {printable(report)}.")
    if result.failures:
        sys.exit(ExitCode.PLUGIN)
    is_found = result.is_known and (result.entries or not name)
    sys.exit(ExitCode.DONE if is_found else ExitCode.NOT_DONE)


def _tables(report: str, entries: Sequence[Mapping[str, Any]], queue: str) -> list[ScreenTable]:
    trees = [entry for entry in entries if "queues" in entry]
    flat = [entry for entry in entries if "queues" not in entry]
    found = [_tree_table(report, trees, queue)]
    if flat:
        headers = tuple(dict.fromkeys(key for entry in flat for key in entry))
        rows = [tuple(printable(str(entry.get(key, ""))) for key in headers) for entry in flat]
        shown = tuple(printable(key).upper() for key in headers)
        found.append(ScreenTable(f"Usage of {printable(report)}", shown, rows))
    return found


def _tree_table(report: str, entries: Sequence[Mapping[str, Any]], queue: str) -> ScreenTable:
    found = [
        (part, row)
        for entry in entries
        for part, row in _rows(entry_name(entry), entry.get("queues", {}))
        if not queue or f"{row[1]}.".startswith(f"{queue}.")
    ]
    columns = (report.removesuffix("s").upper(), "QUEUE", "RESOURCE", "USED", "LIMIT", "")
    headers, rows = with_modes(columns, [row for _, row in found])
    shorten = most_used([(part, row) for (part, _), row in zip(found, rows, strict=True)])
    return ScreenTable(f"Usage of {printable(report)}", headers, rows, (3, 4), shorten=shorten)


def _queue_path(node: Mapping[str, Any]) -> str:
    return str(node.get("queuePath") or node.get("queuename", ""))


def _rows(name: str, node: Mapping[str, Any]) -> Iterator[tuple[float, Row]]:
    """Yield the rows of one user or group, each with the part of its limit that is used.

    A queue has a row for each resource that is used or limited, then one for its applications.
    """
    stack = [node] if node else []
    while stack:
        queue = stack.pop()
        used, maximum = queue.get("resourceUsage", {}), queue.get("maxResources", {})
        mode = queue.get("mode", Mode.ENFORCE)
        for resource in sorted({*used, *maximum}):
            shown = [format_quantity(resource, amount.get(resource, 0)) for amount in (used, maximum)]
            limit = maximum.get(resource)
            amount = used.get(resource, 0)
            bounds = (*limited(amount, limit, shown[1]), shown_mode(mode, limited=limit is not None))
            row = (name, _queue_path(queue), resource, shown[0], *bounds)
            yield used_part(amount, limit), row
        running, limit = len(queue.get("runningApplications", ())), queue.get("maxApplications")
        if running or limit:
            bounds = (*limited(running, limit, str(limit)), shown_mode(mode, limited=bool(limit)))
            yield used_part(running, limit), (name, _queue_path(queue), "applications", str(running), *bounds)
        stack += reversed(queue.get("children", ()))
