"""What commands do with the text of an expression: parse it, or show where it is wrong."""

from __future__ import annotations

import re

from negotiator.classad import Expr, ParseError, parse
from negotiator.cli.problems import print_problems
from negotiator.records import Problem, Severity, Source

_ASSIGNMENT = re.compile(r"\s*[\w.]+\s*=(?![=?!])")

_HINT = "== compares; in the repl, :set puts an attribute into an ad"


class Unparsable(Exception):  # noqa: N818 - it is not an error of the program
    """A text is no expression; ``problem`` says what is wrong and where."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem

    def show(self) -> None:
        """Print the problem on standard error, with a caret below the place."""
        print_problems([self.problem], err=True)


def read_expression(text: str, start: int = 0, *, name: str = "expression", line: int = 0) -> Expr:
    """Parse an expression that begins at ``start`` of a text (Unparsable).

    ``name`` and ``line`` say where the text stands: it is line 1 unless it came from the middle of a file.
    """
    try:
        return parse(text[start:])
    except ParseError as error:
        shown = text.split("\n")[error.line - 1]
        column = error.column + (start if error.line == 1 else 0)
        hint = _HINT if _ASSIGNMENT.match(shown, start) else ""
        source = Source(name, max(line, 1) - 1 + error.line, column)
        raise Unparsable(Problem(Severity.ERROR, source, error.message, hint, shown)) from None
