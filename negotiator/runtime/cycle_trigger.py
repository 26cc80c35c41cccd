"""Starts a cycle before its time, and ends a wait for it."""

from __future__ import annotations

import contextlib
import queue

import attrs


@attrs.define(eq=False)
class CycleTrigger:
    """Is used by threads and signal handlers; the ``CycleTimer`` waits for it. Implements ``PoolControl``."""

    is_requested: bool = False
    # Not an Event: its lock may be held by the very thread that a signal handler interrupts.
    _woken: queue.SimpleQueue[None] = attrs.field(factory=queue.SimpleQueue, init=False)

    def start_cycle(self) -> None:
        """Start the next cycle now, or as soon as the present one has ended."""
        self.is_requested = True
        self.wake()

    def wake(self) -> None:
        """End a wait; the next cycle begins at its time."""
        self._woken.put(None)

    def wait(self, seconds: float) -> None:
        """Wait until ``wake`` or ``start_cycle`` is called, at most so long."""
        with contextlib.suppress(queue.Empty):
            self._woken.get(timeout=seconds)
