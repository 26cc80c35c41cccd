"""Prints an expression from an ad or a policy for a reason that people read."""

from __future__ import annotations

from typing import Final

from negotiator.classad import Expr
from negotiator.classad.syntax import unparse_old
from negotiator.pool.secrets import redact

#: The most characters of an expression that a reason shows.
MAX_TEXT: Final = 300


def shown_expression(expression: Expr) -> str:
    """Print an expression as condor_status and condor_q would, bounded, and without the values of secrets."""
    text = redact(unparse_old(expression))
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}..."
