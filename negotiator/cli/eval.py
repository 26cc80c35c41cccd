"""``negotiator eval``: evaluate an expression on one or two ads."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from negotiator.classad import ClassAd, Environment, Expr, Table, evaluate_table, unparse_value
from negotiator.classad.scalar import trace
from negotiator.cli.ads import Ads, label, load
from negotiator.cli.expressions import UnparsableExpressionError, read_expression
from negotiator.cli.render import POINT_IN_TIME, printable
from negotiator.cli.steps import print_trace
from negotiator.exit_codes import ExitCode

_ADS = click.Path(path_type=Path, allow_dash=True)


@click.command("eval")
@click.argument("expression")
@click.option("--my", type=_ADS, help="File with the ads that are MY, one after the other.")
@click.option("--target", type=_ADS, help="File whose first ad is TARGET, the other ad of a match.")
@click.option("--now", type=POINT_IN_TIME, help="Use this as the current time, in seconds since the epoch.")
@click.option("--trace", "traced", is_flag=True, help="Print each part of the expression with its value.")
def evaluate_command(
    expression: str, my: Path | None, target: Path | None, now: float | None, *, traced: bool
) -> None:
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
    try:
        tree = read_expression(expression)
    except UnparsableExpressionError as error:
        error.show()
        sys.exit(ExitCode.NOT_DONE)
    my_ads = load(my) if my else Ads((ClassAd(),), complete=True)
    target_ads = load(target) if my_ads.ads and target else Ads((), complete=True)
    if not my_ads.ads or (target and not target_ads.ads):
        sys.exit(ExitCode.POOL)
    other = target_ads.ads[0] if target_ads.ads else None
    env = Environment(now=time.time() if now is None else now)
    (_trace if traced else _values)(tree, my_ads.ads, other, env)
    if not (my_ads.complete and target_ads.complete):
        sys.exit(ExitCode.POOL)


def _values(tree: Expr, mine: Sequence[ClassAd], other: ClassAd | None, env: Environment) -> None:
    values = evaluate_table(tree, Table.from_ads(mine), other, env=env)
    for row, ad in enumerate(mine):
        name = f"{label(ad, row)}: " if len(mine) > 1 else ""
        click.echo(printable(f"{name}{unparse_value(values.value(row))}"))


def _trace(tree: Expr, mine: Sequence[ClassAd], other: ClassAd | None, env: Environment) -> None:
    for row, ad in enumerate(mine):
        if len(mine) > 1:
            click.secho(f"{printable(label(ad, row))}:", bold=True)
        print_trace(trace(tree, ad, other, env))
        if row + 1 < len(mine):
            click.echo()
