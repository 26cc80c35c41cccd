"""The line that shows what a command is busy with: a bar and the time that is left, if it is known how much there is."""

from __future__ import annotations

import sys
import time
from typing import Final, Self

import attrs

from negotiator.activity import Activity, LongOperation
from negotiator.cli.phrases import duration, number
from negotiator.cli.status_line import StatusLine
from negotiator.cli.table_layout import terminal_size

_WIDTH, _SHORT, _NARROW = 20, 8, 75  # columns: of a bar, of one on a narrow terminal, and of that
_MEGABYTE: Final = 1_000_000
_SURE: Final = 1.0  # seconds after which the time that is left is estimated


@attrs.define(eq=False)
class ActivityLine(StatusLine):
    """The line of the present activity of an operation."""

    operation: LongOperation = attrs.field(kw_only=True)
    _activity: Activity | None = None
    _since: float = 0.0  # when it was seen first

    @classmethod
    def shown(cls, operation: LongOperation) -> Self:
        """Return a line that is shown from now on."""
        line = cls(enabled=True, operation=operation)
        line.show_now()
        return line

    def text(self, seconds: float) -> str:
        """Return the line."""
        found = self.operation.present()
        if found is None:
            return ""
        now = time.monotonic()
        if found is not self._activity:
            self._activity, self._since = found, now
        width = _SHORT if terminal_size(sys.stderr)[0] < _NARROW else _WIDTH
        return activity_text(found, seconds, now - self._since, width)


def activity_text(found: Activity, seconds: float, own: float, width: int = _WIDTH) -> str:
    """Return the line of an activity.

    :param seconds: since the line is shown.
    :param own: seconds since the activity began.
    :param width: of the bar, in columns.
    """
    if not found.total:
        return f"{found.text}, {duration(seconds)}"
    part = min(found.done / found.total, 1.0)
    filled = int(part * width)
    bar = "━" * filled + "─" * (width - filled)
    left = f", {duration(own / part - own)} left" if own >= _SURE and 0 < part < 1 else ""
    return f"{found.text} {bar} {part:.0%} of {_amount(found)}{left}"


def _amount(found: Activity) -> str:
    if found.unit == "B":
        return f"{found.total / _MEGABYTE:.1f} MB"
    return number(found.total, found.unit)
