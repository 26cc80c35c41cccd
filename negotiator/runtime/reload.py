"""Finds a changed bundle between two cycles: a whole one without errors, or the reason why it is rejected.

The folder is read on request (a signal, a command), and, if it is watched, when its files have changed and then were
unchanged for a while. Watching compares names, sizes and times of the files at each poll, so that it works on network file
systems too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import attrs

from negotiator.bundle import Bundle, BundleCheck
from negotiator.bundle.archive import MANIFEST
from negotiator.defaults import STABLE_SECONDS
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import printable

WATCH = "watch"
_MOVING = Problem(
    Severity.ERROR,
    Source("."),
    "the files of the bundle changed while they were read",
    "reload again when all of them are written",
)


Signature = frozenset[tuple[str, int, int, int, int]]


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
    """Reads the bundle of a folder again when it may have changed. ``examine`` reads and checks the whole folder.

    A change that is found by watching counts once the files have been unchanged for ``stable_seconds``, and only if every
    file of the active bundle is still there and has contents: files that are being written look like a smaller bundle. A
    manifest in the folder lists what belongs to the bundle; with one, files may be removed. On request the folder is read
    as it is.

    :param clock: returns seconds that only increase.
    """

    folder: Path
    examine: Callable[[], BundleCheck]
    watch: bool = False
    stable_seconds: float = STABLE_SECONDS
    clock: Callable[[], float] = time.monotonic
    _digest: str = ""  # of the active bundle, or of the one that was rejected last
    _active: Mapping[str, bytes] = attrs.field(factory=dict)  # the files of the active bundle
    _requested: str = ""
    _polled: Signature = frozenset()
    _since: float = 0.0  # when the signature was first found
    _read: Signature = frozenset()

    def __attrs_post_init__(self) -> None:
        self._polled = self._read = self._signature() if self.watch else frozenset()

    def use(self, bundle: Bundle) -> None:
        """Remember the active bundle, with which the files are compared."""
        self._digest, self._active = bundle.digest, bundle.files

    def request(self, trigger: str) -> None:
        """Request that the next poll reads the bundle; safe in a signal handler."""
        self._requested = trigger

    def poll(self) -> Reload | None:
        """Read the bundle if that was requested, or if its files have changed and are stable; None if there is nothing new."""
        trigger, self._requested = self._requested, ""
        if not trigger and self.watch and self._changed():
            trigger = WATCH
        if not trigger:
            return None
        before = self._signature()
        check = self.examine()
        moving = self._signature() != before
        if trigger == WATCH and (moving or check.digest == self._digest):
            return None
        incomplete = self._incomplete(check) if trigger == WATCH else ()
        if moving:
            incomplete = (_MOVING,)
        self._digest = check.digest
        if incomplete:
            return Reload(trigger, check.digest, None, (*check.problems, *incomplete))
        if check.bundle is not None:
            self.use(check.bundle)
        return Reload(trigger, check.digest, check.bundle, check.problems)

    def _changed(self) -> bool:
        """True if the files differ from those read last, and have not changed for a while."""
        now, found = self.clock(), self._signature()
        if found != self._polled:
            self._polled, self._since = found, now
        if found == self._read or now - self._since < self.stable_seconds:
            return False
        self._read = found
        return True

    def _incomplete(self, check: BundleCheck) -> tuple[Problem, ...]:
        """Return an error for each file of the active bundle that is missing or has become empty."""
        if check.bundle is None or MANIFEST in check.bundle.files:
            return ()
        found = check.bundle.files
        lost = (name for name, content in self._active.items() if content and not found.get(name))
        return tuple(_lost(name, empty=name in found) for name in sorted(lost))

    def _signature(self) -> Signature:
        return frozenset(_files(self.folder))


def _lost(name: str, *, empty: bool) -> Problem:
    what = "is empty" if empty else "is missing"
    message = f"this file of the active bundle {what}: the bundle may be half-written"
    hint = "restore it; if it was removed on purpose, use negotiator admin reload, or send SIGHUP"
    return Problem(Severity.ERROR, Source(printable(name)), message, hint)


def _files(folder: Path) -> Iterator[tuple[str, int, int, int, int]]:
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
            # st_ctime_ns: a file that could not be read may have been given another mode.
            times = status.st_mtime_ns, status.st_ctime_ns
            yield str(path.relative_to(folder)), status.st_size, *times, status.st_ino
