"""The progress of long operations: reading files, searching a log, deciding a cycle.

An operation reports itself and counts what is done; a command on a terminal shows it. Without a watcher nothing is kept.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
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


class Watcher(Protocol):
    """Is called when the outermost activity begins, and after it has ended."""

    def begin(self) -> None:
        """Show the present activity."""

    def end(self) -> None:
        """Show nothing."""


_stack: list[Activity] = []
_watchers: list[Watcher] = []


@contextmanager
def activity(text: str, total: int = 0, unit: str = "B") -> Iterator[Activity]:
    """Report an operation until the end of the context; those of other threads than the main one are not shown."""
    found = Activity(text, total, unit)
    if not _watchers or threading.current_thread() is not threading.main_thread():
        yield found
        return
    _stack.append(found)
    if len(_stack) == 1:
        _watchers[-1].begin()
    try:
        yield found
    finally:
        _stack.pop()
        if not _stack and _watchers:
            _watchers[-1].end()


def advance(amount: int) -> None:
    """Count what is done of the innermost activity."""
    if _stack:
        _stack[-1].done += amount


def present_activity() -> Activity | None:
    """Return the innermost activity whose total is known, or else the innermost; None between two."""
    found = list(_stack)
    return next((each for each in reversed(found) if each.total), found[-1] if found else None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Call a watcher until the end of the context."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        if watcher in _watchers:
            _watchers.remove(watcher)


def unwatched() -> None:
    """Show no further activities: the program prints lines of its own while it works."""
    for watcher in _watchers:
        watcher.end()
    _watchers.clear()
