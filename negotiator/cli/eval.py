"""``negotiator expr eval``: evaluate an expression on one or two ads; and the expressions of a command line, with where they are wrong."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from negotiator.classad import Ad, Environment, Expr, ParseError, evaluate, parse, unparse_value
from negotiator.classad.scalar import trace
from negotiator.cli.ads import Ads, label, load
from negotiator.cli.problems import print_problems
from negotiator.cli.render import printable
from negotiator.errors import CommandError
from negotiator.exit_codes import ExitCode
from negotiator.records import Problem, Severity, Source

_ASSIGNMENT = re.compile(r"\s*[\w.]+\s*=(?![=?!])")

_HINT = "use == to compare; in the repl, :set gives an ad an attribute"


class UnparsableExpressionError(CommandError):
    """Invalid expression; ``problem`` has the message and the position."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem

    def show(self) -> None:
        """Print the problem to standard error, with a caret below the place."""
        print_problems([self.problem], err=True)


def read_expression(text: str, start: int = 0, *, name: str = "expression", line: int = 0) -> Expr:
    """Return the expression that begins at ``start`` of a text.

    :param name: the name of the file, for the place of a problem.
    :param line: the line of the file that the text is; 0 or 1 is the first.
    :raises UnparsableExpressionError: it does not parse.
    """
    try:
        return parse(text[start:])
    except ParseError as error:
        shown = text.split("\n")[error.line - 1]
        column = error.column + (start if error.line == 1 else 0)
        hint = _HINT if _ASSIGNMENT.match(shown, start) else ""
        source = Source(name, max(line, 1) - 1 + error.line, column)
        raise UnparsableExpressionError(Problem(Severity.ERROR, source, error.message, hint, shown)) from None


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
