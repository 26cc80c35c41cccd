"""Another bundle in place of the one that is active: all of it, checked, between two cycles; or nothing.

It is looked for when somebody asks (a signal, a command), and where the folder is watched, when its files changed.
Watching looks at names, sizes and times of the files every time it is asked, so that it works on network file systems
as well.
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
    """What came of looking for another bundle: it, or what is wrong with it. ``how`` says who asked."""

    trigger: str
    digest: str
    bundle: Bundle | None
    problems: tuple[Problem, ...] = ()
    queue_warnings: tuple[Problem, ...] = ()  # those of its problems that are of queues in use

    @property
    def errors(self) -> tuple[Problem, ...]:
        """Why it was refused."""
        return tuple(each for each in self.problems if each.severity is Severity.ERROR)


@attrs.define(eq=False)
class Reloader:
    """Looks for another bundle in a folder. ``examine`` reads the folder and checks everything in it."""

    folder: Path
    digest: str  # of the bundle that is active, or of the one that was refused last
    examine: Callable[[], BundleCheck]
    watch: bool = False
    _wanted: str = ""
    _seen: Signature = frozenset()
    _settled: Signature = frozenset()

    def __attrs_post_init__(self) -> None:
        self._seen = self._settled = self._signature() if self.watch else frozenset()

    def request(self, trigger: str) -> None:
        """Ask for a look at the next opportunity; safe in a signal handler."""
        self._wanted = trigger

    def poll(self) -> Reload | None:
        """Look, if somebody asked or the files changed and are not changing any more; None where nothing is new."""
        trigger, self._wanted = self._wanted, ""
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
        """Whether the files are others than when they were read, and the same as at the last look."""
        before, self._seen = self._seen, self._signature()
        if self._seen == self._settled or self._seen != before:
            return False
        self._settled = self._seen
        return True

    def _signature(self) -> Signature:
        return frozenset(_files(self.folder))


def _files(folder: Path) -> Iterator[tuple[str, int, int, int]]:
    for where, below, names in os.walk(folder):
        below[:] = [name for name in below if not name.startswith(".") and name != "__pycache__"]
        for name in names:
            if name.startswith(".") or name.endswith("~"):
                continue
            path = Path(where, name)
            try:
                found = path.stat()
            except OSError:
                continue
            yield str(path.relative_to(folder)), found.st_size, found.st_mtime_ns, found.st_ino
