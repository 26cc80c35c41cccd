"""``negotiator rollout``: what the rules that do not enforce would have denied, to decide whether they should."""

from __future__ import annotations

from typing import Any

import click

from negotiator.cli import options


@click.command(short_help="Print what rules in mode warn or dryrun would have denied.")
@click.argument("rule", required=False, default="", metavar="[RULE]")
@options.targets("audit_log", "plugins_dirs", "disable")
@click.option("--by", type=click.Choice(["user", "day"]), help="Add up the matches by user or day (UTC).")
@click.option(
    "--since",
    type=options.PAST_TIME,
    help="From this time on: 2026-11-20, 2026-11-20T14:30Z, or 30m, 12h, 7d ago.  [default: the first cycle of each rule]",
)
@options.full
@options.as_json
def rollout(**given: Any) -> None:
    """Print what the policies, limits and quotas in mode warn or dryrun would have denied since they were added, from the audit log.

    RULE is the name of one of them. A rule counts from the first cycle that had it with its present text and mode, by the texts of the
    bundles that the log has. A job that would have been denied a match may get another slot if the rule enforces.

    At most a screen is printed; --full prints everything. The chain of the log is not verified: see negotiator audit verify.

    \b
    Exit codes:
      0  it was printed
      1  no such rule is in mode warn or dryrun
      2  invalid command line
      3  no log, or it cannot be read

    \b
    Examples:
      negotiator rollout --audit-log var/audit
      negotiator rollout memory-of-students --by user --since 7d
    """
    from negotiator.cli import rollout as implementation

    implementation.rollout(**given)
