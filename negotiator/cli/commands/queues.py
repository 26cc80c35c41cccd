"""``negotiator queues``: the tree of queues, as configured or as a negotiator keeps it."""

from __future__ import annotations

from typing import Any

import click

from negotiator.cli import options


@click.command(short_help="Print the queues.")
@click.argument("path", required=False, type=options.QUEUE_PATH)
@options.targets(
    "pool",
    "bundle",
    "state",
    "plugins_dirs",
    "disable",
    "now",
    pool={
        "help": "Folder or file of ads to count the usage of; may be repeated.  [default: those that the negotiator of the "
        "state has saved]"
    },
    state=options.READ_STATE,
)
@options.full
@options.as_json
def queues(**given: Any) -> None:
    """Print the queues of a policy bundle; with PATH those below it, with their limits.

    At most a screen is printed: the upper levels of the tree, the limits that are used most. --full prints everything.

    An access control list applies to all queues below too. A draining queue accepts no new applications, and is removed
    when its last one ends.

    With --state, print the queues of that negotiator: also those that placement rules created and those that are
    draining, and the number of applications in each, waiting or running.

    With --pool, print the usage of each resource too, of a queue and all below it: that of running jobs, and with --state
    of that negotiator's matches not yet visible in the pool. Without --state, running jobs are placed as if they were new.

    With --json the object is that of YuniKorn's GET /ws/v1/partition/default/queues: memory and the like in bytes, vcore
    in thousandths; a key is missing if its value is zero or empty.

    \b
    Exit codes:
      0  the queues were printed
      1  unknown queue, or the policy bundle has errors
      2  invalid command line
      4  the pool could not be read
      6  the state could not be read
      7  a plugin failed, so the usage is incomplete

    \b
    Examples:
      negotiator queues --bundle policies/site
      negotiator queues root.dev --state var/state --bundle policies/site
      negotiator queues --pool examples/first-pool --bundle policies/site
    """
    from negotiator.cli import queues as implementation

    implementation.queues(**given)
