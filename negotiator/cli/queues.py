"""``negotiator queues``: the tree of queues, as it is configured or as a negotiator keeps it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from negotiator.cli import options
from negotiator.cli.asked import keeper
from negotiator.cli.bundles import the_bundle
from negotiator.cli.queue_json import tree_json
from negotiator.cli.queue_tables import (
    counted,
    print_access,
    print_draining,
    print_limits,
    print_source,
    print_templates,
    print_tree,
)
from negotiator.queues import ROOT
from negotiator.queues.names import parent_of, upwards
from negotiator.records.text import suggest


@click.command(short_help="Print the queues.")
@click.argument("path", required=False, type=options.QUEUE_PATH)
@options.bundle
@options.state
@options.plugins_dir
@options.disable
@options.now
@options.as_json
def queues(
    path: str | None,
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

    With --json the object is that of YuniKorn's GET /ws/v1/partition/default/queues: memory and the like in bytes, vcore
    in thousandths; a key is absent where its value is zero or empty.

    \b
    Exit codes:
      0  the queues were printed
      1  the policy bundle has errors
      2  the command line is wrong, or there is no such queue
      6  the state could not be read

    \b
    Examples:
      negotiator queues --bundle policies/site
      negotiator queues root.dev --state var/state --bundle policies/site
    """
    bundle = the_bundle(folder, plugins_dirs, disable, undone="there are no queues to print")
    moment = time.time() if now is None else now
    kept = keeper(state, bundle, moment)
    top = path or ROOT
    if kept.queues.get(top) is None:
        hint = suggest(top, (queue.path for queue in kept.queues), listed=False)
        raise click.UsageError(f"there is no queue {top}{f': {hint}' if hint else ''}")
    applications = counted(kept.register.counts()) if state else None
    partition = bundle.partition.name
    if as_json:
        click.echo(json.dumps(tree_json(kept.queues, top, partition, applications), indent=2))
        return
    if bundle.chain is None:
        click.echo("No plugin brings placement rules: jobs have no queue.\n")
    shown = [queue for queue in kept.queues if top in upwards(queue.path)]
    print_tree(shown, applications)
    print_draining(shown, moment)
    above = [queue for queue in map(kept.queues.get, reversed([*upwards(parent_of(top))])) if queue]
    print_access([*above, *shown])
    if path is not None:
        print_limits(shown)
        print_templates(shown)
        print_source(shown[0])
