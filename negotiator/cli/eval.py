"""``negotiator expr eval``: evaluate an expression on one or two ads."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from negotiator.classad import Ad, Environment, Expr, evaluate, unparse_value
from negotiator.classad.scalar import trace
from negotiator.cli.ads import Ads, label, load
from negotiator.cli.expressions import UnparsableExpressionError, read_expression
from negotiator.cli.render import printable
from negotiator.exit_codes import ExitCode


def evaluate_command(
    expression: str, my: Path | None, target: Path | None, now: float | None, *, traced: bool
) -> None:
    """Evaluate a ClassAd EXPRESSION and print its value."""
    try:
        tree = read_expression(expression)
    except UnparsableExpressionError as error:
        error.show()
        sys.exit(ExitCode.NOT_DONE)
    my_ads = load(my) if my else Ads((Ad(),), complete=True)
    target_ads = load(target) if my_ads.ads and target else Ads((), complete=True)
    if not my_ads.ads or (target and not target_ads.ads):
        sys.exit(ExitCode.POOL)
    other = target_ads.ads[0] if target_ads.ads else None
    env = Environment(now=time.time() if now is None else now)
    (_trace if traced else _values)(tree, my_ads.ads, other, env)
    if not (my_ads.complete and target_ads.complete):
        sys.exit(ExitCode.POOL)


def _values(tree: Expr, mine: Sequence[Ad], other: Ad | None, env: Environment) -> None:
    for row, ad in enumerate(mine):
        name = f"{label(ad, row)}: " if len(mine) > 1 else ""
        click.echo(printable(f"{name}{unparse_value(evaluate(tree, ad, other, env))}"))


def _trace(tree: Expr, mine: Sequence[Ad], other: Ad | None, env: Environment) -> None:
    from negotiator.cli.steps import print_trace

    for row, ad in enumerate(mine):
        if len(mine) > 1:
            click.secho(f"{printable(label(ad, row))}:", bold=True)
        print_trace(trace(tree, ad, other, env))
        if row + 1 < len(mine):
            click.echo()
