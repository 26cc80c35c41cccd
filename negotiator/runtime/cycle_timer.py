"""When the next cycle begins, and when there is none any more: signals and the time between cycles."""

from __future__ import annotations

import contextlib
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Self

import attrs

#: Seconds between two looks at what was asked for while nothing else is to be done.
LOOK = 1.0


@attrs.define(eq=False)
class CycleTimer:
    """Begins a cycle every so many seconds, and does between cycles what was asked for.

    ``reload`` is called with "signal" on SIGHUP. On SIGTERM or SIGINT the cycle that runs is finished, and no other is
    begun. Without ``every`` the cycles follow each other; without ``count`` they go on.
    """

    reload: Callable[[str], None]
    every: float | None = None
    count: int | None = None
    _stopping: bool = False
    # What wakes the one that waits. An Event has a lock that a signal handler may find taken by its own thread.
    _woken: queue.SimpleQueue[None] = attrs.field(factory=queue.SimpleQueue)
    _before: dict[int, Any] = attrs.field(factory=dict)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._handle(signal.SIGHUP, self._hang_up)
            if self.every is not None:
                self._handle(signal.SIGTERM, self._end)
                self._handle(signal.SIGINT, self._end)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def cycles(self, between: Callable[[], None]) -> Iterator[int]:
        """Give the number of each cycle, from 1, when it is to begin; ``between`` is called before each, and meanwhile."""
        number, begun = 0, 0.0
        while not self._stopping and number != self.count:
            if number and self.every is not None:
                self._wait(begun + self.every, between)
                if self._stopping:
                    return
            between()
            number, begun = number + 1, time.monotonic()
            yield number

    def _wait(self, until: float, between: Callable[[], None]) -> None:
        while not self._stopping and (left := until - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                self._woken.get(timeout=min(left, LOOK))
            if not self._stopping:
                between()

    def _handle(self, number: int, handler: Callable[[int, FrameType | None], None]) -> None:
        self._before[number] = signal.signal(number, handler)

    def _hang_up(self, _number: int, _frame: FrameType | None) -> None:
        self.reload("signal")
        self._woken.put(None)

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True
        self._woken.put(None)
