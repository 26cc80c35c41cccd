"""``negotiator queues``: the tree of queues, as configured or as a negotiator keeps it; draining queues, access control lists, limits and templates."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click

from negotiator.app.queue_values import QueueValues
from negotiator.app.queues import QueueReport, queue_report
from negotiator.cli.bars import limited, most_used, used_part
from negotiator.cli.errors import print_failures
from negotiator.cli.loading import load_view
from negotiator.cli.mode_column import shown_mode, with_modes
from negotiator.cli.problems import print_problems
from negotiator.cli.render import Row, printable
from negotiator.cli.screen import ScreenTable, print_tables
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets
from negotiator.queues import ROOT, Acl, Queue, QueueConfig, QueueLimit, QueueTree
from negotiator.queues.model import ChildTemplate, QueueUsage
from negotiator.queues.modes import LIMITS_MODE, MAXIMA_MODE
from negotiator.queues.names import parent_of, upwards
from negotiator.queues.quantities import format_amounts, format_quantity

#: The number of applications in each queue and below it; None if unknown.
Applications = Mapping[str, int] | None

#: The usage of each queue and all below it; a missing queue uses nothing.
Usages = Mapping[str, QueueUsage]

_NOTHING = QueueUsage({}, 0)
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def tree_table(tree: QueueTree, shown: list[Queue], applications: Applications) -> ScreenTable:
    """Return queues with their state, applications and resources; the first is the top, with its full path.

    Maxima that do not enforce have their mode. A short table has the upper levels of the tree.
    """
    depth = shown[0].path.count(".")
    rows = [
        (
            "  " * (queue.path.count(".") - depth) + (queue.path if queue is shown[0] else _name(queue.path)),
            f"{'' if queue.managed else 'dynamic '}{'leaf' if queue.leaf else 'parent'}",
            str(queue.state),
            _applications(queue, applications),
            _resources(queue.config),
            _maxima_mode(tree, queue),
        )
        for queue in shown
    ]
    headers, shown_rows = with_modes(("QUEUE", "TYPE", "STATE", "APPLICATIONS", "RESOURCES"), rows)
    depths = [queue.path.count(".") for queue in shown]
    return ScreenTable(
        "Queues", headers, shown_rows, noun="queue", shorten=lambda most: _upper(shown_rows, depths, most)
    )


def _upper(rows: Sequence[Row], depths: Sequence[int], most: int) -> list[Row]:
    """Return the rows of as many upper levels as fit; of the first level that does not, the first rows."""
    counts = Counter(depths)
    left, deepest = most, -1
    for depth in sorted(counts):
        if counts[depth] > left:
            break
        left, deepest = left - counts[depth], depth
    chosen = []
    for row, depth in zip(rows, depths, strict=True):
        if depth <= deepest:
            chosen.append(row)
        elif depth == deepest + 1 and left:
            chosen.append(row)
            left -= 1
    return chosen


def usage_table(tree: QueueTree, shown: list[Queue], usage: Usages) -> ScreenTable:
    """Return the usage of each resource that is used or limited, then of applications; a short table has the most used."""
    found = [
        row
        for queue in shown
        for row in _used(queue, usage.get(queue.path, _NOTHING), _maxima_mode(tree, queue))
    ]
    headers, rows = with_modes(
        ("QUEUE", "RESOURCE", "USED", "GUARANTEED", "MAX", ""), [row for _, row in found]
    )
    shorten = most_used([(part, row) for (part, _), row in zip(found, rows, strict=True)])
    return ScreenTable("Usage", headers, rows, (2, 3, 4), shorten=shorten)


def _maxima_mode(tree: QueueTree, queue: Queue) -> str:
    limited = bool((config := queue.config).applications or (config.max and queue.path != ROOT))
    return shown_mode(tree.mode(queue.path, MAXIMA_MODE), limited=limited)


def _used(queue: Queue, usage: QueueUsage, mode: str) -> Iterator[tuple[float, Row]]:
    """Yield the part of the limit that is used, with each row; ``mode`` is that of the maxima."""
    config, resources = queue.config, usage.resources
    named = (name for name in resources if resources[name])
    for resource in sorted({*config.max, *config.guaranteed, *named}):
        used, guaranteed = resources.get(resource, 0), config.guaranteed.get(resource)
        maximum = config.max.get(resource)
        amounts = [
            "" if each is None else format_quantity(resource, each) for each in (used, guaranteed, maximum)
        ]
        bounds = (*limited(used, maximum, amounts[2]), "" if maximum is None else mode)
        row = (queue.path, resource, amounts[0], amounts[1], *bounds)
        yield used_part(used, maximum), row
    if usage.applications or config.applications:
        most = config.applications or None
        count = usage.applications
        bounds = (*limited(count, most, str(most)), mode if most else "")
        row = (queue.path, "applications", str(count), "", *bounds)
        yield used_part(count, most), row


def draining_table(shown: list[Queue], now: float) -> ScreenTable:
    """Return the draining queues, and since when they are draining."""
    rows = [
        (queue.path, _instant(queue.since), _duration(now - queue.since)) for queue in shown if queue.draining
    ]
    return ScreenTable("Draining", ("QUEUE", "SINCE", "DURATION"), rows, noun="queue")


def access_table(shown: list[Queue]) -> ScreenTable:
    """Return the access control lists of those queues that have any."""
    rows = [
        (queue.path, _names(queue.config.submit), _names(queue.config.admin))
        for queue in shown
        if queue.config.submit != Acl() or queue.config.admin != Acl()
    ]
    return ScreenTable("Access control lists", ("QUEUE", "SUBMIT", "ADMINISTER"), rows, noun="queue")


def limits_table(tree: QueueTree, shown: list[Queue]) -> ScreenTable:
    """Return the limits of queues, with their sources."""
    rows = [
        (queue.path, _limited(limit), limit.text, str(limit.source), _limits_mode(tree, queue))
        for queue in shown
        for limit in queue.config.limits
    ]
    return ScreenTable("Limits", *with_modes(("QUEUE", "LIMIT", "DESCRIPTION", "SOURCE"), rows))


def _limits_mode(tree: QueueTree, queue: Queue) -> str:
    return shown_mode(tree.mode(queue.path, LIMITS_MODE))


def templates_table(shown: list[Queue]) -> ScreenTable:
    """Return the child templates: the initial settings of queues that placement rules create below these."""
    rows = [
        (
            queue.path,
            str(template.applications or ""),
            _resources(template),
            ", ".join(f"{key}={value}" for key, value in sorted(template.properties.items())),
        )
        for queue in shown
        if (template := queue.config.template)
    ]
    headers = ("QUEUE", "APPLICATIONS", "RESOURCES", "PROPERTIES")
    return ScreenTable("Child templates", headers, rows)


def print_source(queue: Queue) -> None:
    """Print where a queue is configured."""
    if queue.draining:
        origin = "no longer configured"
    elif queue.managed:
        origin = f"configured in {queue.config.source}"
    else:
        origin = "created by a placement rule"
    click.echo(printable(f"{queue.path} is {origin}"))


def _name(path: str) -> str:
    return path.rpartition(".")[2]


def _applications(queue: Queue, applications: Applications) -> str:
    """``3 of 10``; ``-`` without a state; the maximum only if there is one."""
    count = "-" if applications is None else str(applications.get(queue.path, 0))
    maximum = queue.config.applications
    return f"{count} of {maximum}" if maximum else count


def _resources(config: QueueConfig | ChildTemplate) -> str:
    parts = (("guaranteed", config.guaranteed), ("max", config.max))
    return "; ".join(f"{word} {format_amounts(amounts)}" for word, amounts in parts if amounts)


def _names(acl: Acl) -> str:
    """``sue, bob, @dev``: users, then groups with an @ before them."""
    if acl.everybody:
        return "everybody"
    return ", ".join((*sorted(acl.users), *(f"@{group}" for group in sorted(acl.groups))))


def _limited(limit: QueueLimit) -> str:
    """``user sue: memory 10G, 5 applications``."""
    subjects = [
        f"{noun}{'s' if len(names) > 1 else ''} {', '.join(names)}"
        for noun, names in (("user", limit.users), ("group", limit.groups))
        if names
    ]
    amounts = [format_amounts(limit.resources)] if limit.resources else []
    if limit.applications:
        amounts.append(f"{limit.applications} application{'' if limit.applications == 1 else 's'}")
    return f"{' and '.join(subjects)}: {', '.join(amounts)}"


def _instant(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _duration(seconds: float) -> str:
    """``3 d 4 h``: the largest unit and the next one, in whole numbers."""
    left = max(0, int(seconds))
    place = next((place for place, (_, size) in enumerate(_UNITS) if left >= size), len(_UNITS) - 1)
    parts: list[str] = []
    for unit, size in _UNITS[place : place + 2]:
        count, left = divmod(left, size)
        if count or not parts:
            parts.append(f"{count} {unit}")
    return " ".join(parts)


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
