"""Shares against use: a bar for each holder, with a mark at what it is entitled to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs

from negotiator.app.cycles import CycleDetails, HolderShare
from negotiator.app.period_report import NamedUse, PresentUse
from negotiator.cli.html.scales import amount
from negotiator.service.pages.views.elements import amount as quantity
from negotiator.service.pages.views.elements import message, shown

_MOST: Final = 10


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
