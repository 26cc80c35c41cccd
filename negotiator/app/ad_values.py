"""Values of attributes as YAML files have them: numbers, booleans, texts, and expressions after an ``=``."""

from __future__ import annotations

from typing import Final, TypeAlias

from negotiator.bundle import scalars
from negotiator.classad import ClassAdError, Expr, LiteralValue, parse
from negotiator.errors import SettingsError
from negotiator.records import Problem, ScalarText, Severity

AdValue: TypeAlias = Expr | LiteralValue

#: Attributes that always have expressions, in lower case.
_EXPRESSIONS: Final = frozenset({"requirements", "rank", "start"})


def ad_value(name: str, text: ScalarText) -> AdValue:
    """Return a number, a boolean or an expression as it is written, anything else as a text.

    :raises SettingsError: the expression is invalid.
    """
    written = text.text.strip()
    if written.startswith("=") or name.lower() in _EXPRESSIONS:
        return ad_expression(name, text)
    if text.quoted:
        return text.text
    if written in scalars.TRUE | scalars.FALSE:
        return written in scalars.TRUE
    if scalars.is_integer(written):
        return int(written)
    return float(written) if scalars.is_real(written) else text.text


def ad_expression(name: str, text: ScalarText) -> Expr:
    """Return an expression, with or without an ``=`` before it.

    :param name: what it is, for the message.
    :raises SettingsError: it is invalid.
    """
    try:
        return parse(text.text.strip().removeprefix("="))
    except ClassAdError as error:
        wrong = Problem(Severity.ERROR, text.source, f"{name}: {error}")
        raise SettingsError([wrong], text.source.file) from None
