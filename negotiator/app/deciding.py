"""The progress of a cycle that answers a question."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from negotiator.activity import activity
from negotiator.cycle.cycle_time import CycleProgress, ProgressWatcher


@contextmanager
def deciding(text: str = "deciding about the jobs") -> Iterator[ProgressWatcher]:
    """Yield a watcher of a cycle: the activity has as many requests as the cycle."""
    with activity(text, unit="request") as found:

        def watch(progress: CycleProgress) -> None:
            found.total, found.done = progress.requests, progress.served

        yield watch
