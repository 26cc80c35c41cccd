"""Functions of time: the clock and local time, moments and spans, their parts, and ``formatTime``.

The environment gives the clock and local time, a fixed offset from UTC. The machine's zone is never used, nor is its
``strftime``, which refuses the impossible dates an ad may contain: the one here is that of glibc in the C locale and UTC.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import attrs

from negotiator.classad.context import AdValue, EvaluationFailed, evaluate_alone
from negotiator.classad.functions.registry import argument_values, constant_ad, register
from negotiator.classad.values import (
    ERROR,
    UNDEFINED,
    AbsTime,
    Calendar,
    RelTime,
    c_divmod,
    calendar,
    from_bytes,
    moment,
    to_bytes,
    truncate32,
    wrap32,
    wrap64,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from negotiator.classad.context import AdScope, ClassAdValue, Environment
    from negotiator.classad.functions.registry import ValueFunction
    from negotiator.classad.syntax import Expr

_MOST_SECONDS = 67_767_976_233_532_799  # year 2^31 + 1899, the last that fits a struct tm
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
    b"u": (1, b"0", lambda time: c_divmod(time.weekday + 6, 7)[1] + 1),
    b"U": (2, b"0", lambda time: c_divmod(time.yearday - time.weekday + 7, 7)[0]),
    b"V": (2, b"0", lambda time: _iso_week(time)[1]),
    b"w": (1, b"0", lambda time: time.weekday),
    b"W": (2, b"0", lambda time: c_divmod(time.yearday - c_divmod(time.weekday + 6, 7)[1] + 7, 7)[0]),
    b"y": (2, b"0", lambda time: time.year % 100),
    b"Y": (1, b"0", lambda time: time.year),
}


@register("time", 0, 0, deterministic=False)
def time(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``time()``: the time of the evaluation in seconds since the epoch."""
    return int(env.now)


