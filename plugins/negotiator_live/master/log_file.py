"""The logs of this daemon, such as its standard output and error: replaced when they are full, or were moved away.

Source: ``dprintf_config.cpp`` (limits), ``dprintf.cpp`` and ``log_rotate.cpp`` (names of old logs).
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

import attrs

from negotiator.plugin import printable
from negotiator_live.master.handover import Handover

_MODE: Final = 0o644
_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)  # missing on Windows
_STANDARD: Final = (1, 2)
_LIMIT: Final = re.compile(r"\s*(\d{1,18})\s*([A-Za-z]*)\s*", re.ASCII)
_BYTES: Final = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SECONDS: Final = {"S": 1, "MI": 60, "H": 3600, "D": 86400, "W": 7 * 86400}
_OLD: Final = re.compile(r"\d{8}T\d{6}", re.ASCII)
_DESCRIPTORS: Final = "/proc/self/fd"


@attrs.frozen
class LogLimit:
    """When a log is full: at so many bytes, or when a period of so many seconds since the epoch has ended; 0 for never."""

    size: int = 0
    period: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the limit of a setting such as ``10 Mb``, ``100000`` or ``1 day``.

        :raises ValueError: it has another form.
        """
        found = _LIMIT.fullmatch(text)
        if found is None:
            raise ValueError(
                f"expected a size or a time, such as 10 Mb or 1 day, not {printable(text[:200])!r}"
            )
        number, unit = int(found[1]), found[2]
        start = unit[:2].upper()
        if unit == "m" or (start == "MI" and unit[2:3].upper() != "B"):
            return cls(period=number * _SECONDS["MI"])
        if start[:1] in _SECONDS:
            return cls(period=number * _SECONDS[start[:1]])
        return cls(size=number * _BYTES.get(start[:1], 1))


@attrs.define(eq=False)
class LogFile:
    """A log of this daemon: the file to which standard output and error go (``standard``), or one with a descriptor of its own.

    ``kept`` old logs remain: ``NAME.old``, or, if there are several, each with the time at which it was replaced.
    ``descriptor`` is where its lines are written, after ``begin``.

    :param clock: returns the time in seconds since the epoch.
    """

    path: Path
    limit: LogLimit = LogLimit()
    kept: int = 1
    clock: Callable[[], float] = time.time
    standard: bool = attrs.field(default=True, kw_only=True)
    descriptor: int = attrs.field(default=_STANDARD[0], init=False)
    _since: float | None = attrs.field(default=None, init=False)

    @classmethod
    def of(cls, handover: Handover) -> Self:
        """Return the log that was handed on.

        :raises ValueError: the limit is invalid.
        """
        return cls(Path(handover.log), LogLimit.parse(handover.log_limit), handover.logs_kept)

    def begin(self) -> None:
        """Open the file, for standard output and error if it is theirs; one that is full is replaced before.

        :raises OSError: the file cannot be opened.
        """
        with contextlib.suppress(FileNotFoundError):
            if self._is_full(self.path.stat()):
                self._put_away()
        log = os.open(self.path, _FLAGS, _MODE)
        if not self.standard:
            self.descriptor = log
            return
        for each in _STANDARD:
            os.dup2(log, each)
        os.close(log)

    def look(self) -> None:
        """Replace the file if it is full, and open a new one if it was moved away.

        What is written meanwhile is in the old one or in the new one.

        :raises OSError: no new file can be opened: the old one stays in use.
        """
        present = os.fstat(self.descriptor)
        try:
            is_moved = not os.path.samestat(present, self.path.stat())
        except FileNotFoundError:
            is_moved = True
        if is_moved:
            self._reopen(present)
        elif self._is_full(present):
            away = self._put_away()
            try:
                self._reopen(present)
            except OSError:
                away.rename(self.path)
                raise

    def _is_full(self, status: os.stat_result) -> bool:
        size, period = self.limit.size, self.limit.period
        if self._since is None:
            self._since = status.st_mtime
        if self.kept > 1 and self._away().exists():
            return False  # the last one was replaced in this very second
        has_ended = bool(period) and self.clock() // period > self._since // period
        return has_ended or bool(size and status.st_size >= size)

    def _put_away(self) -> Path:
        """Rename the file, and remove old ones; return the new name."""
        now, away = self.clock(), self._away()
        self._since = now
        self.path.replace(away)
        for each in self._old()[: -self.kept] if self.kept > 1 else ():
            each.unlink(missing_ok=True)
        return away

    def _away(self) -> Path:
        """Return the name of the next old log."""
        suffix = time.strftime("%Y%m%dT%H%M%S", time.localtime(self.clock())) if self.kept > 1 else "old"
        return self.path.with_name(f"{self.path.name}.{suffix}")

    def _old(self) -> list[Path]:
        """Return the old logs with a time in their names, the oldest first."""
        found = self.path.parent.glob(f"{self.path.name}.*")
        return sorted(each for each in found if _OLD.fullmatch(each.name.removeprefix(f"{self.path.name}.")))

    def _reopen(self, old: os.stat_result) -> None:
        """Let all descriptors of the old file be of a new one."""
        log = os.open(self.path, _FLAGS, _MODE)
        try:
            for each in [int(entry.name) for entry in Path(_DESCRIPTORS).iterdir()]:
                with contextlib.suppress(OSError):  # another thread has closed it
                    if each != log and os.path.samestat(os.fstat(each), old):
                        os.dup2(log, each, inheritable=os.get_inheritable(each))
        finally:
            os.close(log)
