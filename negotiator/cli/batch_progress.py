"""The lines that show how far a batch of recorded cycles is, or tests of policies are, on a terminal."""

from __future__ import annotations

import time

import attrs

from negotiator.app.batches import BatchProgress
from negotiator.app.policy_tests import PolicyTestProgress
from negotiator.cli.phrases import duration, number
from negotiator.cli.status_line import StatusLine


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
        texts += _pace(seconds, found.done - found.earlier, found.total - found.done)
        return f"{', '.join(texts)} (Ctrl-C ends with a report of these)"


@attrs.define(eq=False)
class PolicyTestLine(StatusLine):
    """The line of tests of policies."""

    _latest: PolicyTestProgress = attrs.field(factory=lambda: PolicyTestProgress(0, 0, 0))

    def show(self, progress: PolicyTestProgress) -> None:
        """Show how many tests are done."""
        self._latest = progress
        self.begin()

    def text(self, seconds: float) -> str:
        """Return the line: how many tests are done and failed, the time of each, and the time that is left."""
        found = self._latest
        texts = [f"{found.done} of {number(found.total, 'test')}"]
        if found.failed:
            texts.append(f"{found.failed} failed")
        return ", ".join((*texts, *_pace(seconds, found.done, found.total - found.done)))


def _pace(seconds: float, done: int, left: int) -> tuple[str, ...]:
    """Return the time of each, and the time that is left; nothing is known before the first is done."""
    if not done:
        return ()
    each = seconds / done
    return (f"{each:.1f} s each, {duration(each * left)} left",)
