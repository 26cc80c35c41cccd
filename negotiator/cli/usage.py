"""``negotiator usage``: what users and groups use, beside the limits that hold for them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from negotiator.cli import options
from negotiator.cli.bars import limited
from negotiator.cli.bundles import the_bundle
from negotiator.cli.pools import the_pool
from negotiator.cli.render import print_table, printable
from negotiator.cli.subjects import state_manager
from negotiator.hooks import specs
from negotiator.hooks.hook import per_plugin
from negotiator.queues.quantities import format_quantity
from negotiator.runtime.usage import pool_usage

NO_ANSWER = 3


@click.command(short_help="Print what users or groups use of their limits.")
@click.argument("report", metavar="users|groups")
@click.argument("name", required=False)
@options.pool("Folder or file of ads to count the running jobs of; may be given again.", required=True)
@options.bundle
@options.state
@options.plugins_dir
@options.disable
@options.now
@options.as_json
@click.option("--spec-names", is_flag=True, help="With --json: the names that the specification prints.")
def usage(
    report: str,
    name: str | None,
    pool: tuple[Path, ...],
    folder: Path | None,
    state: Path | None,
    plugins_dirs: tuple[Path, ...],
    disable: tuple[str, ...],
    now: float | None,
    *,
    as_json: bool,
    spec_names: bool,
) -> None:
    """Print what users or groups use over the tree of queues, NAME alone if it is given, beside their limits.

    Counted is what runs in the pool, and with --state the matches of that negotiator that the pool does not show yet.
    Plugins may know further reports.

    With --json the list is that of YuniKorn's GET /ws/v1/partition/default/usage/users and .../groups: memory and the
    like in bytes, vcore in thousandths.

    \b
    Exit codes:
      0  the report was printed
      1  the policy bundle has errors
      2  the command line is wrong
      3  no plugin knows the report or the name, or one failed
      4  the pool could not be read
      6  the state could not be read

    \b
    Examples:
      negotiator usage users --pool examples/first-pool
      negotiator usage groups development --pool pool/ --bundle policies/site --json
    """
    bundle = the_bundle(folder, plugins_dirs, disable, undone="nothing was counted")
    at = time.time() if now is None else now
    snapshot = the_pool(pool)
    cycle_state, unknown = state_manager(state, bundle, at).cycle_state(snapshot, at)
    found = pool_usage(snapshot, bundle, cycle_state, at)
    answers = bundle.hooks.ask(
        specs.negotiator_usage,
        report=report,
        used=per_plugin(found.of),
        queues=found.queues,
        settings=bundle.settings,
        spec_names=spec_names and as_json,
    )
    failures = (*unknown, *found.failures, *answers.failures)
    for failure in failures:
        click.echo(f"error: {printable(str(failure))}", err=True)
    entries = [stamped.record for stamped in answers.records if name in {None, _name(stamped.record)}]
    if as_json:
        click.echo(json.dumps(entries, indent=2))
    elif entries:
        _print(report, entries)
    else:
        whom = f"{name} in the report" if name else "the report"
        click.echo(
            f"Nothing is used, and nothing limited: no plugin has {printable(whom)} {printable(report)}."
        )
    sys.exit(NO_ANSWER if failures or (name and not entries) else 0)


def _name(entry: Mapping[str, Any]) -> str:
    """Whose an entry is: its first value."""
    return str(next(iter(entry.values()), ""))


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
    rows = [row for entry in entries for row in _rows(_name(entry), entry.get("queues", {}))]
    headers = (report.removesuffix("s").upper(), "QUEUE", "RESOURCE", "USED", "LIMIT", "")
    print_table(f"Usage of {printable(report)}", headers, rows, right=(3, 4))


def _rows(name: str, node: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The lines of one user or group: each resource of each queue that is used or limited, then its applications."""
    waiting = [node] if node else []
    while waiting:
        queue = waiting.pop()
        used, most = queue.get("resourceUsage", {}), queue.get("maxResources", {})
        for resource in sorted({*used, *most}):
            shown = [format_quantity(resource, amount.get(resource, 0)) for amount in (used, most)]
            limit = most.get(resource)
            yield (
                name,
                queue["queuePath"],
                resource,
                shown[0],
                *limited(used.get(resource, 0), limit, shown[1]),
            )
        running, limit = len(queue.get("runningApplications", ())), queue.get("maxApplications")
        if running or limit:
            yield (
                name,
                queue["queuePath"],
                "applications",
                str(running),
                *limited(running, limit, str(limit)),
            )
        waiting += reversed(queue.get("children", ()))
