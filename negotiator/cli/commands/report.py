"""``negotiator report``: one page of HTML about a period."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.cli import options


@click.command(short_help="Write a page of HTML: use, shares, what blocks whom, times.")
@click.argument("file", metavar="FILE.html", type=click.Path(dir_okay=False, path_type=Path))
@options.targets(
    "audit_log",
    "state",
    "pool",
    "bundle",
    "plugins_dirs",
    "disable",
    "now",
    state=options.READ_STATE,
    pool=options.READ_POOL,
)
@click.option(
    "--since", type=options.PAST_TIME, help="From this time on: 2026-11-20, or 12h, 7d ago.  [default: 30d]"
)
@click.option("--until", type=options.PAST_TIME, help="Before this time, in the same forms.")
@click.option("--month", type=options.MONTH, help="A month, in UTC, such as 2026-11.")
@click.option("--cycle", type=click.IntRange(min=1), help="One cycle of the audit log, by its number.")
@click.option("--title", default="Report of the pool", show_default=True, help="The heading of the page.")
def report(**given: Any) -> None:
    r"""Write FILE.html, one page without scripts that loads nothing else, about a month, a time or a cycle.

    From the audit log: slots, running jobs and jobs that wait over time, slots handed out by user and queue, and what blocks whom. From the state:
    shares against use in the last cycle, and the times of the last cycles. From the pool: what it runs now, by user and queue. A
    source that is missing is named; what it would show is left out.

    \b
    Exit codes:
      0  written
      1  the policy bundle has errors, there is no cycle in this time, or the file cannot be written
      2  invalid command line, or no source was given
      3  the audit log could not be read
      4  the pool could not be read
      6  the state could not be read

    \b
    Examples:
      negotiator report pool.html --state var/state
      negotiator report november.html --audit-log var/audit --month 2026-11
      negotiator report cycle.html --audit-log var/audit --cycle 512 --pool pool/
    """
    from negotiator.cli import period_report as implementation

    since, until, month, cycle = (given.pop(name) for name in ("since", "until", "month", "cycle"))
    if sum((month is not None, cycle is not None, since is not None or until is not None)) > 1:
        raise click.UsageError("--month, --cycle, and --since with --until exclude each other")
    if month is not None:
        since, until = month
    elif cycle is None and since is None and until is None:
        since = options.PAST_TIME.convert("30d", None, None)
    implementation.report(since=since, until=until, cycle=cycle, **given)
