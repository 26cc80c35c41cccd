"""Parses the expressions of a command line, and shows where they are wrong."""

from __future__ import annotations

import re

from negotiator.classad import Expr, ParseError, parse
from negotiator.cli.problems import print_problems
from negotiator.errors import CommandError
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