@register("currentTime", 0, 0, deterministic=False)
def current_time(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``currentTime()``: the time of the evaluation."""
    return AbsTime(int(env.now), env.zone_offset)


@register("dayTime", 0, 0, deterministic=False)
def day_time(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``dayTime()``: the time since local midnight."""
    return RelTime(float((int(env.now) + env.zone_offset) % 86_400))


@register("timeZoneOffset", 0, 0, deterministic=False)
def time_zone_offset(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``timeZoneOffset()``: local time minus UTC."""
    return RelTime(float(env.zone_offset))


@register("absTime", 0, 2, deterministic=False)
def abs_time(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:
    """``absTime([seconds[, offset]])``: a moment; now without arguments. The seconds since the epoch fit a C ``int``.

    A string is returned unchanged: the parser has replaced valid texts by literals.
    """
    if not args:
        return current_time(args, env)
    moment = args[0]
    zone = env.zone_offset
    if len(args) == 2:
        given = _int32(args[1])
        if given is None:
            return ERROR
        zone = given
    if isinstance(moment, AbsTime | str):
        return moment
    seconds = _int32(moment)
    if seconds is None:
        return UNDEFINED if moment is UNDEFINED else ERROR
    if zone == -1 and type(moment) is int:
        raise EvaluationFailed  # HTCondor uses this offset as its error value
    return AbsTime(seconds, zone)


def _int32(value: ClassAdValue) -> int | None:
    if type(value) is int:
        return wrap32(value)
    if isinstance(value, float):
        return truncate32(value)
    return truncate32(value.seconds) if isinstance(value, RelTime) else None


@register("relTime", 1, 2)
def rel_time(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:  # noqa: ARG001
    """``relTime(seconds)``: a span of time; 0 for a string, since the parser has replaced valid texts by literals."""
    if len(args) == 2:
        return ERROR
    span = args[0]
    if type(span) is int:
        return RelTime(float(wrap32(span)))
    if isinstance(span, float):
        return RelTime(span)
    if isinstance(span, AbsTime):
        return RelTime(float(span.seconds))
    if isinstance(span, str):
        return RelTime(0.0)
    return span if isinstance(span, RelTime) or span is UNDEFINED else ERROR


def _field(
    of_moment: Callable[[Calendar], int] | None, of_span: Callable[[int], int] | None
) -> ValueFunction:
    def field(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:
        value = args[0]
        if of_moment is not None and isinstance(value, AbsTime):
            local = _calendar(value.seconds, env.zone_offset)
            return ERROR if local is None else of_moment(local)
        if of_span is not None and isinstance(value, RelTime):
            return of_span(truncate32(value.seconds))
        return ERROR

    return field


def _part(size: int, unit: int) -> Callable[[int], int]:
    return lambda span: c_divmod(c_divmod(span, size)[1], unit)[0]


register("getYear", 1, 1)(_field(lambda local: local.year, None))
register("getMonth", 1, 1)(_field(lambda local: local.month + 1, None))
register("getDayOfYear", 1, 1)(_field(lambda local: local.yearday, None))
register("getDayOfMonth", 1, 1)(_field(lambda local: local.day, None))
register("getDayOfWeek", 1, 1)(_field(lambda local: local.weekday, None))
register("getDays", 1, 1)(_field(None, lambda span: c_divmod(span, 86_400)[0]))
register("getHours", 1, 1)(_field(lambda local: local.hour, _part(86_400, 3600)))
register("getMinutes", 1, 1)(_field(lambda local: local.minute, _part(3600, 60)))
register("getSeconds", 1, 1)(_field(lambda local: local.second, lambda span: c_divmod(span, 60)[1]))


def _calendar(seconds: int, offset: int) -> Calendar | None:
    moment = wrap64(seconds + offset)
    return calendar(moment) if -_MOST_SECONDS < moment <= _MOST_SECONDS else None


@register("splitTime", 1, 1, lazy=True)
def split_time(args: tuple[Expr, ...], scope: AdScope, env: Environment) -> ClassAdValue:
    """``splitTime(t)``: an ad of the parts of a moment, of seconds since the epoch, or of a span of time."""
    value = argument_values(args, scope)[0]
    if value is UNDEFINED:
        return UNDEFINED
    if isinstance(value, RelTime):
        return _split_span(value.seconds, scope)
    moment = _moment(value, env)
    local = None if moment is None else _calendar(moment.seconds, moment.offset)
    if moment is None or local is None:
        return ERROR
    # HTCondor prints them in the order of its hash table.
    return constant_ad(
        (
            ("Day", local.day),
            ("Type", "AbsoluteTime"),
            ("Year", local.year),
            ("Hours", local.hour),
            ("Month", local.month + 1),
            ("Offset", moment.offset),
            ("Minutes", local.minute),
            ("Seconds", local.second),
        ),
        scope,
    )


def _moment(value: ClassAdValue, env: Environment) -> AbsTime | None:
    if isinstance(value, AbsTime):
        return value
    if type(value) is int:
        return AbsTime(value, env.zone_offset)
    return AbsTime(truncate32(value), env.zone_offset) if isinstance(value, float) else None


def _split_span(span: float, scope: AdScope) -> ClassAdValue:
    positive = -span if span < 0 else span
    days, rest = c_divmod(truncate32(positive), 86_400)
    hours, rest = c_divmod(rest, 3600)
    minutes, rest = c_divmod(rest, 60)
    fraction = positive - math.floor(positive) if math.isfinite(positive) else math.nan
    seconds = rest + fraction
    if span < 0:
        if days > 0:
            days = -days
        elif hours > 0:
            hours = -hours
        elif minutes > 0:
            minutes = -minutes
        else:
            seconds = -seconds
    items = (
        ("Days", days),
        ("Type", "RelativeTime"),
        ("Hours", hours),
        ("Minutes", minutes),
        ("Seconds", seconds),
    )
    return constant_ad(items, scope)


@register("formatTime", 0, 2, deterministic=False, selective=True)
def format_time(args: Sequence[ClassAdValue], env: Environment) -> ClassAdValue:
    """``formatTime([t[, format]])``: a moment (default: now) in the format of ``strftime`` in the C locale.

    ``t`` may also be an ad like that of ``splitTime``. Its numbers are used as they are.
    """
    local: Calendar | None
    if not args:
        local = _calendar(int(env.now), env.zone_offset)
    elif isinstance(args[0], AdValue):
        local = _given(args[0])
    else:
        moment = _moment(args[0], env)
        local = None if moment is None else _calendar(moment.seconds, moment.offset)
    if local is None:
        return ERROR
    template = args[1] if len(args) == 2 else "%c"
    if not isinstance(template, str):
        return ERROR
    text = strftime(to_bytes(template), local)
    return ERROR if text is None else from_bytes(text)


def _given(given: AdValue) -> Calendar:
    def number(name: str, missing: int = 0) -> int:
        expr = given.ad.get(name)
        value = None if expr is None else evaluate_alone(given.scope.state, given.ad, expr)
        return wrap32(value) if type(value) is int else missing

    year, month, day = number("Year", 1900), number("Month", 1), number("Day")
    weekday, yearday = _day_numbers(year, month, day)
    return Calendar(
        year, wrap32(month - 1), day, number("Hours"), number("Minutes"), number("Seconds"), weekday, yearday
    )


def _day_numbers(year: int, month: int, day: int) -> tuple[int, int]:
    """Return weekday and day of the year by HTCondor's arithmetic, which also covers impossible dates."""
    fixed = wrap32(_fixed(year, month, day))
    return c_divmod(fixed, 7)[1], wrap32(fixed - _fixed(year, 1, 1))


def _fixed(year: int, month: int, day: int) -> int:
    before = wrap32(year - 1)
    leap = year % 4 == 0 and c_divmod(year, 400)[1] not in {100, 200, 300}
    adjustment = 0 if month <= 2 else -1 if leap else -2
    leaps = c_divmod(before, 4)[0] - c_divmod(before, 100)[0] + c_divmod(before, 400)[0]
    return wrap32(365 * before + leaps + c_divmod(wrap32(367 * month - 362), 12)[0] + adjustment + day)


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
            return _text(
                b"%d" % moment(time.year, time.month, time.day, time.hour, time.minute, time.second), style
            )
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
    return year, c_divmod(days, 7)[0] + 1


def _iso_days(yearday: int, weekday: int) -> int:
    return yearday - c_divmod(yearday - weekday + 4 + 378, 7)[1] + 3


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
