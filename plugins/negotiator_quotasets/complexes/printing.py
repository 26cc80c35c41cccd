"""Numbers as Grid Engine prints them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from types import MappingProxyType

from negotiator_quotasets.complexes.model import ComplexType
from negotiator_quotasets.complexes.numbers import MAX_DIGITS, MAX_EXPONENT, is_infinite, parse_number


def normalized(type_: ComplexType, text: str) -> str:
    """Return a limit's text as Grid Engine stores it: times in whole seconds, all else (``INFINITY`` too) unchanged.

    :raises InvalidNumberError: invalid time.
    """
    if type_ is not ComplexType.TIME or is_infinite(text):
        return text
    return _rounded(parse_number(type_, text), "1")


def format_amount(type_: ComplexType, amount: Fraction) -> str:
    """Return an amount as qquota prints it: ``4``, ``0.300000``, ``1.863G``, ``00:30:00``, ``true``."""
    return _PRINTERS[type_](amount) if type_ in _PRINTERS else str(amount)


def _rounded(amount: Fraction, step: str) -> str:
    """Return a decimal number with as many digits as ``step`` has, rounded half to even as printf does."""
    with localcontext() as context:
        context.prec = 2 * MAX_DIGITS + MAX_EXPONENT
        return str((Decimal(amount.numerator) / amount.denominator).quantize(Decimal(step), ROUND_HALF_EVEN))


def _memory(amount: Fraction) -> str:
    for power, letter in ((4, "T"), (3, "G"), (2, "M"), (1, "K")):
        if abs(amount) >= 1024**power:
            return _rounded(amount / 1024**power, "0.001") + letter
    return _rounded(amount, "0.001")


def _time(amount: Fraction) -> str:
    minutes, seconds = divmod(abs(int(amount)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{'-' if amount <= -1 else ''}{hours:02}:{minutes:02}:{seconds:02}"


_PRINTERS: Mapping[ComplexType, Callable[[Fraction], str]] = MappingProxyType(
    {
        ComplexType.INT: lambda amount: str(int(amount)),
        ComplexType.DOUBLE: lambda amount: _rounded(amount, "0.000001"),
        ComplexType.MEMORY: _memory,
        ComplexType.TIME: _time,
        ComplexType.BOOL: lambda amount: "true" if amount else "false",
    }
)
