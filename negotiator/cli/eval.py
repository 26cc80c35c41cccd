"""``negotiator eval``: an expression against one or two ads."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from negotiator.classad import ClassAd, Environment, ParseError, Table, evaluate_table, parse, unparse_value
from negotiator.cli.render import printable
from negotiator.pool import PoolError, read_ads

BAD_EXPRESSION, BAD_ADS = 1, 4

_ADS = click.Path(path_type=Path, allow_dash=True)


@click.command("eval")
@click.argument("expression")
@click.option("--my", type=_ADS, help="File with the ad that the expression belongs to, or with several.")
@click.option("--target", type=_ADS, help="File with the other ad of the match; the first of it counts.")
@click.option("--now", type=float, help="Take this as the time, in seconds since the epoch.")
def evaluate_command(expression: str, my: Path | None, target: Path | None, now: float | None) -> None:
    """Evaluate a ClassAd EXPRESSION and print its value.

    It may refer to the attributes of an ad (MY) and of the ad it would be matched with (TARGET). Where the file of --my has
    several ads, a line is printed for each, with its name. - is standard input.

    \b
    Exit codes:
      0  a value was printed, undefined and error among them
      1  the expression does not parse
      2  the command line is wrong
      4  an ad could not be read

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
    mine = _ads(my) if my else (ClassAd(),)
    other = _ads(target)[0] if target else None
    env = Environment(now=time.time() if now is None else now)
    values = evaluate_table(tree, Table.from_ads(mine), other, env=env)
    for row, ad in enumerate(mine):
        name = f"{ad.string('Name') or _job(ad) or row + 1}: " if len(mine) > 1 else ""
        click.echo(printable(f"{name}{unparse_value(values.value(row))}"))


def _ads(path: Path) -> tuple[ClassAd, ...]:
    try:
        file = read_ads("-" if str(path) == "-" else path, sys.stdin.buffer)
    except PoolError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(BAD_ADS)
    for problem in file.problems:
        click.echo(printable(str(problem)), err=True)
    if not file.ads:
        click.echo(f"error: {path} has no ad that can be read", err=True)
        sys.exit(BAD_ADS)
    return tuple(ad for ad, _ in file.ads)


def _job(ad: ClassAd) -> str | None:
    cluster = ad.integer("ClusterId")
    return None if cluster is None else f"{cluster}.{ad.integer('ProcId', 0)}"
