"""``negotiator eval``: an expression against one or two ads."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from negotiator.classad import ClassAd, Environment, Expr, Table, evaluate_table, unparse_value
from negotiator.classad.scalar import trace
from negotiator.cli.ads import Ads, label, load
from negotiator.cli.expressions import Unparsable, read_expression
from negotiator.cli.render import POINT_IN_TIME, printable
from negotiator.cli.steps import print_trace

BAD_EXPRESSION, BAD_ADS = 1, 4

_ADS = click.Path(path_type=Path, allow_dash=True)


@click.command("eval")
@click.argument("expression")
@click.option("--my", type=_ADS, help="File with the ad that the expression belongs to, or with several.")
@click.option("--target", type=_ADS, help="File with the other ad of the match; the first of it counts.")
@click.option("--now", type=POINT_IN_TIME, help="Take this as the time, in seconds since the epoch.")
@click.option("--trace", "traced", is_flag=True, help="Print each part of the expression with its value.")
def evaluate_command(
    expression: str, my: Path | None, target: Path | None, now: float | None, *, traced: bool
) -> None:
    """Evaluate a ClassAd EXPRESSION and print its value.

    It may refer to the attributes of an ad (MY) and of the ad it would be matched with (TARGET). Where the file of --my has
    several ads, a line is printed for each, with its name. - is standard input.

    With --trace the parts of the expression are printed below it, each with the value that it had, and those of the
    attributes that it refers to; MY and TARGET tell in which of the two ads an attribute was found. To try several
    expressions on the same ads: negotiator repl.

    \b
    Exit codes:
      0  a value was printed, undefined and error among them
      1  the expression does not parse
      2  the command line is wrong
      4  an ad could not be read; values of the others were printed

    \b
    Examples:
      negotiator eval '1 + 2 * 3'
      negotiator eval 'MY.Memory >= TARGET.RequestMemory' --my machines.ads --target jobs.ads
      negotiator eval MY.Requirements --my jobs.ads --target machines.ads --trace
    """
    try:
        tree = read_expression(expression)
    except Unparsable as wrong:
        wrong.show()
        sys.exit(BAD_EXPRESSION)
    mine = load(my) if my else Ads((ClassAd(),), complete=True)
    others = load(target) if mine.ads and target else Ads((), complete=True)
    if not mine.ads or (target and not others.ads):
        sys.exit(BAD_ADS)
    other = others.ads[0] if others.ads else None
    env = Environment(now=time.time() if now is None else now)
    (_trace if traced else _values)(tree, mine.ads, other, env)
    if not (mine.complete and others.complete):
        sys.exit(BAD_ADS)


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
