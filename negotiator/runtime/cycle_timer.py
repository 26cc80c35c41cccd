"""Starts cycles at an interval, and stops at signals."""

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

#: Seconds between two polls for requests while waiting for the next cycle.
POLL_INTERVAL = 1.0


@attrs.define(eq=False)
class CycleTimer:
    """Starts a cycle every ``every`` seconds, ``count`` times.

    SIGHUP calls ``reload`` with "signal". SIGTERM or SIGINT let the current cycle end and start no other one; without
    ``every`` they keep their usual effect.

    :param every: seconds between the beginnings of two cycles; None starts each when the one before has ended.
    :param count: None sets no limit.
    """

    reload: Callable[[str], None]
    every: float | None = None
    count: int | None = None
    _stopping: bool = False
    # Ends a wait. Not an Event: its lock may be held by the very thread that a signal handler interrupts.
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
        """Yield the number of each cycle, from 1, when it is time to begin; call ``between`` before each and while waiting."""
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
                self._woken.get(timeout=min(left, POLL_INTERVAL))
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
