"""Evaluate the numeric macro functions of HTCondor-style files: ``$INT(NAME)``, ``$REAL(NAME,%.2f)``.

Source: the HTCondor manual, "Introduction to Configuration" (macro functions), and HTCondor 25.14 itself. Only values that are
the same at any time are accepted: numbers, operators and a few functions.
"""

from __future__ import annotations

import math
import re

from negotiator import classad
from negotiator.classad import ParseError, parse, references
from negotiator.classad.syntax import Call, Expr, children

_FORMATS = {
    "INT": re.compile(r"(?:[^%]|%%)*%[-+ 0#]*\d{0,2}(?:\.\d{1,2})?[dixXo](?:[^%]|%%)*"),
    "REAL": re.compile(r"(?:[^%]|%%)*%[-+ 0#]*\d{0,2}(?:\.\d{1,2})?[eEfF](?:[^%]|%%)*"),
}
_DEFAULTS = {"INT": "%d", "REAL": "%.16G"}
_FUNCTIONS = frozenset(
    {"int", "real", "floor", "ceiling", "round", "min", "max", "pow", "quantize", "ifthenelse"}
)
_LARGEST = 2.0**63


def number_text(function: str, expression: str, form: str | None) -> str:
    """Return the text of a number as ``$INT`` or ``$REAL`` writes it.

    :param expression: a ClassAd expression without attributes; macros are replaced already.
    :param form: a format of C with text around it, or None for the default.
    :raises ValueError: the expression is not such a number, or the format is not supported; the message says why.
    """
    number = _number(expression)
    if function == "INT":
        if not abs(number) < _LARGEST:
            raise ValueError("the number does not fit into 64 bits")
        number = int(number)
    form = _DEFAULTS[function] if form is None else form
    if form != _DEFAULTS[function] and not _FORMATS[function].fullmatch(form):
        raise ValueError(f"the format {form!r} is not supported")
    return form % number


def _number(expression: str) -> int | float:
    try:
        tree = parse(expression)
    except ParseError as error:
        raise ValueError("its argument is no valid expression") from error
    reads = references(tree)
    if reads.my or reads.target or reads.unscoped or reads.dynamic:
        names = sorted(reads.my | reads.target | reads.unscoped)
        raise ValueError(f"its argument reads {names[0]}" if names else "its argument reads attributes")
    if called := _calls(tree) - _FUNCTIONS:
        raise ValueError(f"its argument calls {min(called)}")
    value = classad.evaluate(tree)
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value if isinstance(value, float) else int(value)
    raise ValueError("its argument is no number")


def _calls(tree: Expr) -> set[str]:
    found, waiting = set(), [tree]
    while waiting:
        node = waiting.pop()
        waiting += children(node)
        if isinstance(node, Call):
            found.add(node.name.lower())
    return found
