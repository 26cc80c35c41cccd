"""Charts over time: stacked bars of names, and the lines of a pool; with scales of round numbers and times, and labels that do not overlap.

Places are in percent.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from negotiator.app.period_report import PeriodFigures, PoolPoint, Series
from negotiator.service.pages.views.elements import shown

_DAY: Final = 86400
_MOST_TICKS: Final = 6  # labels of times: as many as fit on a phone
_GAP: Final = 0.15  # of the width of an interval, between two bars
_LABEL: Final = 9.0  # percent of the height of a chart that a label takes
#: The colour of what is not among the largest; the others have the numbers of their places.
_REST: Final = "rest"


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


@attrs.frozen
class Rectangle:
    """A part of a bar, in percent of the chart, from its left upper corner; ``title`` says what it is."""

    colour: str
    x: float
    y: float
    width: float
    height: float
    title: str


@attrs.frozen
class LegendRow:
    """A name with its colour, its total and its share of all."""

    colour: str
    name: str
    total: str
    share: str


@attrs.frozen
class StackedBars:
    """A bar for each interval; ``unit`` is that of the scale, ``of`` what a name is; ``key`` makes ids; ``column`` is the head of the totals."""

    key: str
    title: str
    of: str
    unit: str
    column: str
    y_ticks: tuple[Tick, ...]
    x_ticks: tuple[Tick, ...]
    bars: tuple[Rectangle, ...]
    legend: tuple[LegendRow, ...]


@attrs.frozen
class Line:
    """A line through the averages of the intervals; each part is the points of an SVG polyline. ``label`` is the place of its name."""

    name: str
    parts: tuple[str, ...]
    last: str
    label: float


@attrs.frozen
class LineRow:
    """The averages of an interval in numbers."""

    time: str
    values: tuple[str, ...]


@attrs.frozen
class PoolLines:
    """Slots, running and waiting jobs over time."""

    unit: str
    y_ticks: tuple[Tick, ...]
    x_ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]
    rows: tuple[LineRow, ...]


def handed_out(period: PeriodFigures, series: Sequence[Series], of: str) -> StackedBars:
    """Return the bars of slots handed out, by name."""
    unit = f"Number of slots handed out in each {width_text(period.width)}"
    return _stacked(period, series, ("out", f"Slots handed out, by {of}", of, unit, "Slots"))


def in_use(period: PeriodFigures, series: Sequence[Series], of: str) -> StackedBars:
    """Return the bars of running jobs, by name."""
    unit = f"Number of running jobs, on average over the cycles of each {width_text(period.width)}"
    intervals = sum(point is not None for point in period.pool)
    return _stacked(period, series, ("use", f"Running jobs, by {of}", of, unit, "Average"), intervals)


def _stacked(
    period: PeriodFigures, series: Sequence[Series], words: tuple[str, str, str, str, str], intervals: int = 1
) -> StackedBars:
    """Return the bars of series; the totals are divided by ``intervals``."""
    name, title, of, unit, column = words
    sums = [sum(each.values[place] for each in series) for place in range(len(period.times))]
    scale = number_scale(max(sums))
    total = sum(sums) or 1.0
    return StackedBars(
        key=f"{name}-{of}",
        title=title,
        of=of,
        unit=unit,
        column=column,
        y_ticks=scale.ticks,
        x_ticks=time_ticks(period.times, period.width),
        bars=tuple(_rectangles(period, series, scale.top)),
        legend=tuple(
            LegendRow(
                _colour(place, each), _name(each), amount(each.total / intervals), f"{each.total / total:.0%}"
            )
            for place, each in enumerate(series)
        ),
    )


def _rectangles(period: PeriodFigures, series: Sequence[Series], top: float) -> Iterator[Rectangle]:
    width = 100 / len(period.times)
    for place, begin in enumerate(period.times):
        floor = 100.0
        for colour, each in enumerate(series):
            value = each.values[place]
            height = 100 * value / top
            floor -= height
            if value:
                yield Rectangle(
                    _colour(colour, each),
                    round((place + _GAP / 2) * width, 2),
                    round(floor, 2),
                    round(width * (1 - _GAP), 2),
                    round(height, 2),
                    f"{_name(each)}: {amount(value)}, {interval_text(begin, period.width)}",
                )


def pool_lines(period: PeriodFigures) -> PoolLines:
    """Return the lines of slots, running and waiting jobs."""
    names = ("slots", "running", "waiting")
    found = [point for point in period.pool if point]
    scale = number_scale(max(max(getattr(point, name) for name in names) for point in found))
    ends = [100 - scale.at(getattr(found[-1], name)) for name in names]
    labels = spread(ends, _LABEL)
    lines = (
        Line(
            name,
            tuple(
                _parts(
                    [None if point is None else 100 - scale.at(getattr(point, name)) for point in period.pool]
                )
            ),
            amount(getattr(found[-1], name)),
            label,
        )
        for name, label in zip(names, labels, strict=True)
    )
    rows = (
        LineRow(interval_text(begin, period.width), tuple(amount(getattr(point, name)) for name in names))
        for begin, point in zip(period.times, period.pool, strict=True)
        if point
    )
    return PoolLines(
        unit=f"average over the cycles of each {width_text(period.width)}",
        y_ticks=scale.ticks,
        x_ticks=time_ticks(period.times, period.width),
        lines=tuple(lines),
        rows=tuple(rows),
    )


def average(points: Sequence[PoolPoint | None], name: str) -> float:
    """Return the average of the intervals that had a cycle."""
    values = [getattr(point, name) for point in points if point]
    return sum(values) / len(values) if values else 0.0


def _parts(places: Sequence[float | None]) -> Iterator[str]:
    """Yield the points of each part of a line without a gap; each value lasts for its interval."""
    width = 100 / len(places)
    part: list[str] = []
    for place, y in enumerate(places):
        if y is None:
            if part:
                yield " ".join(part)
            part = []
        else:
            part += [f"{place * width:.2f},{y:.2f}", f"{(place + 1) * width:.2f},{y:.2f}"]
    if part:
        yield " ".join(part)


def _colour(place: int, series: Series) -> str:
    return _REST if series.is_rest else str(place)


def _name(series: Series) -> str:
    return series.name if series.is_rest else shown(series.name)
