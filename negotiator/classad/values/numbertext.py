"""Numbers by the rules of C: two's complement integers, truncation of reals, numbers read from text."""

from __future__ import annotations

import math
import re

from negotiator.classad.values.bytestrings import to_bytes

INT64_MIN = -(1 << 63)
INT32_MIN = -(1 << 31)

_NUMBER = re.compile(
    rb"[ \t\n\v\f\r]*"
    rb"(?P<sign>[+-]?)"
    rb"(?:(?P<hex>0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?)"
    rb"|(?P<decimal>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    rb"|(?P<inf>[iI][nN][fF])"
    rb"|(?P<nan>[nN][aA][nN]))"
)


def wrap64(number: int) -> int:
    """Return the integer wrapped to 64 bits, two's complement."""
    return ((number + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


def wrap32(number: int) -> int:
    """Return the integer wrapped to 32 bits, two's complement: a C ``int``."""
    return ((number + (1 << 31)) & ((1 << 32) - 1)) - (1 << 31)


def truncate64(real: float) -> int:
    """Return ``(long long)real`` of x86: rounded towards zero; the least integer for NaN and what does not fit."""
    return int(real) if -(2.0**63) <= real < 2.0**63 else INT64_MIN


def truncate32(real: float) -> int:
    """Return ``(int)real`` of x86: rounded towards zero; the least integer for NaN and what does not fit."""
    return int(real) if -(2.0**31) - 1 < real < 2.0**31 else INT32_MIN


def real_prefix(text: str) -> float | None:
    """Return the number at the start of a text, read as C's ``strtod`` does; None without one.

    Accepts leading white space, a sign, decimal and hexadecimal numbers, and ``inf`` and ``nan`` in any case. Ignores
    text after the number.
    """
    found = _NUMBER.match(to_bytes(text))
    if found is None:
        return None
    sign = -1.0 if found["sign"] == b"-" else 1.0
    if found["hex"] is not None:
        return sign * _hexadecimal(found["hex"].decode("ascii"))
    if found["decimal"] is not None:
        return sign * float(found["decimal"])
    return sign * (math.inf if found["inf"] is not None else math.nan)


def _hexadecimal(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return math.inf
