"""The line that shows what a command is busy with: a bar and the time that is left, if it is known how much there is."""

from __future__ import annotations

import time
from typing import Final, Self

import attrs

from negotiator.activity import Activity, present_activity
from negotiator.cli.phrases import duration, number
from negotiator.cli.status_line import StatusLine

_WIDTH: Final = 20  # of a bar, in columns
_MEGABYTE: Final = 1_000_000
_SURE: Final = 1.0  # seconds after which the time that is left is estimated


@attrs.define(eq=False)
class ActivityLine(StatusLine):
    """The line of the present activity."""

    _activity: Activity | None = None
    _since: float = 0.0  # when it was seen first

    @classmethod
    def shown(cls) -> Self:
        """Return a line that is shown from now on."""
        line = cls(enabled=True)
        line.show_now()
        return line

    def text(self, seconds: float) -> str:
        """Return the line."""
        found = present_activity()
        if found is None:
            return ""
        now = time.monotonic()
        if found is not self._activity:
            self._activity, self._since = found, now
        return activity_text(found, seconds, now - self._since)


def activity_text(found: Activity, seconds: float, own: float) -> str:
    """Return the line of an activity.

    :param seconds: since the line is shown.
    :param own: seconds since the activity began.
    """
    if not found.total:
        return f"{found.text}, {duration(seconds)}"
    part = min(found.done / found.total, 1.0)
    filled = int(part * _WIDTH)
    bar = "━" * filled + "─" * (_WIDTH - filled)
    left = f", {duration(own / part - own)} left" if own >= _SURE and 0 < part < 1 else ""
    return f"{found.text} {bar} {part:.0%} of {_amount(found)}{left}"


def _amount(found: Activity) -> str:
    if found.unit == "B":
        return f"{found.total / _MEGABYTE:.1f} MB"
    return number(found.total, found.unit)
