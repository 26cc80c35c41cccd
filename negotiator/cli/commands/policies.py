"""``negotiator policies``: what each rule does, and which did nothing in the last cycles."""

from __future__ import annotations

from typing import Any

import click

from negotiator.cli import options


@click.command(short_help="Print what each policy, limit and quota does, if anything.")
@options.pool_now
@click.option(
    "--idle",
    type=click.IntRange(min=1),
    metavar="CYCLES",
    help="Only the rules that did nothing in so many last cycles of the negotiator of the state.",
)
@options.full
@options.as_json
def policies(**given: Any) -> None:
    """Print what each policy, gate, limit and quota does in a cycle now, which changes nothing: alone, and together with the others.

    A number is what a rule does together with the others; the one in parentheses is what no other rule does. With --state, the last
    column has the last cycles of the negotiator of this state in which the rule did nothing, since it has its present text and mode.

    At most a screen is printed; --full prints everything.

    \b
    Exit codes:
      0  the rules were printed
      1  the policy bundle has errors
      2  invalid command line
      4  the pool could not be read
      6  the state could not be read
      7  a plugin failed

    \b
    Examples:
      negotiator policies --pool examples/first-pool --bundle policies/limits
      negotiator policies --state var/state --bundle policies/site --idle 100
    """
    from negotiator.cli import policies as implementation

    implementation.policies(**given)
