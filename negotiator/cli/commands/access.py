"""``negotiator access``: the permissions of a user, and the access control lists that grant them."""

from __future__ import annotations

from typing import Any

import click

from negotiator.cli import options


@click.command(short_help="Print the permissions of a user, and the rules that decide.")
@click.argument("paths", nargs=-1, type=options.QUEUE_PATH, metavar="[PATH]...")
@options.user
@options.group
@options.targets("bundle", "plugins_dirs", "disable", "now")
@options.as_json
def access(**given: Any) -> None:
    """Print whether a user may submit to queues, administer them, and change settings or queues; and which rule decides.

    PATH is a queue, such as root.dev.web; without one, all configured queues are printed. The queue need not exist, since
    a placement rule may create it.

    \b
    Exit codes:
      0  the permissions were printed, granted or not
      1  the policy bundle has errors
      2  invalid command line
      7  a plugin failed, so the groups of the user are unknown: use --group

    \b
    Examples:
      negotiator access --user sue --bundle policies/site
      negotiator access --user sue --group dev root.dev.web
    """
    from negotiator.cli import access as implementation

    implementation.access(**given)
