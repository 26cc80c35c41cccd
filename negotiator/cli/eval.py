"""``negotiator eval``: an expression against one or two ads."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from negotiator.classad import ClassAd, Environment, ParseError, Table, evaluate_table, parse, unparse_value
from negotiator.cli.render import POINT_IN_TIME, printable
from negotiator.pool import PoolError, read_ads
from negotiator.records import Severity

BAD_EXPRESSION, BAD_ADS = 1, 4

_ADS = click.Path(path_type=Path, allow_dash=True)


@click.command("eval")
@click.argument("expression")
@click.option("--my", type=_ADS, help="File with the ad that the expression belongs to, or with several.")
@click.option("--target", type=_ADS, help="File with the other ad of the match; the first of it counts.")
@click.option("--now", type=POINT_IN_TIME, help="Take this as the time, in seconds since the epoch.")
def evaluate_command(expression: str, my: Path | None, target: Path | None, now: float | None) -> None:
    """Evaluate a ClassAd EXPRESSION and print its value.

    It may refer to the attributes of an ad (MY) and of the ad it would be matched with (TARGET). Where the file of --my has
    several ads, a line is printed for each, with its name. - is standard input.

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
    """
    try:
        tree = parse(expression)
    except ParseError as error:
        click.echo(f"error: {error}", err=True)
        if error.line == 1 and "\n" not in expression:
            click.echo(f"  {printable(expression)}\n  {' ' * (error.column - 1)}^", err=True)
        sys.exit(BAD_EXPRESSION)
    mine, all_read = _ads(my) if my else ((ClassAd(),), True)
    others, others_read = _ads(target) if target else ((None,), True)
    env = Environment(now=time.time() if now is None else now)
    values = evaluate_table(tree, Table.from_ads(mine), others[0], env=env)
    for row, ad in enumerate(mine):
        name = f"{ad.string('Name') or _job(ad) or row + 1}: " if len(mine) > 1 else ""
        click.echo(printable(f"{name}{unparse_value(values.value(row))}"))
    if not (all_read and others_read):
        sys.exit(BAD_ADS)


def _ads(path: Path) -> tuple[tuple[ClassAd, ...], bool]:
    """Give the ads that can be read, and say whether those are all."""
    try:
        file = read_ads("-" if str(path) == "-" else path, sys.stdin.buffer if sys.stdin else None)
    except PoolError as error:
        click.echo(f"error: {printable(str(error))}", err=True)
        sys.exit(BAD_ADS)
    for problem in file.problems:
        click.echo(printable(str(problem)), err=True)
    if not file.ads:
        click.echo(f"error: {printable(str(path))} has no ad that can be read", err=True)
        sys.exit(BAD_ADS)
    all_read = not any(problem.severity is Severity.ERROR for problem in file.problems)
    return tuple(ad for ad, _ in file.ads), all_read


def _job(ad: ClassAd) -> str | None:
    cluster = ad.integer("ClusterId")
    return None if cluster is None else f"{cluster}.{ad.integer('ProcId', 0)}"
