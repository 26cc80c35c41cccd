"""Functions of time: time, currentTime, dayTime, timeZoneOffset, absTime, relTime, getYear .. getSeconds, splitTime,
formatTime.

The environment gives the clock and local time, a fixed offset from UTC. The machine's zone is never used.
"""  # noqa: D205

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from negotiator.classad.context import AdValue, EvaluationFailed, evaluate_alone
from negotiator.classad.functions.registry import register
from negotiator.classad.functions.results import argument_values, constant_ad
from negotiator.classad.values import (
    ERROR,
    UNDEFINED,
    AbsTime,
    Calendar,
    RelTime,
    c_divmod,
    calendar,
    from_bytes,
    strftime,
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
