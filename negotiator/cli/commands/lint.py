"""``negotiator lint``: find mistakes in expressions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.hooks.command_options import POINT_IN_TIME

_ADS = click.Path(path_type=Path, allow_dash=True)


@click.command(short_help="Find mistakes in expressions.")
@click.argument("expressions", nargs=-1, required=True, metavar="EXPRESSION...")
@click.option("--my", type=_ADS, help="File with the ads that are MY.")
@click.option("--target", type=_ADS, help="File with the ads that are TARGET.")
@click.option("--alone", is_flag=True, help="The expression is a gate, evaluated without TARGET.")
@click.option(
    "--value", is_flag=True, help="The expression is used for its value, as a Rank is, not for being true."
)
@click.option("--now", type=POINT_IN_TIME, help="Use this as the current time, in seconds since the epoch.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Output for people or for programs.",
)
def lint(**given: Any) -> None:
    """Find mistakes in each ClassAd EXPRESSION before it is used in a policy.

    Without ads only findings that hold for any ads are reported: always true, always undefined, a string compared with a
    number. With the ads of a pool also: attributes that no ad has or only the other side has, and parts that are true,
    undefined or an error for all ads. MY and TARGET are the two ads, as in a policy. - is standard input.

    \b
    Exit codes:
      0  no warnings
      1  there are warnings, or an expression does not parse
      2  invalid command line
      4  an ad could not be read; the findings with the others were printed

    \b
    Examples:
      negotiator lint 'MY.Memory > "1024"' 'x == undefined'
      negotiator lint 'TARGET.RequestMemory > 0' --my jobs.ads --target machines.ads
      negotiator lint --alone 'MY.Mips < 1000' --my machines.ads
    """
    from negotiator.cli import lint as implementation

    implementation.lint_command(**given)
