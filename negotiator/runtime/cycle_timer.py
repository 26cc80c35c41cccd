"""When cycles begin and end: at an interval, before their time on request, and at signals.

Signals end a cycle between two turns, and the process also while the code of a plugin does not return. Each step of the work is noted: a
process that has noted none for long hangs.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

import attrs

from negotiator.bundle.time_limits import CycleIntervals
from negotiator.hooks.plugin_output import PluginCall, inside_plugin

#: Seconds that a call of a plugin may go on after SIGTERM or SIGINT, before it ends the process.
HANGING_SECONDS = 10.0
#: Seconds between two polls for requests while waiting for the next cycle.
POLL_INTERVAL = 1.0
_LOOKS = 10
_STOPPING = "the cycle ends before its next turn; a second signal ends the program at once"


@attrs.define(eq=False)
class StopRequest:
    """Is written by a signal handler, and read by the cycle between two turns.

    ``is_listening`` is True while a cycle can still end by it: from its first decision until its outcome is recorded.
    """

    is_requested: bool = False
    is_listening: bool = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Return a context in which a cycle ends by the request."""
        self.is_listening = True
        try:
            yield
        finally:
            self.is_listening = False


@attrs.define(eq=False)
class WorkClock:
    """Notes each step of the negotiator: a turn of a cycle, a part of the pool that was read, a look for requests.

    Any thread may use it.

    :param monotonic: returns seconds from any beginning.
    """

    monotonic: Callable[[], float] = time.monotonic
    last_step: float = attrs.field(init=False)
    """When the last step was made."""

    def __attrs_post_init__(self) -> None:
        self.note()

    def note(self) -> None:
        """Note that a step was made just now."""
        self.last_step = self.monotonic()

    def idle_seconds(self) -> float:
        """Return the seconds since the last step."""
        return self.monotonic() - self.last_step


@attrs.define(eq=False)
class CycleTrigger:
    """Is used by threads and signal handlers; the ``CycleTimer`` waits for it.

    ``is_ending``: no further cycle is to start, and ``stop`` ends the present one. ``work`` notes each step of the negotiator.
    """

    stop: StopRequest = attrs.field(factory=StopRequest)
    work: WorkClock = attrs.field(factory=WorkClock)
    is_requested: bool = False
    is_ending: bool = False
    # Not an Event: its lock may be held by the very thread that a signal handler interrupts.
    _woken: queue.SimpleQueue[None] = attrs.field(factory=queue.SimpleQueue, init=False)
    _signals: bool = attrs.field(default=False, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)  # no signal handler takes it

    def start_cycle(self) -> None:
        """Start the next cycle now, or as soon as the present one has ended."""
        self.is_requested = True
        self.wake()

    def end(self) -> None:
        """End the present cycle before its next turn, and start no other one; the first call sends a handled SIGTERM.

        So a call of a plugin that hangs is ended too. A second SIGTERM would end the process at once.
        """
        with self._lock:
            is_first = not self.is_ending
            self.is_ending = self.stop.is_requested = True
            if is_first and self._signals:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
        self.wake()

    def use_signals(self, *, are_handled: bool) -> None:
        """Let ``end`` send SIGTERM only while a handler in the main thread ends the cycles by it."""
        with self._lock:
            self._signals = are_handled

    def wake(self) -> None:
        """End a wait; the next cycle begins at its time."""
        self._woken.put(None)

    def wait(self, seconds: float) -> None:
        """Wait until ``wake`` or ``start_cycle`` is called, at most so long; one wait answers all calls before it."""
        with contextlib.suppress(queue.Empty):
            self._woken.get(timeout=seconds)
            for _ in range(self._woken.qsize()):
                self._woken.get_nowait()


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
