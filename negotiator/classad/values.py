"""The simple values of the language (SEMANTICS: HTCondor ClassAds, old-ClassAd semantics on), their texts and arithmetic.

A value is ``UNDEFINED``, ``ERROR``, ``bool``, ``int`` (64-bit two's complement), ``float`` (binary64), ``str``,
``AbsTime`` or ``RelTime``; lists and ads, which need a scope, are in ``context``. In Python ``True == 1 == 1.0``, in
the language not: check ``type(value)`` before comparing values of different kinds.

HTCondor's strings are byte strings without NUL. Here they are ``str`` decoded as UTF-8 with ``surrogateescape``, which
preserves bytes that are not UTF-8. Sizes, offsets and order are those of the bytes: ``to_bytes`` and ``from_bytes`` are
inverse for every string without a NUL.

Numbers follow C: two's complement integers, truncation of reals. Local time is UTC, in any time zone of the machine, so
that equal input has equal output. Sources of the texts of times: HTCondor's ``classad/util.cpp`` and ``literals.cpp``
(SEMANTICS sections 2 and 6), and ``gmtime`` and ``mktime`` of POSIX.
"""

from __future__ import annotations

import enum
import math
import re

import attrs

MAX_BYTES = 1 << 22
"""Length limit of the strings that functions build. A longer result is an error; HTCondor would go on allocating."""

_UPPER_TO_LOWER = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz")

SPACES = b" \t\n\v\f\r"
"""White space according to ``isspace`` in the C locale."""

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
_DIGIT = re.compile(rb"[0-9]")
_ZONE = re.compile(rb"([+-])([0-9]{2})([0-9]{2})\Z")


class Exceptional(enum.Enum):
    """The values undefined and error. Compare them with ``is``."""

    UNDEFINED = "undefined"
    ERROR = "error"

    def __repr__(self) -> str:
        return self.name


UNDEFINED = Exceptional.UNDEFINED
ERROR = Exceptional.ERROR


class Kind(enum.IntEnum):
    """The kind of a cell of a table. ABSENT (the ad lacks the attribute) differs from UNDEFINED (it has that value)."""

    ABSENT = 0
    UNDEFINED = 1
    ERROR = 2
    BOOLEAN = 3
    INTEGER = 4
    REAL = 5
    STRING = 6
    EXPRESSION = 7
    OTHER = 8  # lists, ads and times


@attrs.frozen
class AbsTime:
    """A moment: seconds since the epoch, and the UTC offset in which it is printed (seconds east)."""

    seconds: int
    offset: int = 0


@attrs.frozen
class RelTime:
    """A span of time in seconds."""

    seconds: float


