"""``negotiator place``: the queue that an application would be placed in, and the result of each placement rule."""

from __future__ import annotations

from typing import Any

import click

from negotiator.cli import options


@click.command(short_help="Print the queue that an application would be placed in, and why.")
@options.user
@options.group
@click.option(
    "--queue",
    default="",
    metavar="NAME",
    help="The queue that the application requests; with --pool: print what is placed there and below only.",
)
@click.option(
    "--tag",
    "tags",
    multiple=True,
    callback=options.named_values,
    metavar="NAME=VALUE",
    help="An attribute of its jobs; may be repeated.",
)
@click.option("--forced", is_flag=True, help="The application is forced.")
@options.targets(
    "bundle",
    "pool",
    "state",
    "plugins_dirs",
    "disable",
    "now",
    pool={"help": "Place the jobs of this folder or file of ads instead; may be repeated."},
    state=options.READ_STATE,
)
@click.option(
    "--job",
    metavar="ID",
    callback=options.job_id,
    help="With --pool: print the placement of a job only, such as 12.7, or of all jobs of cluster 12.",
)
@options.full
@options.as_json
def place(**given: Any) -> None:
    """Print the queue that an application of a user would be placed in, and the result of each placement rule tried.

    With --pool, place the jobs of a pool as a negotiation cycle would: jobs that are alike in everything that rules read
    are printed together, on a terminal those that fit: totals, rejected ones first. --full prints all, --user, --queue and --job those
    of a user, a queue or a job. Nothing is changed: no queue is created, nothing is written.

    \b
    Exit codes:
      0  placed
      1  rejected (with --pool, at least one application), or the policy bundle has errors
      2  invalid command line
      4  the pool could not be read
      6  the state could not be read
      7  a plugin failed: the groups of a user are unknown

    \b
    Examples:
      negotiator place --bundle policies/site --user sue --tag namespace=prod
      negotiator place --bundle policies/site --user sue --group dev --queue root.dev.web
      negotiator place --bundle policies/site --pool examples/first-pool
    """
    from negotiator.cli import place as implementation

    implementation.place(**given)
