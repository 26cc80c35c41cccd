"""``negotiator why``: why jobs get no slot, or a slot no job."""

from __future__ import annotations

from typing import Any

import click

from negotiator.cli import options


@click.command(short_help="Print why jobs get no slot, or a slot no job; what would help.")
@click.argument("word", metavar="JOB|USER|QUEUE|SLOT")
@click.argument("slot", metavar="[SLOT]", required=False)
@click.option("--job", "kind", flag_value="job", help="The word is the id of a job.")
@click.option("--user", "kind", flag_value="user", help="The word is the name of a user or a submitter.")
@click.option(
    "--queue", "kind", flag_value="queue", help="The word is the path of a queue, or its last part."
)
@click.option("--slot", "kind", flag_value="slot", help="The word is the name of a slot.")
@options.targets(
    "pool",
    "bundle",
    "state",
    "audit_log",
    "plugins_dirs",
    "disable",
    "now",
    pool=options.READ_POOL,
    state=options.READ_STATE,
)
@options.full
@options.as_json
def why(**given: Any) -> None:
    """Print why a JOB, or the idle jobs of a USER or a QUEUE, get no slot, why a SLOT runs no idle job, or why a JOB does not get a SLOT.

    A JOB is 12.7, submit1#12.7, or 12 for the first idle job of a cluster. First comes what a cycle over the pool now decides about it: the reason is that of negotiator run, idle and
    why USER. Then the job is considered alone, against all slots under the present use of the pool, by the rules of a cycle; nothing is
    changed. The table has each condition that rejects slots: how many, how many that nothing else rejects, and who can change it. Below a
    condition is the nearest value that slots would accept. Then come the fewest conditions that together leave no slot, and, if such
    conditions decide, the fewest that would have to change.

    A job that could get a slot alone waits for others, or for its share: with --state, its last decision and the share of its
    submitter in the last cycle say for whom.

    With JOB and SLOT, every reason is printed that keeps the job from the slot, considered alone: gates, Requirements of both sides, policies,
    use, and quotas.

    For a USER or a QUEUE: the idle jobs by reason, the fair share, and the limits with what is used of them.

    For a SLOT, the table has each condition that keeps idle jobs from it: how many jobs it rejects, and how many that nothing else rejects.

    \b
    Exit codes:
      0  the reasons were printed
      1  the pool has no such job, user, queue or slot, or the policy bundle has errors
      2  invalid command line, or the word names several
      4  the pool could not be read
      6  the state could not be read

    \b
    Examples:
      negotiator why 12.7 --pool examples/first-pool
      negotiator why 12 --state var/state --bundle policies/site
      negotiator why 12.7 slot1@node1.example.org --pool examples/first-pool
      negotiator why slot1@node1.example.org --pool examples/first-pool
      negotiator why --user tester --pool examples/first-pool --bundle policies/limits
      negotiator why submit1.example.org#12.7 --pool pool/ --json
    """
    from negotiator.cli import why as implementation

    implementation.why(**given)
