"""Scales of charts: round numbers, times, and places of labels that do not overlap. Places are in percent."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from typing import Final

import attrs

_DAY: Final = 86400
_MOST_TICKS: Final = 6  # labels of times: as many as fit on a phone


@attrs.frozen
class Tick:
    """A label of a scale, and its place."""

    at: float
    text: str


@attrs.frozen
class Scale:
    """A scale from 0 to ``top``, with its labels."""

    top: float
    ticks: tuple[Tick, ...]

    def at(self, value: float) -> float:
        """Return the place of a value."""
        return round(100 * value / self.top, 2)


def number_scale(most: float) -> Scale:
    """Return a scale of round numbers with three or four steps, up to at least ``most``."""
    most = most or 1.0
    step = 10.0 ** math.floor(math.log10(most))
    step = next(step * factor for factor in (0.2, 0.25, 0.5, 1, 2, 2.5, 5) if step * factor * 4 >= most)
    top = step * max(math.ceil(most / step), 1)
    count = round(top / step)
    return Scale(top, tuple(Tick(round(100 * n / count, 2), amount(n * step)) for n in range(count + 1)))


def amount(value: float) -> str:
    """Return a number for people: whole from 10 on, else with the digits that matter."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def time_ticks(times: Sequence[float], width: int) -> tuple[Tick, ...]:
    """Return the labels of intervals that begin at these times, in UTC: days, or hours and minutes within two days."""
    every = math.ceil(len(times) / _MOST_TICKS)
    form = "%-d %b" if times[-1] + width - times[0] > 2 * _DAY else "%H:%M"
    return tuple(
        Tick(round(100 * place / len(times), 2), f"{_utc(times[place]):{form}}")
        for place in range(0, len(times), every)
    )


def interval_text(begin: float, width: int) -> str:
    """Return an interval in words, in UTC."""
    first, last = _utc(begin), _utc(begin + width)
    if width >= _DAY:
        return f"{first:%-d %b %Y}" if width == _DAY else f"{first:%-d %b} to {last:%-d %b %Y}"
    return f"{first:%-d %b %H:%M} to {last:%H:%M}"


def width_text(width: int) -> str:
    """Return the width of intervals in words: ``hour``, ``6 hours``, ``day``."""
    for seconds, noun in ((_DAY, "day"), (3600, "hour"), (60, "minute")):
        if width % seconds == 0:
            count = width // seconds
            return noun if count == 1 else f"{count} {noun}s"
    return f"{width} seconds"


def spread(places: Sequence[float], distance: float) -> tuple[float, ...]:
    """Return places, in their order, moved as little as needed so that each is ``distance`` from the next, within 0 to 100."""
    order = sorted(range(len(places)), key=lambda place: places[place])
    found = list(places)
    lowest = 0.0
    for each in order:
        lowest = found[each] = max(found[each], lowest)
        lowest += distance
    highest = 100.0
    for each in reversed(order):
        highest = found[each] = min(found[each], highest)
        highest -= distance
    return tuple(round(each, 2) for each in found)


def _utc(seconds: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(seconds, dt.UTC)
