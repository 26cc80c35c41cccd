"""Values of complexes, exactly: read as Grid Engine reads them, kept as fractions, printed as qquota prints them.

Source: sge_types(1), "memory_specifier", "time_specifier"; complex(5); and what a qmaster 8.1.9 accepts. Stricter than
that one in integers (it takes ``+5``, ``1.5`` and ``0x10`` for numbers of slots), and exact where it counts in binary
floating point.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from types import MappingProxyType

from negotiator_quotasets.complexes import Complex, ComplexType, Relation
from negotiator_quotasets.patterns import Folding, expression_matches, same_host

_MULTIPLIERS: Mapping[str, int] = MappingProxyType(
    {"": 1}
    | {letter: 1000**power for power, letter in enumerate("kmgt", 1)}
    | {letter: 1024**power for power, letter in enumerate("KMGT", 1)}
)
_MAX_TEXT = 400  # characters of a number: no quantity of anything needs more, and powers of ten stay small
_MAX_EXPONENT = 308  # of a power of ten, as in Grid Engine's own numbers

_WHOLE = re.compile(r"(-?)([0-9]+)([kKmMgGtT]?)", re.ASCII)
_CONSTANT = re.compile(r"(0[xX][0-9a-fA-F]+|0[0-7]+)([kKmMgGtT]?)", re.ASCII)
_DECIMAL = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,6}))?)([kKmMgGtT]?)", re.ASCII)
_CLOCK = re.compile(r"([0-9]*\.?[0-9]*):([0-9]*\.?[0-9]*):([0-9]*\.?[0-9]*)", re.ASCII)
_TRUTH: Mapping[str, int] = MappingProxyType({"true": 1, "1": 1, "false": 0, "0": 0})

_CALLED: Mapping[ComplexType, str] = MappingProxyType(
    {
        ComplexType.INT: "integer value",
        ComplexType.DOUBLE: "double value",
        ComplexType.MEMORY: "memory value",
        ComplexType.TIME: "time value",
        ComplexType.BOOL: "boolean value",
    }
)


class UnfitValueError(ValueError):
    """A text that is no value of its complex; the message is Grid Engine's, ``hint`` says what would be right."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class NotANumberError(ValueError):
    """A text that is no number of its type."""


def number(type_: ComplexType, text: str) -> Fraction:
    """The number that a text says: bytes of memory, seconds of time, 1 and 0 of truth.

    INT has decimal digits and perhaps a multiplier (``k`` 1000, ``K`` 1024, and so on to ``t`` and ``T``); a leading 0
    that would make it octal elsewhere is refused. MEMORY and TIME may be hexadecimal and octal too, TIME ``h:m:s``.

    :raises NotANumberError: it says none, or the type has no numbers. The message does not quote it.
    """
    if len(text) > _MAX_TEXT or (read := _READERS.get(type_)) is None or (found := read(text)) is None:
        raise NotANumberError(f"not a {_CALLED.get(type_, 'number')}")
    return found


def value_of(complex_: Complex, text: str) -> Fraction | None:
    """The number that a limit, a request or a default says, or None where values of the complex are words.

    :raises UnfitValueError: it is none, it is infinite, or it is negative though the complex is consumable.
    """
    name, type_ = complex_.name, complex_.type
    if not text:
        raise UnfitValueError(f'denied: missing value for request "{name}"', f"write {name}=VALUE")
    if not type_.is_number:
        return None
    if text.lower() == "infinity":
        hint = "leave the limit out where there is to be none"
        raise UnfitValueError(f'attribute "{name}" is not a value that can be set to infinity', hint)
    try:
        found = number(type_, text)
    except NotANumberError:
        raise UnfitValueError(f'attribute "{name}" is not a {_CALLED[type_]}', _HINTS[type_]) from None
    if found < 0 and complex_.is_consumable:
        message = f'attribute "{name}" is consumable but has a negative value'
        raise UnfitValueError(message, "the least is 0")
    return found


def normal(type_: ComplexType, text: str) -> str:
    """A value as it is stored and printed again: times as seconds, rounded to whole ones; all else as written.

    :raises NotANumberError: a time that is none.
    """
    return _rounded(number(type_, text), "1") if type_ is ComplexType.TIME else text


def shown(type_: ComplexType, amount: Fraction) -> str:
    """An amount as qquota prints it: ``4``, ``0.300000``, ``1.863G``, ``00:30:00``, ``true``."""
    return _PRINTERS[type_](amount) if type_ in _PRINTERS else str(amount)


def matches(complex_: Complex, requested: str, limit: str) -> bool:
    """Whether a request for something that is not consumed keeps within a limit, by the complex's relation.

    Words can be equal or different, nothing else. A request may be an expression of patterns (``n*``, ``a|b``); the
    limit is one word.

    :raises UnfitValueError: one of the two is no value of the complex, or the request's expression can't be read.
    """
    wanted, most = value_of(complex_, requested), value_of(complex_, limit)
    if wanted is not None and most is not None:
        return _COMPARED[complex_.relation](wanted, most)
    try:
        same = _same_words(complex_.type, requested, limit)
    except ValueError as error:
        raise UnfitValueError(f'attribute "{complex_.name}": {error}') from None
    return same is not (complex_.relation is Relation.NE)


