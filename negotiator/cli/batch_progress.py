"""The line that shows how far a batch of recorded cycles is, on a terminal."""

from __future__ import annotations

import time

import attrs

from negotiator.app.batches import BatchProgress
from negotiator.cli.phrases import number
from negotiator.cli.status_line import StatusLine

_MINUTE = 60.0


@attrs.define(eq=False)
class BatchLine(StatusLine):
    """The line of a batch."""

    _latest: BatchProgress = attrs.field(factory=lambda: BatchProgress(0, 0, 0, 0))
    _started: float = attrs.field(factory=time.monotonic)  # the line may be hidden in between

    def show(self, progress: BatchProgress) -> None:
        """Show how far the batch is."""
        self._latest = progress
        self.begin()

    def text(self, seconds: float) -> str:
        """Return the line: how many cycles are decided, the time of each, and the time that is left."""
        seconds = time.monotonic() - self._started
        found = self._latest
        texts = [f"{found.done} of {number(found.total, 'cycle')}"]
        if found.refused:
            texts.append(f"{found.refused} refused")
        decided = found.done - found.earlier
        if decided:
            each = seconds / decided
            texts.append(f"{each:.1f} s each, {_duration(each * (found.total - found.done))} left")
        return f"{', '.join(texts)} (Ctrl-C ends with a report of these)"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < _MINUTE else f"{seconds / _MINUTE:.0f} min"
