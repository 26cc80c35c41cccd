"""``negotiator idle``: why the idle jobs of a pool get no slot."""

from __future__ import annotations

from typing import Any

import click

from negotiator.cli import options


@click.command(short_help="Print why idle jobs get no slot, by reason, user or queue.")
@options.pool_now
@click.option(
    "--by",
    type=click.Choice(["reason", "user", "queue"]),
    default="reason",
    show_default=True,
    help="What to add up the jobs by.",
)
@click.option("--user", default="", metavar="NAME", help="Only the jobs of this user.")
@click.option("--queue", type=options.QUEUE_PATH, help="Only the jobs in this queue and those below it.")
@options.full
@options.as_json
def idle(**given: Any) -> None:
    """Print why the idle jobs of a pool get no slot: what a cycle now would decide, which changes nothing.

    Each job has one decisive reason: the one that took its last slots. Denied: a rule forbids it, and will again. Waiting: others use what
    it needs. Misconfigured: an ad or the bundle is wrong. Broken plugin: a policy plugin failed, so that nothing was granted.

    At most a screen is printed; --full prints everything.

    \b
    Exit codes:
      0  the jobs were printed
      1  the policy bundle has errors
      2  invalid command line
      4  the pool could not be read
      6  the state could not be read
      7  a plugin failed

    \b
    Examples:
      negotiator idle --pool examples/first-pool
      negotiator idle --state var/state --bundle policies/site --by user
      negotiator idle --pool pool/ --user sue --json
    """
    from negotiator.cli import why as implementation

    implementation.idle(**given)
