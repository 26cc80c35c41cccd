"""``negotiator why-not``: why a job does not get a certain slot."""

from __future__ import annotations

from typing import Any

import click

from negotiator.cli import options


@click.command("why-not", short_help="Print why a job does not get a slot.")
@click.argument("job", metavar="JOB")
@click.argument("slot", metavar="SLOT")
@options.pool_now
@options.as_json
def why_not(**given: Any) -> None:
    """Print every reason why a JOB does not get a SLOT: of gates, Requirements of both sides, policies, use, and quotas.

    The job is considered alone, by the rules of a cycle; nothing is changed. JOB is 12.7, submit1#12.7, or 12 for the first idle
    job of a cluster; SLOT is the name of the slot.

    \b
    Exit codes:
      0  the reasons were printed
      1  the pool has no such job or slot, or the policy bundle has errors
      2  invalid command line, or several schedds have the job
      4  the pool could not be read
      6  the state could not be read

    \b
    Examples:
      negotiator why-not 12.7 slot1@node1.example.org --pool examples/first-pool
      negotiator why-not 12 slot1@node1.example.org --state var/state --bundle policies/site --json
    """
    from negotiator.cli import why as implementation

    implementation.why_not(**given)
