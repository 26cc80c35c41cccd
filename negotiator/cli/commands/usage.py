"""``negotiator usage``: the usage of users and groups, beside their limits."""

from __future__ import annotations

from typing import Any

import click

from negotiator.cli import options


@click.command(short_help="Print the usage of users or groups, beside their limits.")
@click.argument("report", metavar="users|groups|quotas|limits")
@click.argument("name", required=False)
@options.targets(
    "pool",
    "bundle",
    "state",
    "plugins_dirs",
    "disable",
    "now",
    pool={
        "help": "Folder or file of ads to count the running jobs of; may be repeated.  [default: those that the negotiator of "
        "the state has saved]",
    },
    state=options.READ_STATE,
)
@click.option(
    "--queue", type=options.QUEUE_PATH, help="Print the usage in this queue and those below it only."
)
@options.full
@options.as_json
@click.option("--spec-names", is_flag=True, help="With --json: the keys that the specification prints.")
def usage(**given: Any) -> None:
    """Print the usage of users or groups over the tree of queues, beside their limits; with NAME, of that one alone.

    The usage is that of the running jobs of the pool, and with --state also of that negotiator's matches not yet visible
    in the pool. The report quotas has resource quotas, limits has concurrency limits; plugins may offer further reports.

    At most a screen is printed: the limits that are used most. --full prints everything, and so do --queue and NAME for a
    queue and for a user or group.

    With --json the list is that of YuniKorn's GET /ws/v1/partition/default/usage/users and .../groups: memory and the
    like in bytes, vcore in thousandths.

    \b
    Exit codes:
      0  the report was printed
      1  no plugin knows the report or has an entry of that NAME, or the policy bundle has errors
      2  invalid command line
      4  the pool could not be read
      6  the state could not be read
      7  a plugin failed, so the report is incomplete

    \b
    Examples:
      negotiator usage users --pool examples/first-pool
      negotiator usage groups development --pool pool/ --bundle policies/site --json
      negotiator usage limits --pool pool/ --bundle policies/limits
    """
    from negotiator.cli import usage as implementation

    implementation.usage(**given)
