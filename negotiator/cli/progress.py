"""The line that shows how far a long cycle is, on a terminal."""

from __future__ import annotations

import attrs

from negotiator.app.cycle_report import CycleProgress
from negotiator.cli.phrases import number
from negotiator.cli.status_line import StatusLine

_HINT = "Ctrl-C ends the cycle and keeps the matches"


@attrs.define(eq=False)
class ProgressLine(StatusLine):
    """The line of one cycle after the other."""

    _latest: CycleProgress | None = None  # None: no cycle is shown

    def __call__(self, progress: CycleProgress) -> None:
        """Show how far the cycle is."""
        if self._latest is None:
            self.begin()
        self._latest = progress

    def hide(self) -> None:
        """Remove the line; the next cycle has one again."""
        self._latest = None
        super().hide()

    def text(self, seconds: float) -> str:
        """Return the line: the station, and how many requests were served."""
        progress = self._latest
        if progress is None:
            return ""
        shown = f"{seconds:.0f} s"
        if not progress.requests:
            return f"{progress.station}, {shown}"
        done = f"{progress.served} of {number(progress.requests, 'request')}"
        return f"{progress.station}: {done}, {number(progress.matches, 'match')}, {shown} ({_HINT})"