def to_bytes(text: str) -> bytes:
    """Return the bytes of a string of the language."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        # A lone surrogate that does not encode a byte, which JSON can spell. Any bytes will do.
        return text.encode("utf-8", "surrogatepass")


def from_bytes(data: bytes) -> str:
    """Return the string of the language that has these bytes."""
    return data.decode("utf-8", "surrogateescape")


def until_nul(data: bytes) -> bytes:
    """Return the bytes before the first NUL: the string as C sees it."""
    end = data.find(b"\0")
    return data if end < 0 else data[:end]


def fold_bytes(data: bytes) -> bytes:
    """Return the bytes with A to Z in lower case, as HTCondor folds strings for comparisons that ignore case."""
    return data.translate(_UPPER_TO_LOWER)


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


@attrs.frozen
class Calendar:
    """A broken-down time like C's ``struct tm``, except that ``year`` is the full year.

    ``month`` is 0 to 11, ``weekday`` 0 is Sunday, ``yearday`` counts from 0. A time built from an ad may have any
    numbers.
    """

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    weekday: int
    yearday: int


def calendar(seconds: int) -> Calendar:
    """Return the broken-down UTC time of a moment, seconds since the epoch."""
    days, rest = divmod(seconds, 86_400)
    year, month, day = _civil(days)
    return Calendar(
        year=year,
        month=month,
        day=day,
        hour=rest // 3600,
        minute=rest // 60 % 60,
        second=rest % 60,
        weekday=(days + 4) % 7,
        yearday=days - days_before(year, 0),
    )


def days_before(year: int, month: int) -> int:
    """Return the days from the epoch to the first day of a month (0 to 11)."""
    march_year = year - (month < 2)
    era, of_era = divmod(march_year, 400)
    of_year = (153 * ((month + 10) % 12) + 2) // 5
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def moment(year: int, month: int, day: int, hour: int, minute: int, second: int) -> int:
    """Return the seconds since the epoch, like ``mktime``: numbers outside their range carry over."""
    carried, month = divmod(month, 12)
    days = days_before(year + carried, month) + day - 1
    return days * 86_400 + hour * 3600 + minute * 60 + second


def _civil(days: int) -> tuple[int, int, int]:
    era, of_era = divmod(days + 719_468, 146_097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * of_year + 2) // 153
    month = (shifted + 2) % 12
    return era * 400 + year_of_era + (month < 2), month, of_year - (153 * shifted + 2) // 5 + 1


def parse_abs_time(text: str) -> AbsTime | None:
    """Read the text of an ``absTime`` literal such as ``2003-01-25T09:00:00-06:00``; None if invalid.

    The text has a year of four digits, up to five numbers of two digits with any non-digits between them, and a zone
    ``Z``, ``+hhmm`` or ``+hh:mm``. Missing numbers are 0; a missing day is therefore the last of the previous month.
    The second before the epoch is invalid: HTCondor takes ``mktime``'s -1 for a failure.
    """
    data, offset = _without_zone(to_bytes(text))
    at = _next_digit(data, 0)
    if at > len(data) - 4:
        return None
    year = _leading_int(data[at : at + 4])
    at = _next_digit(data, at + 4)
    numbers = [1, 0, 0, 0, 0]
    for part in range(5):
        if at <= len(data) - 2:
            numbers[part] = _leading_int(data[at : at + 2])
            at += 2
        at = _next_digit(data, at)
    if at < len(data):
        return None
    month, day, hour, minute, second = numbers
    seconds = moment(year, month - 1, day, hour, minute, second)
    if seconds == -1:
        return None
    zone = 0 if offset is None else offset
    return None if zone == -1 else AbsTime(seconds - zone, zone)


def _without_zone(data: bytes) -> tuple[bytes, int | None]:
    last = len(data.rstrip(SPACES)) - 1
    if last > 0 and data[last : last + 1] in (b"z", b"Z"):
        return data[:last] + data[last + 1 :], 0
    if len(data) > 6 and data[-6] in b"+-" and data[-3:-2] == b":" and data[-5] not in b"+-":
        data = data[:-3] + data[-2:]
    found = _ZONE.search(data)
    if found is None or len(data) < 6:
        return data, None
    sign = -1 if found[1] == b"-" else 1
    return data[:-5], sign * (int(found[2]) * 3600 + int(found[3]) * 60)


def _next_digit(data: bytes, at: int) -> int:
    found = _DIGIT.search(data, at)
    return len(data) if found is None else found.start()


def _leading_int(data: bytes) -> int:
    digits = data
    while digits and not digits.isdigit():
        digits = digits[:-1]
    return int(digits) if digits else 0


def parse_rel_time(text: str) -> float | None:
    """Return the seconds of a ``relTime`` literal, ``[-][[[days+]hh:]mm:]ss`` or ``1d2h3m4s``; None if invalid.

    The text is read from its end, as HTCondor does, so that any part may be missing. Days, hours and minutes that do
    not fit a C ``int`` are 0, and their sum wraps like one.
    """
    rest = to_bytes(text).rstrip(SPACES)
    seconds = 0.0
    if rest[-1:] in (b"s", b"S") or rest[-1:].isdigit():
        if not rest[-1:].isdigit():
            rest = rest[:-1].rstrip(SPACES)
        rest, seconds = _take_seconds(rest)
    whole = 0
    for units, size in ((b"mM:", 60), (b"hH:", 3600), (b"dD+", 86_400)):
        rest = rest.rstrip(SPACES)
        if rest and rest[-1] in units:
            rest, number = _take_int(rest[:-1].rstrip(SPACES))
            whole = wrap32(whole + wrap32(number * size))
    rest = rest.rstrip(SPACES)
    sign = 1
    if rest.endswith(b"-"):
        sign, rest = -1, rest[:-1].rstrip(SPACES)
    return None if rest else sign * (whole + seconds)


def _take_seconds(data: bytes) -> tuple[bytes, float]:
    end = len(data)
    start = _digits_start(data, end)
    if start > 0 and data[start - 1 : start] == b".":
        start = _digits_start(data, start - 1)
    number = data[start:end]
    return data[:start], float(number) if number.strip(b".") else 0.0


def _take_int(data: bytes) -> tuple[bytes, int]:
    start = _digits_start(data, len(data))
    digits = data[start:].lstrip(b"0")
    number = int(digits) if digits and len(digits) <= 10 else 0
    return data[:start], number if number <= -INT32_MIN - 1 else 0


def _digits_start(data: bytes, end: int) -> int:
    return len(data[:end].rstrip(b"0123456789"))


def abs_time_text(time: AbsTime) -> str:
    """Return the text of an absolute time in its own zone, as in an ``absTime`` literal."""
    zone = abs(time.offset)
    local = calendar(wrap64(time.seconds + time.offset))
    sign = "+" if time.offset > 0 else "-"
    return (
        f"{local.year}-{local.month + 1:02}-{local.day:02}T{local.hour:02}:{local.minute:02}:{local.second:02}"
        f"{sign}{zone // 3600:02}:{zone // 60 % 60:02}"
    )


def rel_time_text(seconds: float) -> str:
    """Return the text of a span of time as in a ``relTime`` literal, with six digits of the seconds if not whole.

    As in HTCondor, days to minutes are those of a C ``int``.
    """
    sign = "-" if seconds < 0 else ""
    span = abs(seconds)
    total = truncate32(span)
    days, hours = c_divmod(total, 86_400)
    hours, minutes = c_divmod(hours, 3600)
    minutes, left = c_divmod(minutes, 60)
    text = f"{sign}{_seconds(left, span)}"
    if not (days or hours or minutes):
        return text
    clock = f"{minutes:02}:{_seconds(left, span)}"
    if days:
        return f"{sign}{days}+{hours:02}:{clock}"
    return f"{sign}{hours:02}:{clock}" if hours else f"{sign}{clock}"


def _seconds(whole: int, span: float) -> str:
    if not math.isfinite(span):
        return "-nan"  # the fraction of an infinite number, as the C library of x86 prints it
    fraction = span - math.floor(span)
    return f"{whole:02}" if fraction == 0 else "%02g" % (whole + fraction)


def c_divmod(number: int, by: int) -> tuple[int, int]:
    """Return quotient and remainder of C's division, which rounds towards zero; ``by`` must be positive."""
    quotient = number // by if number >= 0 else -(-number // by)
    return quotient, number - quotient * by
