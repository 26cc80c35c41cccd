"""Dates and durations as HTCondor's tools print them.

Source: ``format_date``, ``format_date_year`` and ``format_time`` of HTCondor 25.14.1.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import Final

#: Years end with 9999; times are numbers that administrators may set.
_LAST: Final = 250_000_000_000
_UNKNOWN: Final = "    ???    "


def date(seconds: int, zone: tzinfo | None = UTC) -> str:
    """Return month, day, hour and minute of seconds since the epoch, in a zone (None: the local one)."""
    if seconds < 0:
        return _UNKNOWN
    moment = datetime.fromtimestamp(min(seconds, _LAST), zone)
    return f"{moment.month:2}/{moment.day:<2} {moment:%H:%M}"


def date_with_year(seconds: int, zone: tzinfo | None = UTC) -> str:
    """Return month, day, year, hour and minute."""
    moment = datetime.fromtimestamp(min(max(seconds, 0), _LAST), zone)
    return f"{moment.month:2}/{moment.day:02}/{moment.year:<4} {moment:%H:%M}"


def duration(seconds: int) -> str:
    """Return days, hours, minutes and seconds; each of them is negative in a negative number."""
    sign, minutes, left = -1 if seconds < 0 else 1, abs(seconds) // 60, abs(seconds) % 60
    parts = (minutes // 60 % 24, minutes % 60, left)
    return f"{sign * (minutes // 1440):3}+" + ":".join(f"{sign * part:02}" for part in parts)
