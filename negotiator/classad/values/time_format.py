"""``strftime`` of glibc in the C locale and UTC, for ``formatTime``.

Python's ``time.strftime`` would depend on the machine's C library and refuses the impossible dates an ad may contain.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from negotiator.classad.values.timetext import moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from negotiator.classad.values.timetext import Calendar

_DAYS = (b"Sunday", b"Monday", b"Tuesday", b"Wednesday", b"Thursday", b"Friday", b"Saturday")
_MONTHS = (
    b"January", b"February", b"March", b"April", b"May", b"June",
    b"July", b"August", b"September", b"October", b"November", b"December",
)  # fmt: skip
_DIRECTIVE = re.compile(
    rb"%(?P<flags>[_\-0^#]*)(?P<width>[0-9]*)(?P<modifier>[EO]?)(?P<conversion>.?)", re.DOTALL
)
_COMPOUND = {
    b"c": b"%a %b %e %H:%M:%S %Y",
    b"D": b"%m/%d/%y",
    b"F": b"%Y-%m-%d",
    b"r": b"%I:%M:%S %p",
    b"R": b"%H:%M",
    b"T": b"%H:%M:%S",
    b"x": b"%m/%d/%y",
    b"X": b"%H:%M:%S",
}
_REFUSED = {b"": b"", b"E": b"aABbdDeFgGhHIjklmMSUVwW", b"O": b"aAcDFxXY"}
_NUMBERS: dict[bytes, tuple[int, bytes, Callable[[Calendar], int]]] = {
    b"C": (1, b"0", lambda time: time.year // 100),
    b"d": (2, b"0", lambda time: time.day),
    b"e": (2, b"_", lambda time: time.day),
    b"g": (2, b"0", lambda time: _iso_week(time)[0] % 100),
    b"G": (1, b"0", lambda time: _iso_week(time)[0]),
    b"H": (2, b"0", lambda time: time.hour),
    b"I": (2, b"0", lambda time: _hour_of_half_day(time.hour)),
    b"j": (3, b"0", lambda time: time.yearday + 1),
    b"k": (2, b"_", lambda time: time.hour),
    b"l": (2, b"_", lambda time: _hour_of_half_day(time.hour)),
    b"m": (2, b"0", lambda time: time.month + 1),
    b"M": (2, b"0", lambda time: time.minute),
    b"S": (2, b"0", lambda time: time.second),
    b"u": (1, b"0", lambda time: _remainder(time.weekday + 6, 7) + 1),
    b"U": (2, b"0", lambda time: _quotient(time.yearday - time.weekday + 7, 7)),
    b"V": (2, b"0", lambda time: _iso_week(time)[1]),
    b"w": (1, b"0", lambda time: time.weekday),
    b"W": (2, b"0", lambda time: _quotient(time.yearday - _remainder(time.weekday + 6, 7) + 7, 7)),
    b"y": (2, b"0", lambda time: time.year % 100),
    b"Y": (1, b"0", lambda time: time.year),
}


@attrs.frozen
class _FieldStyle:
    pad: bytes
    width: int
    upper: bool
    swap: bool


def strftime(pattern: bytes, time: Calendar, most: int = 1023) -> bytes | None:
    """Return the pattern with its directives replaced, or None if that is longer than ``most`` bytes.

    Unknown directives are copied, padded to their width.
    """
    output = bytearray()
    at = 0
    for found in _DIRECTIVE.finditer(pattern):
        output += pattern[at : found.start()]
        at = found.end()
        if len(found["width"]) > 4 or len(output) >= most:
            return None
        output += _formatted(found, time, most)
    output += pattern[at:]
    return bytes(output) if len(output) < most else None


def _formatted(found: re.Match[bytes], time: Calendar, most: int) -> bytes:
    flags, conversion = found["flags"], found["conversion"]
    pads = flags.translate(None, b"^#")
    style = _FieldStyle(pads[-1:], int(found["width"] or b"0"), upper=b"^" in flags, swap=b"#" in flags)
    if conversion and conversion not in _REFUSED[found["modifier"]]:
        if conversion in _NUMBERS:
            digits, pad, number = _NUMBERS[conversion]
            return _number(number(time), digits, pad, style)
        if conversion in _COMPOUND:
            text = strftime(_COMPOUND[conversion], time, most) or b""
            return _text(text.upper() if style.upper else text, style)
        if conversion == b"s":
            return _text(b"%d" % _epoch(time), style)
        if conversion == b"z":
            return _text(b"+", style) + _number(0, 4, b"0", style)
        word = _word(conversion, time, style)
        if word is not None:
            return _text(word, style)
    loud = style.upper or (style.swap and conversion in (b"b", b"B", b"h"))
    return _text(found[0].upper() if loud else found[0], style)


def _word(conversion: bytes, time: Calendar, style: _FieldStyle) -> bytes | None:
    loud = style.upper or style.swap
    if conversion in b"aA":
        name = _DAYS[time.weekday] if 0 <= time.weekday < 7 else None
    elif conversion in b"bBh":
        name = _MONTHS[time.month] if 0 <= time.month < 12 else None
    elif conversion in b"pP":
        half = b"PM" if time.hour > 11 else b"AM"
        return half.lower() if conversion == b"P" or style.swap else half
    elif conversion == b"Z":
        return b"utc" if style.swap else b"UTC"
    else:
        return {b"n": b"\n", b"t": b"\t", b"%": b"%"}.get(conversion)
    if name is None:
        return b"?"
    name = name if conversion in b"AB" else name[:3]
    return name.upper() if loud else name


def _text(text: bytes, style: _FieldStyle) -> bytes:
    return text.rjust(style.width, b"0" if style.pad == b"0" else b" ")


def _number(number: int, digits: int, default_pad: bytes, style: _FieldStyle) -> bytes:
    text = b"%d" % abs(number)
    sign = b"-" if number < 0 else b""
    pad = style.pad or default_pad
    if pad == b"0":
        return sign + text.rjust(max(digits, style.width) - len(sign), b"0")
    return (sign + text).rjust(style.width if pad == b"-" else max(digits, style.width))


def _hour_of_half_day(hour: int) -> int:
    if hour > 12:
        return hour - 12
    return 12 if hour == 0 else hour


def _epoch(time: Calendar) -> int:
    return moment(time.year, time.month, time.day, time.hour, time.minute, time.second)


def _iso_week(time: Calendar) -> tuple[int, int]:
    """Return year and week of ISO 8601 by glibc's arithmetic, which also covers impossible dates."""
    year, days = time.year, _iso_days(time.yearday, time.weekday)
    if days < 0:
        year -= 1
        days = _iso_days(time.yearday + 365 + _is_leap(year), time.weekday)
    else:
        next_year = _iso_days(time.yearday - 365 - _is_leap(year), time.weekday)
        if next_year >= 0:
            year, days = year + 1, next_year
    return year, _quotient(days, 7) + 1


def _iso_days(yearday: int, weekday: int) -> int:
    return yearday - _remainder(yearday - weekday + 4 + 378, 7) + 3


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _quotient(number: int, by: int) -> int:
    return number // by if number >= 0 else -(-number // by)


def _remainder(number: int, by: int) -> int:
    return number - _quotient(number, by) * by
