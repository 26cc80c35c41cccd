"""*Cycles*: how long each part of the last cycles took, as a picture and in numbers, and what they did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from negotiator.app.cycles import CycleEntry, CycleHistory
from negotiator.service.pages.views.elements import Link, Moment, Rows, link, message, moment

_MOST_BARS: Final = 120
_MOST_ROWS: Final = 30
_WIDTH: Final = 10  # of a bar and the gap beside it, in units of the picture
_BAR: Final = 8
_HEIGHT: Final = 100.0

#: Parts of a cycle in their order, each with the names that the history has for it.
PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "read": ("read",),
    "admit": ("admit",),
    "place": ("place",),
    "order": ("order",),
    "match": ("match",),
    "charge": ("charge",),
    "record": ("record_intent", "record_outcome"),
    "settle": ("settle",),
}
_OTHER: Final = "other"


@attrs.frozen
class BarPart:
    """A part of a bar, from its top down, in units of the picture."""

    name: str
    top: float
    height: float


@attrs.frozen
class CycleBar:
    """The bar of a cycle; ``title`` has its numbers. One of a cycle that failed has no parts."""

    left: int
    title: str
    parts: tuple[BarPart, ...]


@attrs.frozen
class TimeLine:
    """The bars of the last cycles, the oldest one first, below the height of the longest one."""

    width: int
    bar: int
    bars: tuple[CycleBar, ...]
    most: str
    first: Moment | None
    last: Moment | None


@attrs.frozen
class CycleRow:
    """A cycle in numbers: the seconds of its parts, and what it did. ``failure`` is why it did not take place."""

    number: str
    ended: Moment | None
    total: str
    seconds: tuple[str, ...]
    slots: str
    jobs: str
    matches: Link
    unmatched: str
    undelivered: str
    overruns: str
    limits_exceeded: str
    bundle: str
    failure: str


@attrs.frozen
class CyclesView:
    """The page."""

    names: tuple[str, ...]
    line: TimeLine
    rows: Rows
    count: int


def cycles_view(history: CycleHistory) -> CyclesView | None:
    """Return the page; None before the first cycle."""
    if not history.cycles:
        return None
    newest = history.cycles[: -_MOST_ROWS - 1 : -1]
    return CyclesView(
        (*PARTS, _OTHER),
        _line(history.cycles[-_MOST_BARS:]),
        Rows.first(map(_row, newest), len(history.cycles), _MOST_ROWS),
        min(len(history.cycles), _MOST_BARS),
    )


def _line(cycles: tuple[CycleEntry, ...]) -> TimeLine:
    most = max(_total(each) for each in cycles) or 1.0
    return TimeLine(
        len(cycles) * _WIDTH,
        _BAR,
        tuple(_bar(place, each, most) for place, each in enumerate(cycles)),
        f"{most:.3g} s",
        moment(cycles[0].ended),
        moment(cycles[-1].ended),
    )


def _bar(place: int, entry: CycleEntry, most: float) -> CycleBar:
    seconds = parts_of(entry)
    parts, top = [], _HEIGHT
    for name, value in seconds.items():
        height = round(value / most * _HEIGHT, 2)
        if height > 0:
            top -= height
            parts.append(BarPart(name, round(max(top, 0.0), 2), height))
    ended = moment(entry.ended)
    time = f"cycle {entry.number}, {ended.text if ended else 'unknown'}"
    if entry.failure:
        return CycleBar(place * _WIDTH, f"{time}: failed: {message(entry.failure)}", ())
    numbers = ", ".join(f"{name} {value:.3f}" for name, value in seconds.items())
    return CycleBar(place * _WIDTH, f"{time}: {_total(entry):.3f} s: {numbers}", tuple(parts))


def parts_of(entry: CycleEntry) -> dict[str, float]:
    """Return the seconds of each part of a cycle; ``other`` is the time that no part has."""
    found = {name: sum(max(entry.seconds.get(key, 0.0), 0.0) for key in keys) for name, keys in PARTS.items()}
    return found | {_OTHER: max(_total(entry) - sum(found.values()), 0.0)}


def _total(entry: CycleEntry) -> float:
    """Return how long a cycle took: its parts may be measured to be longer than the clock says."""
    measured = sum(
        value for keys in PARTS.values() for key in keys if (value := entry.seconds.get(key, 0.0)) > 0
    )
    return max(entry.ended - entry.begun, measured)


def _row(entry: CycleEntry) -> CycleRow:
    return CycleRow(
        f"{entry.number}",
        moment(entry.ended),
        f"{_total(entry):.3f}",
        tuple(f"{value:.3f}" for value in parts_of(entry).values()),
        f"{entry.slots:,}",
        f"{entry.jobs:,}",
        link(f"{entry.matches:,}", "audit", kind="match", text=f'"cycle":{entry.number},'),
        f"{entry.unmatched:,}",
        f"{entry.undelivered:,}",
        f"{entry.overruns:,}",
        f"{entry.limits_exceeded:,}",
        message(entry.bundle[:12]),
        message(entry.failure),
    )
