"""``negotiator queues``: the tree of queues, as it is configured or as a negotiator keeps it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import attrs
import click

from negotiator.bundle.model import Bundle
from negotiator.cli import options
from negotiator.cli.bundles import the_bundle
from negotiator.cli.pools import the_pool
from negotiator.cli.queue_json import tree_json
from negotiator.cli.queue_tables import (
    Applications,
    Usages,
    counted,
    print_access,
    print_draining,
    print_limits,
    print_source,
    print_templates,
    print_tree,
    print_usage,
)
from negotiator.cli.render import printable
from negotiator.cli.subjects import state_manager
from negotiator.queues import ROOT, QueueTree
from negotiator.queues.names import parent_of, upwards
from negotiator.records.text import suggest
from negotiator.runtime.state_manager import StateManager
from negotiator.runtime.usage import UsageByQueue, usage_by_queue

FAILED = 3


@click.command(short_help="Print the queues.")
@click.argument("path", required=False, type=options.QUEUE_PATH)
@options.pool("Folder or file of ads to count what is in use of; may be given again.")
@options.bundle
@options.state
@options.plugins_dir
@options.disable
@options.now
@options.as_json
def queues(
    path: str | None,
    pool: tuple[Path, ...],
    folder: Path | None,
    state: Path | None,
    plugins_dirs: tuple[Path, ...],
    disable: tuple[str, ...],
    now: float | None,
    *,
    as_json: bool,
) -> None:
    """Print the queues of a policy bundle, those below PATH if it is given, and then their limits too.

    An access control list holds for all queues below too. A queue that is draining takes no new applications, and goes
    when its last one is gone.

    With --state they are those that a negotiator keeps there: with the queues that placement rules made, those that
    are draining, and the number of applications in each, waiting or running.

    With --pool what is in use of each resource is printed too, of a queue and all below it: by what runs in the pool, and
    with --state by the matches of that negotiator that the pool does not show yet. Without --state running jobs are placed
    as if they were new.

    With --json the object is that of YuniKorn's GET /ws/v1/partition/default/queues: memory and the like in bytes, vcore
    in thousandths; a key is absent where its value is zero or empty.

    \b
    Exit codes:
      0  the queues were printed
      1  the policy bundle has errors
      2  the command line is wrong, or there is no such queue
      3  a plugin failed that had to say where running jobs are
      4  the pool could not be read
      6  the state could not be read

    \b
    Examples:
      negotiator queues --bundle policies/site
      negotiator queues root.dev --state var/state --bundle policies/site
      negotiator queues --pool examples/first-pool --bundle policies/site
    """
    bundle = the_bundle(folder, plugins_dirs, disable, undone="there are no queues to print")
    moment = time.time() if now is None else now
    kept = state_manager(state, bundle, moment)
    found = _in_use(pool, bundle, kept, moment) if pool else None
    tree = found.queues if found else kept.queues
    top = path or ROOT
    if tree.get(top) is None:
        hint = suggest(top, (queue.path for queue in tree), listed=False)
        raise click.UsageError(f"there is no queue {top}{f': {hint}' if hint else ''}")
    usage = found.usage if found else None
    applications = counted(kept.registry.counts()) if state else None
    if as_json:
        click.echo(json.dumps(tree_json(tree, top, bundle.partition.name, applications, usage), indent=2))
    else:
        if bundle.chain is None:
            click.echo("No plugin brings placement rules: jobs have no queue.\n")
        _print(tree, path, applications, usage, moment)
    sys.exit(FAILED if found and found.failures else 0)


def _in_use(pool: Sequence[Path], bundle: Bundle, kept: StateManager, now: float) -> UsageByQueue:
    """Count what is in use; plugins that failed are told on standard error."""
    snapshot = the_pool(pool)
    state, unknown = kept.cycle_state(snapshot, now)
    found = usage_by_queue(snapshot, bundle, state, now)
    failures = tuple(dict.fromkeys((*unknown, *found.failures)))
    for failure in failures:
        click.echo(f"error: {printable(str(failure))}", err=True)
    return attrs.evolve(found, failures=failures)


def _print(
    tree: QueueTree, path: str | None, applications: Applications, usage: Usages | None, now: float
) -> None:
    top = path or ROOT
    shown = [queue for queue in tree if top in upwards(queue.path)]
    print_tree(shown, applications)
    if usage is not None:
        print_usage(shown, usage)
    print_draining(shown, now)
    above = [queue for queue in map(tree.get, reversed([*upwards(parent_of(top))])) if queue]
    print_access([*above, *shown])
    if path is not None:
        print_limits(shown)
        print_templates(shown)
        print_source(shown[0])
