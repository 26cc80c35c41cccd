"""Numbers as Grid Engine reads them, as exact fractions.

Source: sge_types(1), "memory_specifier", "time_specifier"; and the behaviour of a qmaster 8.1.9. Stricter than the qmaster in
integers: it takes ``+5``, ``1.5`` and ``0x10`` for numbers of slots.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

from negotiator.plugin import NegotiatorError
from negotiator_quotasets.complexes.model import ComplexType

_MULTIPLIERS: Mapping[str, int] = MappingProxyType(
    {"": 1}
    | {letter: 1000**power for power, letter in enumerate("kmgt", 1)}
    | {letter: 1024**power for power, letter in enumerate("KMGT", 1)}
)
#: Characters of a number: no quantity needs more, and powers of ten stay small.
MAX_DIGITS = 400
#: Of a power of ten, as in Grid Engine's own doubles.
MAX_EXPONENT = 308

_WHOLE = re.compile(r"(-?)([0-9]+)([kKmMgGtT]?)", re.ASCII)
_CONSTANT = re.compile(r"(0[xX][0-9a-fA-F]+|0[0-7]+)([kKmMgGtT]?)", re.ASCII)
_DECIMAL = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,6}))?)([kKmMgGtT]?)", re.ASCII)
_CLOCK = re.compile(r"([0-9]*\.?[0-9]*):([0-9]*\.?[0-9]*):([0-9]*\.?[0-9]*)", re.ASCII)
_TRUTH: Mapping[str, int] = MappingProxyType({"true": 1, "1": 1, "false": 0, "0": 0})

#: The names of the types in Grid Engine's messages.
TYPE_NAMES: Mapping[ComplexType, str] = MappingProxyType(
    {
        ComplexType.INT: "integer value",
        ComplexType.DOUBLE: "double value",
        ComplexType.MEMORY: "memory value",
        ComplexType.TIME: "time value",
        ComplexType.BOOL: "boolean value",
    }
)


class InvalidNumberError(NegotiatorError, ValueError):
    """A text that is not a number of the requested type."""


def parse_number(type_: ComplexType, text: str) -> Fraction:
    """Return the number that a text denotes: bytes of memory, seconds of time, 1 or 0 for a boolean.

    INT has decimal digits and an optional multiplier (``k`` 1000, ``K`` 1024, and so on to ``t`` and ``T``); a leading 0
    that would make it octal elsewhere is refused. MEMORY and TIME may be hexadecimal or octal too, TIME also ``h:m:s``.

    :raises InvalidNumberError: invalid number, or the type has no numbers. The message does not quote the text.
    """
    read = _READERS.get(type_)
    value = None if read is None or len(text) > MAX_DIGITS else read(text)
    if value is None:
        raise InvalidNumberError(f"not a {TYPE_NAMES.get(type_, 'number')}")
    return value


def is_infinite(text: str) -> bool:
    """True if a text is ``INFINITY``, in any case."""
    return text.lower() == "infinity"


def _whole(text: str) -> Fraction | None:
    form = _WHOLE.fullmatch(text)
    if form is None or _is_ambiguous(form[2]):
        return None
    return Fraction(int(form[1] + form[2]) * _MULTIPLIERS[form[3]])


def _is_ambiguous(digits: str) -> bool:
    """True if Grid Engine reads other digits than a person does: 010 is 8 there, while 005 is 5 to both."""
    return digits.startswith("0") and digits.isdigit() and len(digits.lstrip("0")) > 1


def _decimal(text: str) -> Fraction | None:
    form = _DECIMAL.fullmatch(text)
    if form is None or abs(int(form[2] or 0)) > MAX_EXPONENT or _is_ambiguous(form[1]):
        return None
    return Fraction(form[1]) * _MULTIPLIERS[form[3]]


def _specifier(text: str) -> Fraction | None:
    """Read a hexadecimal, octal or decimal constant with a multiplier."""
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
    value = _TRUTH.get(text.lower())
    return None if value is None else Fraction(value)


_READERS: Mapping[ComplexType, Callable[[str], Fraction | None]] = MappingProxyType(
    {
        ComplexType.INT: _whole,
        ComplexType.DOUBLE: _decimal,
        ComplexType.MEMORY: _specifier,
        ComplexType.TIME: _seconds,
        ComplexType.BOOL: _truth,
    }
)
