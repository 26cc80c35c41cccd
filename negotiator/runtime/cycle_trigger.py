"""Starts a cycle before its time, and ends a wait for it."""

from __future__ import annotations

import contextlib
import queue

import attrs

from negotiator.runtime.stop_request import StopRequest


@attrs.define(eq=False)
class CycleTrigger:
    """Is used by threads and signal handlers; the ``CycleTimer`` waits for it.

    ``is_ending``: no further cycle is to start, and ``stop`` ends the present one.
    """

    stop: StopRequest = attrs.field(factory=StopRequest)
    is_requested: bool = False
    is_ending: bool = False
    # Not an Event: its lock may be held by the very thread that a signal handler interrupts.
    _woken: queue.SimpleQueue[None] = attrs.field(factory=queue.SimpleQueue, init=False)

    def start_cycle(self) -> None:
        """Start the next cycle now, or as soon as the present one has ended."""
        self.is_requested = True
        self.wake()

    def end(self) -> None:
        """End the present cycle before its next turn, and start no other one."""
        self.is_ending = self.stop.is_requested = True
        self.wake()

    def wake(self) -> None:
        """End a wait; the next cycle begins at its time."""
        self._woken.put(None)

    def wait(self, seconds: float) -> None:
        """Wait until ``wake`` or ``start_cycle`` is called, at most so long."""
        with contextlib.suppress(queue.Empty):
            self._woken.get(timeout=seconds)
