"""Starts a cycle before its time, and ends a wait for it."""

from __future__ import annotations

import contextlib
import queue
import signal
import threading

import attrs

from negotiator.runtime.stop_request import StopRequest
from negotiator.runtime.work_clock import WorkClock


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
