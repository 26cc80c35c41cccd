"""What blocks whom: bands from reasons to users, as thick as the jobs that wait. Shares against use: a bar for each holder, with a mark at what it may have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import attrs

from negotiator.app.cycles import CycleDetails, HolderShare
from negotiator.app.period_report import OTHERS, BlockedJobs, NamedUse, PresentUse
from negotiator.cli.html.charts import amount
from negotiator.service.pages.views.elements import amount as quantity
from negotiator.service.pages.views.elements import message, shown

_MOST: Final = 10
_GAP: Final = 1.5  # percent of the height between two names
_STEPS: Final = 40  # halvings that find the thickness
#: Height of a name in rem, so that its label fits: of a reason three lines, of a user one and a half.
_REASON, _USER = 3.9, 2.0


@attrs.frozen
class BarRow:
    """A bar: ``used`` and, if there is one, ``mark`` are places in percent; ``words`` says the same."""

    name: str
    used: float
    mark: float | None
    words: str
    note: str = ""


@attrs.frozen
class ShareBars:
    """The shares of a cycle: those that use most; ``more`` counts the others."""

    number: int
    unit: str
    rows: tuple[BarRow, ...]
    more: int


def share_bars(details: CycleDetails | None) -> ShareBars | None:
    """Return the shares of the last cycle; None if nobody had one."""
    if details is None or not details.shares:
        return None
    order = sorted(details.shares, key=lambda each: (-max(each.used, each.entitled), each.holder))[:_MOST]
    most = max(max(each.used, each.entitled) for each in order) or 1.0
    rows = tuple(_share(each, most) for each in order)
    return ShareBars(details.number, message(details.shares[0].unit), rows, len(details.shares) - len(rows))


def _share(share: HolderShare, most: float) -> BarRow:
    waiting = f"{amount(share.waiting)} jobs wait: {message(share.text)}" if share.waiting else ""
    return BarRow(
        shown(share.holder),
        _percent(share.used, most),
        _percent(share.entitled, most),
        f"uses {amount(share.used)} of {amount(share.entitled)}",
        waiting,
    )


def use_bars(uses: Sequence[NamedUse]) -> tuple[BarRow, ...]:
    """Return the running jobs of users or in queues."""
    most = max((each.running for each in uses), default=0) or 1
    return tuple(
        BarRow(
            shown(each.name),
            _percent(each.running, most),
            None,
            f"{each.running:,} running, {each.idle:,} idle",
        )
        for each in uses
    )


def resource_bars(now: PresentUse) -> tuple[BarRow, ...]:
    """Return what is used of each resource of the pool."""
    return tuple(
        BarRow(
            shown(each.name),
            _percent(each.used, each.most),
            None,
            f"{quantity(each.name, each.used)} of {quantity(each.name, each.most)}: {each.used / each.most:.0%}",
        )
        for each in now.resources
    )


def _percent(value: float, most: float) -> float:
    return round(min(max(100 * value / most, 0.0), 100.0), 2)


#: A reason with the place of its rule, or a user and nothing; the jobs of a reason and a user; top and height of a bar.
_End: TypeAlias = tuple[str, str]
_Flow: TypeAlias = tuple[_End, _End, float]
_Place: TypeAlias = tuple[float, float]


@attrs.frozen
class BandEnd:
    """A reason or a user: where its bar begins and how high it is, in percent, and the jobs that wait."""

    name: str
    place: str
    jobs: str
    colour: str
    top: float
    height: float


@attrs.frozen
class Band:
    """A band from a reason to a user: the path of SVG, the colour of the reason, and the jobs."""

    path: str
    colour: str
    reason: str
    place: str
    user: str
    jobs: str

    @property
    def title(self) -> str:
        """What it says when it is pointed at."""
        return f"{self.user}: {self.jobs} jobs, {self.reason}"


@attrs.frozen
class Bands:
    """The picture; ``height`` is in rem."""

    height: float
    reasons: tuple[BandEnd, ...]
    users: tuple[BandEnd, ...]
    bands: tuple[Band, ...]


def bands(blocked: Sequence[BlockedJobs]) -> Bands | None:
    """Return the picture of jobs that wait; None if there are none."""
    if not blocked:
        return None
    flows = [((each.reason, each.place), (each.user, ""), each.jobs) for each in blocked]
    by_reason, by_user = _sums(flows, 0), _sums(flows, 1)
    height = max(14.0, len(by_reason) * _REASON * 1.15, len(by_user) * _USER * 1.15)
    least = 100 * _REASON / height, 100 * _USER / height
    unit = min(_thickness(by_reason, least[0]), _thickness(by_user, least[1]))
    reasons, users = _placed(by_reason, unit, least[0]), _placed(by_user, unit, least[1])
    return Bands(
        height=round(height, 1),
        reasons=tuple(_ends(by_reason, reasons)),
        users=tuple(_ends(by_user, users)),
        bands=tuple(_bands(flows, reasons, users, unit)),
    )


def _sums(flows: Sequence[_Flow], side: int) -> dict[_End, float]:
    """Return the jobs of each reason (side 0) or user (side 1), most first, and others last."""
    found: dict[_End, float] = {}
    for flow in flows:
        end: _End = flow[0] if side == 0 else flow[1]
        found[end] = found.get(end, 0.0) + flow[2]
    return dict(sorted(found.items(), key=lambda item: (item[0] == (OTHERS, ""), -item[1])))


def _thickness(values: Mapping[_End, float], least: float) -> float:
    """Return the height of one job with which all names fit, each at least ``least`` high."""
    low, high = 0.0, 100 / sum(values.values())
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if sum(max(value * middle, least) + _GAP for value in values.values()) > 100 + _GAP:
            high = middle
        else:
            low = middle
    return low


def _placed(values: Mapping[_End, float], unit: float, least: float) -> dict[_End, _Place]:
    """Return the top and the height of each bar; the room that is left is between them."""
    used = sum(max(value * unit, least) for value in values.values())
    gap = (100 - used) / max(len(values) - 1, 1)
    found, top = {}, 0.0
    for end, value in values.items():
        found[end] = top, value * unit
        top += max(value * unit, least) + gap
    return found


def _ends(values: Mapping[_End, float], places: Mapping[_End, _Place]) -> Iterator[BandEnd]:
    for colour, (end, (top, height)) in enumerate(places.items()):
        name, place = end
        yield BandEnd(
            message(name),
            message(place),
            amount(values[end]),
            _colour(colour, end),
            round(top, 3),
            round(height, 3),
        )


def _bands(
    flows: Sequence[_Flow], reasons: Mapping[_End, _Place], users: Mapping[_End, _Place], unit: float
) -> Iterator[Band]:
    """Yield the bands; those of a bar are in the order of the bars on the other side, so that few cross."""
    left = {end: top for end, (top, _) in reasons.items()}
    right = {end: top for end, (top, _) in users.items()}
    places, columns = ({end: place for place, end in enumerate(ends)} for ends in (reasons, users))
    for reason, user, jobs in sorted(flows, key=lambda flow: (places[flow[0]], columns[flow[1]])):
        height = jobs * unit
        a, b = left[reason], right[user]
        left[reason] += height
        right[user] += height
        path = (
            f"M0,{a:.2f}C50,{a:.2f} 50,{b:.2f} 100,{b:.2f}"
            f"V{b + height:.2f}C50,{b + height:.2f} 50,{a + height:.2f} 0,{a + height:.2f}Z"
        )
        name, place = reason
        yield Band(
            path, _colour(places[reason], reason), message(name), message(place), shown(user[0]), amount(jobs)
        )


def _colour(place: int, end: _End) -> str:
    return "rest" if end == (OTHERS, "") else str(place)
