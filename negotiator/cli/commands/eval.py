"""``negotiator eval``: evaluate an expression on one or two ads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.hooks.command_options import POINT_IN_TIME

_ADS = click.Path(path_type=Path, allow_dash=True)


@click.command()
@click.argument("expression")
@click.option("--my", type=_ADS, help="File with the ads that are MY, one after the other.")
@click.option("--target", type=_ADS, help="File whose first ad is TARGET, the other ad of a match.")
@click.option("--now", type=POINT_IN_TIME, help="Use this as the current time, in seconds since the epoch.")
@click.option("--trace", "traced", is_flag=True, help="Print each part of the expression with its value.")
def eval(**given: Any) -> None:  # noqa: A001 - the name of the command
    """Evaluate a ClassAd EXPRESSION and print its value.

    It may refer to the attributes of an ad (MY) and of the ad it would be matched with (TARGET). Where the file of --my has
    several ads, a line is printed for each, with its name. - is standard input.

    With --trace each part of the expression is printed with its value, and so are the expressions of the attributes that
    it refers to; MY and TARGET show which of the two ads has an attribute. For several expressions on the same ads:
    negotiator repl.

    \b
    Exit codes:
      0  a value was printed, undefined and error among them
      1  invalid expression
      2  invalid command line
      4  an ad could not be read; values of the target_ads were printed

    \b
    Examples:
      negotiator eval '1 + 2 * 3'
      negotiator eval 'MY.Memory >= TARGET.RequestMemory' --my machines.ads --target jobs.ads
      negotiator eval MY.Requirements --my jobs.ads --target machines.ads --trace
    """
    from negotiator.cli import eval as implementation

    implementation.evaluate_command(**given)
