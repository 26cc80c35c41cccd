"""Starts cycles at an interval, and stops at signals, also while the code of a plugin does not return."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Self

import attrs

from negotiator.bundle.cycle_intervals import CycleIntervals
from negotiator.hooks.plugin_output import PluginCall, inside_plugin
from negotiator.runtime.cycle_trigger import CycleTrigger
from negotiator.runtime.stop_request import StopRequest

#: Seconds that a call of a plugin may go on after SIGTERM or SIGINT, before it ends the process.
HANGING_SECONDS = 10.0

#: Seconds between two polls for requests while waiting for the next cycle.
POLL_INTERVAL = 1.0
_LOOKS = 10
_STOPPING = "the cycle ends before its next turn; a second signal ends the program at once"


@attrs.define(eq=False)
class CycleTimer:
    """Starts cycles at intervals, ``count`` times.

    SIGHUP calls ``reload`` with "signal". The first SIGTERM or SIGINT (with intervals, or SIGQUIT) ends the current cycle
    before its next turn, with the matches it has, and starts no other one; the second has its usual effect. Without
    intervals so has the first outside of a cycle, as while the pool is read. If one call of a plugin then goes on for ``hanging_seconds`` without
    progress, the signal ends the process: the cycle is not recorded, and nothing of it was handed out unless its intent is recorded.

    :param intervals: returns the intervals that hold now; None starts each cycle when the one before has ended.
    :param count: None sets no limit.
    :param stop: ends the current cycle.
    :param trigger: requests a cycle before its time; the intervals have the least time until it begins.
    """

    reload: Callable[[str], None]
    intervals: Callable[[], CycleIntervals] | None = None
    count: int | None = None
    hanging_seconds: float = HANGING_SECONDS
    stop: StopRequest = attrs.field(factory=StopRequest)
    trigger: CycleTrigger = attrs.field(factory=CycleTrigger)
    _stopping: bool = False
    _before: dict[int, Any] = attrs.field(factory=dict)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            endings = [signal.SIGTERM, signal.SIGINT]
            if hasattr(signal, "SIGHUP"):  # Windows has none of these
                self._handle(signal.SIGHUP, self._hang_up)
                endings += [signal.SIGQUIT] if self.intervals is not None else []
            for number in endings:
                if self.intervals is not None or signal.getsignal(number) is not signal.SIG_IGN:
                    self._handle(number, self._end)
            self.trigger.use_signals(are_handled=self.intervals is not None)
        return self

    def __exit__(self, *_: object) -> None:
        self.trigger.use_signals(are_handled=False)
        if getattr(signal, "SIGALRM", None) in self._before:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def cycles(self, between: Callable[[], None]) -> Iterator[int]:
        """Yield the number of each cycle, from 1, when it is time to begin; call ``between`` before each and while waiting."""
        number, begun = 0, 0.0
        while not self._is_ending and number != self.count:
            if number and self.intervals is not None:
                self._wait(begun, time.monotonic(), self.intervals, between)
                if self._is_ending:
                    return
            between()
            self.trigger.is_requested = False
            self.trigger.work.note()
            number, begun = number + 1, time.monotonic()
            yield number

    def _wait(
        self,
        begun: float,
        ended: float,
        intervals: Callable[[], CycleIntervals],
        between: Callable[[], None],
    ) -> None:
        """Wait until the cycle after one that began and ended at these times; a reload may change the intervals meanwhile."""
        while not self._is_ending:
            self.trigger.work.note()
            now = intervals()
            until = now.earliest(begun, ended) if self.trigger.is_requested else now.due(begun, ended)
            left = until - time.monotonic()
            if left <= 0:
                return
            self.trigger.wait(min(left, POLL_INTERVAL))
            if not self._is_ending:
                between()

    @property
    def _is_ending(self) -> bool:
        """True if a signal or a tool of the pool ends the negotiator."""
        return self._stopping or self.trigger.is_ending

    def _handle(self, number: int, handler: Callable[[int, FrameType | None], None]) -> None:
        self._before[number] = signal.signal(number, handler)

    def _hang_up(self, _number: int, _frame: FrameType | None) -> None:
        self.reload("signal")
        self.trigger.wake()

    def _end(self, number: int, _frame: FrameType | None) -> None:
        if self._stopping or (self.intervals is None and not self.stop.is_listening):
            signal.signal(number, self._before[number])
            signal.raise_signal(number)
            return
        self._stopping = self.stop.is_requested = self.trigger.is_ending = True
        if self.intervals is None:
            _write(f"{signal.Signals(number).name}: {_STOPPING}")
        self._end_a_hanging_call(number)
        self.trigger.wake()

    def _end_a_hanging_call(self, number: int) -> None:
        """Look at intervals whether a call of a plugin makes no progress; a handler runs in the context of that call."""
        interval = self.hanging_seconds / _LOOKS
        seen: list[tuple[PluginCall | None, float]] = []

        def look(_number: int, _frame: FrameType | None) -> None:
            call = inside_plugin.get()
            now = call, self.trigger.work.last_step
            if call is None or now not in seen[-1:]:
                seen[:] = [now]
                return
            seen.append(now)
            seconds = max(self.hanging_seconds, call.longest_step)
            if (len(seen) - 1) * interval >= seconds:
                name = signal.Signals(number).name
                text = f"error: {name}: {call.subject} did not return within {seconds:g} s: ended"
                _write(text)
                signal.signal(number, signal.SIG_DFL)
                os.kill(os.getpid(), number)

        if hasattr(signal, "setitimer"):  # not on Windows
            self._handle(signal.SIGALRM, look)
            signal.setitimer(signal.ITIMER_REAL, interval, interval)


def _write(text: str) -> None:
    """Write a line to standard error from a signal handler: a stream may be in use where the handler interrupts."""
    os.write(2, f"{text}\n".encode(errors="replace"))
