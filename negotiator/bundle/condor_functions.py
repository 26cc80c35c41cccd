"""Evaluate the numeric macro functions of HTCondor-style files: ``$INT(NAME)``, ``$REAL(NAME,%.2f)``.

Source: the HTCondor manual, "Introduction to Configuration" (macro functions), and HTCondor 25.14 itself. Only values that are
the same at any time are accepted.
"""

from __future__ import annotations

import re

from negotiator.hooks.settings import constant_number

_FORMATS = {
    "INT": re.compile(r"(?:[^%]|%%)*%[-+ 0#]*\d{0,2}(?:\.\d{1,2})?[dixXo](?:[^%]|%%)*"),
    "REAL": re.compile(r"(?:[^%]|%%)*%[-+ 0#]*\d{0,2}(?:\.\d{1,2})?[eEfF](?:[^%]|%%)*"),
}
_DEFAULTS = {"INT": "%d", "REAL": "%.16G"}
_LARGEST = 2.0**63


def number_text(function: str, expression: str, form: str | None) -> str:
    """Return the text of a number as ``$INT`` or ``$REAL`` writes it.

    :param expression: a ClassAd expression without attributes; macros are replaced already.
    :param form: a format of C with text around it, or None for the default.
    :raises ValueError: the expression is not such a number, or the format is not supported; the message says why.
    """
    try:
        number = constant_number(expression)
    except ValueError as error:
        raise ValueError(f"its argument {error}") from error
    if function == "INT":
        if not abs(number) < _LARGEST:
            raise ValueError("the number does not fit into 64 bits")
        number = int(number)
    form = _DEFAULTS[function] if form is None else form
    if form != _DEFAULTS[function] and not _FORMATS[function].fullmatch(form):
        raise ValueError(f"the format {form!r} is not supported")
    return form % number
