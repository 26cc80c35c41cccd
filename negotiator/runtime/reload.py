"""Finds a changed bundle between two cycles: a whole one without errors, or the reason why it is rejected.

The folder is read on request (a signal, a command), and, if it is watched, when its files have changed. Watching compares
names, sizes and times of the files at each poll, so that it works on network file systems too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs

from negotiator.bundle import BundleCheck
from negotiator.bundle.model import Bundle
from negotiator.records import Problem, Severity

Signature = frozenset[tuple[str, int, int, int]]


@attrs.frozen
class Reload:
    """The result of reading the bundle again: the new bundle, or None with the errors among ``problems``.

    ``trigger`` is "signal", "watch" or "command by USER".
    """

    trigger: str
    digest: str
    bundle: Bundle | None
    problems: tuple[Problem, ...] = ()
    queue_warnings: tuple[Problem, ...] = ()  # the problems that concern queues in use

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The errors for which the bundle is rejected."""
        return tuple(each for each in self.problems if each.severity is Severity.ERROR)


@attrs.define(eq=False)
class Reloader:
    """Reads the bundle of a folder again when it may have changed. ``examine`` reads and checks the whole folder."""

    folder: Path
    digest: str  # of the active bundle, or of the one that was rejected last
    examine: Callable[[], BundleCheck]
    watch: bool = False
    _requested: str = ""
    _polled: Signature = frozenset()
    _read: Signature = frozenset()

    def __attrs_post_init__(self) -> None:
        self._polled = self._read = self._signature() if self.watch else frozenset()

    def request(self, trigger: str) -> None:
        """Request that the next poll reads the bundle; safe in a signal handler."""
        self._requested = trigger

    def poll(self) -> Reload | None:
        """Read the bundle if that was requested, or if its files have changed and are stable; None if there is nothing new."""
        trigger, self._requested = self._requested, ""
        if not trigger and self.watch and self._changed():
            trigger = "watch"
        if not trigger:
            return None
        examination = self.examine()
        if examination.digest == self.digest and trigger == "watch":
            return None
        self.digest = examination.digest
        return Reload(trigger, examination.digest, examination.bundle, examination.problems)

    def _changed(self) -> bool:
        """True if the files differ from those read last, and have not changed since the last poll."""
        before, self._polled = self._polled, self._signature()
        if self._polled == self._read or self._polled != before:
            return False
        self._read = self._polled
        return True

    def _signature(self) -> Signature:
        return frozenset(_files(self.folder))


def _files(folder: Path) -> Iterator[tuple[str, int, int, int]]:
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        for name in names:
            if name.startswith(".") or name.endswith("~"):
                continue
            path = Path(where, name)
            try:
                status = path.stat()
            except OSError:
                continue
            yield str(path.relative_to(folder)), status.st_size, status.st_mtime_ns, status.st_ino
