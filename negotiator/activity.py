"""The progress of long operations: reading files, searching a log, deciding a cycle.

An operation reports itself and counts what is done; a command on a terminal shows it. Without a watcher nothing is kept.

The watcher and the innermost activity are those of the context (``contextvars``): a new thread has neither, and what it does is neither
shown nor counted. Code that is run in a copy of a context counts for the activity in which the copy was made.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Activity:
    """A long operation: its text, and how much of ``total`` is done; ``total`` is 0 if it is unknown.

    ``unit`` is what is counted: ``B`` for bytes, or a noun.
    """

    __slots__ = ("done", "text", "total", "unit")

    def __init__(self, text: str, total: int = 0, unit: str = "B") -> None:
        self.text = text
        self.total = total
        self.unit = unit
        self.done = 0


class LongOperation:
    """An outermost activity with those inside it, for a watcher, which may read it in another thread."""

    __slots__ = ("innermost",)

    def __init__(self) -> None:
        self.innermost: _ActivityFrame | None = None

    def present(self) -> Activity | None:
        """Return the innermost activity whose total is known, or else the innermost; None after the end."""
        frame = innermost = self.innermost
        while frame is not None:
            if frame.activity.total:
                return frame.activity
            frame = frame.outer
        return None if innermost is None else innermost.activity


class Watcher(Protocol):
    """Is called when an outermost activity begins, and after it has ended."""

    def begin(self, operation: LongOperation) -> None:
        """Show the present activity of an operation."""

    def end(self) -> None:
        """Show nothing."""


class _ActivityFrame:
    """An activity, the one around it, and the operation of both."""

    __slots__ = ("activity", "ended", "operation", "outer")

    def __init__(self, found: Activity, outer: _ActivityFrame | None) -> None:
        self.activity = found
        self.outer = outer
        self.operation: LongOperation = LongOperation() if outer is None else outer.operation
        self.ended = False


def _unended(frame: _ActivityFrame | None) -> _ActivityFrame | None:
    """Return the innermost frame that has not ended: a generator may be closed late, or in another context."""
    while frame is not None and frame.ended:
        frame = frame.outer
    return frame


class _ActivityWatch:
    """A watcher, which is shown one operation at a time."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._lock = threading.Lock()
        self._shown: LongOperation | None = None
        self.closed = False

    def begin(self, operation: LongOperation) -> None:
        with self._lock:
            if not self.closed and self._shown is None:
                self._shown = operation
                self._watcher.begin(operation)

    def end(self, operation: LongOperation) -> None:
        with self._lock:
            if self._shown is operation:
                self._shown = None
                self._watcher.end()

    def close(self) -> None:
        with self._lock:
            if not self.closed:
                self.closed, self._shown = True, None
                self._watcher.end()


_watch: ContextVar[_ActivityWatch | None] = ContextVar("watch", default=None)
_innermost: ContextVar[_ActivityFrame | None] = ContextVar("innermost", default=None)


@contextmanager
def activity(text: str, total: int = 0, unit: str = "B") -> Iterator[Activity]:
    """Report an operation until the end of the context."""
    found = Activity(text, total, unit)
    watch = _watch.get()
    if watch is None or watch.closed:
        yield found
        return
    outer = _unended(_innermost.get())
    frame = _ActivityFrame(found, outer)
    operation = frame.operation
    _innermost.set(frame)
    operation.innermost = frame
    if outer is None:
        watch.begin(operation)
    try:
        yield found
    finally:
        frame.ended = True
        _innermost.set(_unended(_innermost.get()))
        operation.innermost = _unended(operation.innermost)
        if operation.innermost is None:
            watch.end(operation)


def advance(amount: int) -> None:
    """Count what is done of the innermost activity."""
    frame = _unended(_innermost.get())
    if frame is not None:
        frame.activity.done += amount


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Call a watcher until the end of the context."""
    token = _watch.set(_ActivityWatch(watcher))
    try:
        yield
    finally:
        _watch.reset(token)


def unwatched() -> None:
    """Show no further activities: the program prints lines of its own while it works."""
    watch = _watch.get()
    if watch is not None:
        watch.close()
