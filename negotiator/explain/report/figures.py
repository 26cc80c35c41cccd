"""Figures of a period: plain numbers, before they are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

#: The name of what is not among the largest.
OTHERS: Final = "others"
#: Widths of the intervals of a period, in seconds.
_WIDTHS: Final = (60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 7 * 86400, 30 * 86400)
_MOST_INTERVALS: Final = 32  # a month has 31 days


@attrs.frozen
class Series:
    """One value for each interval of a period; ``is_rest`` if it is the sum of what is not among the largest."""

    name: str
    values: tuple[float, ...]
    is_rest: bool = False

    @property
    def total(self) -> float:
        """The sum of the values."""
        return sum(self.values)


@attrs.frozen
class PoolPoint:
    """The averages over the cycles of an interval: slots, running jobs, and jobs without a slot."""

    slots: float
    running: float
    waiting: float


@attrs.frozen
class BlockedJobs:
    """Jobs of a user that a reason kept from a slot, on average over the cycles of the period.

    ``place`` is the rule with its place in the bundle, empty if no policy decided. ``reason`` and ``user`` may be ``OTHERS``.
    """

    reason: str
    place: str
    user: str
    jobs: float


@attrs.frozen(kw_only=True)
class PeriodFigures:
    """What was decided in a period.

    ``times`` are the beginnings of the intervals, each ``width`` seconds long, in seconds since the epoch. ``by_user`` and ``by_queue`` have the slots
    handed out, the largest first; ``use_by_user`` and ``use_by_queue`` the running jobs on average, empty for logs of earlier versions. ``pool`` has a point for each interval, None if it had no cycle. ``missing`` counts decisions that the
    bundle's audit settings left out of the log; ``is_shadow`` if nothing was handed out.
    """

    first: float
    last: float
    width: int
    times: tuple[float, ...]
    cycles: int
    matches: int
    users: int
    by_user: tuple[Series, ...]
    by_queue: tuple[Series, ...]
    use_by_user: tuple[Series, ...]
    use_by_queue: tuple[Series, ...]
    pool: tuple[PoolPoint | None, ...]
    blocked: tuple[BlockedJobs, ...]
    missing: int
    is_shadow: bool


def interval_width(seconds: float) -> int:
    """Return the width of the intervals of a period, in seconds: the least one of which there are not too many."""
    return next((width for width in _WIDTHS if seconds < width * _MOST_INTERVALS), _WIDTHS[-1])


def largest(totals: Mapping[str, float], most: int) -> tuple[str, ...]:
    """Return the names with the largest totals, at most ``most``, the largest first."""
    return tuple(sorted(totals, key=lambda name: (-totals[name], name))[:most])