def _same_words(type_: ComplexType, requested: str, limit: str) -> bool:
    if type_ is ComplexType.HOST:
        return same_host(requested, limit) or expression_matches(requested, limit, Folding.CASE)
    return expression_matches(
        requested, limit, Folding.CASE if type_ is ComplexType.CSTRING else Folding.NONE
    )


_COMPARED: Mapping[Relation, Callable[[Fraction, Fraction], bool]] = MappingProxyType(
    {
        Relation.LE: lambda wanted, most: wanted <= most,
        Relation.GE: lambda wanted, most: wanted >= most,
        Relation.EQ: lambda wanted, most: wanted == most,
        Relation.NE: lambda wanted, most: wanted != most,
        Relation.LT: lambda wanted, most: wanted < most,
        Relation.GT: lambda wanted, most: wanted > most,
        Relation.EXCL: lambda wanted, most: wanted == 0 or wanted <= most,
    }
)


def _whole(text: str) -> Fraction | None:
    form = _WHOLE.fullmatch(text)
    if form is None or _octal_elsewhere(form[2]):
        return None
    return Fraction(int(form[1] + form[2]) * _MULTIPLIERS[form[3]])


def _octal_elsewhere(digits: str) -> bool:
    """Whether Grid Engine would read other digits than a person does: 010 is 8 there. 005 is 5 to both."""
    return digits.startswith("0") and digits.isdigit() and len(digits.lstrip("0")) > 1


def _decimal(text: str) -> Fraction | None:
    form = _DECIMAL.fullmatch(text)
    if form is None or abs(int(form[2] or 0)) > _MAX_EXPONENT or _octal_elsewhere(form[1]):
        return None
    return Fraction(form[1]) * _MULTIPLIERS[form[3]]


def _specifier(text: str) -> Fraction | None:
    """A hexadecimal, octal or decimal constant with a multiplier."""
    form = _CONSTANT.fullmatch(text)
    if form is None:
        return _decimal(text)
    constant = int(form[1], 16) if form[1][1] in "xX" else int(form[1], 8)
    return Fraction(constant * _MULTIPLIERS[form[2]])


def _seconds(text: str) -> Fraction | None:
    form = _CLOCK.fullmatch(text)
    if form is None:
        return _specifier(text)
    parts = [Fraction(0) if part in ("", ".") else Fraction(part) for part in form.groups()]
    return 3600 * parts[0] + 60 * parts[1] + parts[2]


def _truth(text: str) -> Fraction | None:
    found = _TRUTH.get(text.lower())
    return None if found is None else Fraction(found)


_READERS: Mapping[ComplexType, Callable[[str], Fraction | None]] = MappingProxyType(
    {
        ComplexType.INT: _whole,
        ComplexType.DOUBLE: _decimal,
        ComplexType.MEMORY: _specifier,
        ComplexType.TIME: _seconds,
        ComplexType.BOOL: _truth,
    }
)
_HINTS: Mapping[ComplexType, str] = MappingProxyType(
    {
        ComplexType.INT: "write decimal digits without a leading 0, and perhaps k, m, g, t (1000) or K, M, G, T (1024)",
        ComplexType.DOUBLE: "write a number such as 1.5 or 1e3",
        ComplexType.MEMORY: "write bytes, and perhaps k, m, g, t (1000) or K, M, G, T (1024): 512M",
        ComplexType.TIME: "write seconds or hours:minutes:seconds: 1:30:00",
        ComplexType.BOOL: "write true or false",
    }
)


def _rounded(amount: Fraction, step: str) -> str:
    """A decimal number with as many places as ``step`` has, exactly rounded as printf does: halves to even."""
    with localcontext() as context:
        context.prec = 2 * _MAX_TEXT + _MAX_EXPONENT
        return str((Decimal(amount.numerator) / amount.denominator).quantize(Decimal(step), ROUND_HALF_EVEN))


def _shown_memory(amount: Fraction) -> str:
    for power, letter in ((3, "G"), (2, "M"), (1, "K")):
        if abs(amount) >= 1024**power:
            return _rounded(amount / 1024**power, "0.001") + letter
    return _rounded(amount, "0.001")


def _shown_time(amount: Fraction) -> str:
    minutes, seconds = divmod(abs(int(amount)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{'-' if amount <= -1 else ''}{hours:02}:{minutes:02}:{seconds:02}"


_PRINTERS: Mapping[ComplexType, Callable[[Fraction], str]] = MappingProxyType(
    {
        ComplexType.INT: lambda amount: str(int(amount)),
        ComplexType.DOUBLE: lambda amount: _rounded(amount, "0.000001"),
        ComplexType.MEMORY: _shown_memory,
        ComplexType.TIME: _shown_time,
        ComplexType.BOOL: lambda amount: "true" if amount else "false",
    }
)
