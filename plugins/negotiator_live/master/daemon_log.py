"""NegotiatorLog and MatchLog: the lines of condor_negotiator that administrators and scripts search for, in files that do not grow for ever.

This program's own lines (``negotiator serve --log-header``) are in NegotiatorLog too. A log is replaced when it is full, or was moved away.
Source: ``_format_global_header`` (``dprintf.cpp``), ``dprintf_config.cpp`` (also for limits), ``log_rotate.cpp`` (names of old logs),
``dc_main`` (``daemon_core_main.cpp``).
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

import attrs

from negotiator.plugin import local_time, printable
from negotiator_live.master.handover import Handover
from negotiator_live.versions import PLATFORM, VERSION

_MODE: Final = 0o644
_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)  # missing on Windows
_STANDARD: Final = (1, 2)
_LIMIT: Final = re.compile(r"\s*(\d{1,18})\s*([A-Za-z]*)\s*", re.ASCII)
_BYTES: Final = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SECONDS: Final = {"S": 1, "MI": 60, "H": 3600, "D": 86400, "W": 7 * 86400}
_OLD: Final = re.compile(r"\d{8}T\d{6}", re.ASCII)
_DESCRIPTORS: Final = "/proc/self/fd"
_STANDARD_ERROR: Final = 2
_STARS: Final = "*" * 54
_WORD: Final = re.compile(r"(-?)(D_[A-Z_]+)(?::(\d))?", re.ASCII)
_EVERYTHING: Final = ("D_ALL", "D_ANY")
#: What each setting puts after the time, in this order.
_AFTER_TIME: Final = {"D_PID": "(pid:{pid}) ", "D_CATEGORY": "({category}) ", "D_CAT": "({category}) "}


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


class LogCategory(StrEnum):
    """A category of lines, by the name that ``NEGOTIATOR_DEBUG`` has for it. ``FULLDEBUG`` is the verbose half of ``ALWAYS``."""

    ALWAYS = "D_ALWAYS"
    STATUS = "D_STATUS"
    ERROR = "D_ERROR"
    MATCH = "D_MATCH"
    FULLDEBUG = "D_FULLDEBUG"


#: Categories that are always written, as by condor_negotiator.
_ALWAYS: Final = frozenset({LogCategory.ALWAYS, LogCategory.STATUS, LogCategory.ERROR})

#: A line: its category and its text.
LogLine = tuple[LogCategory, str]


@attrs.frozen
class LogForm:
    """Which lines are written, and how each begins.

    ``time`` is a pattern of ``local_time``; ``categories`` are those that are written.
    """

    time: str = "%m/%d/%y %H:%M:%S"
    categories: frozenset[LogCategory] = _ALWAYS
    flags: frozenset[str] = frozenset()

    @classmethod
    def of(cls, handover: Handover) -> Self:
        """Return the form of the settings that are handed on; words of ``debug`` that are unknown here change nothing."""
        flags: set[str] = set()
        for minus, name, level in _WORD.findall(handover.debug.upper()):
            names = {name, *(LogCategory if name in _EVERYTHING else ())}
            if name == LogCategory.ALWAYS and level == "2":
                names.add(LogCategory.FULLDEBUG)
            flags = flags - names if minus or level == "0" else flags | names
        has_seconds = handover.logs_use_timestamp or "D_TIMESTAMP" in flags
        pattern = "%s" if has_seconds else handover.debug_time_format.strip('"') or cls().time
        pattern += ".%3N" if "D_SUB_SECOND" in flags else ""
        written = _ALWAYS | {each for each in LogCategory if each in flags}
        return cls(pattern, written, frozenset(flags))

    def header(self, category: LogCategory) -> str:
        """Return the beginning of a line, as a pattern of ``local_time``."""
        shown = "D_ALWAYS:2" if category is LogCategory.FULLDEBUG else category
        after = dict.fromkeys(text for flag, text in _AFTER_TIME.items() if flag in self.flags)
        return f"{self.time} " + "".join(after).format(pid=os.getpid(), category=shown)


@attrs.frozen(eq=False)
class DaemonLog:
    """Writes lines of the pool: into the log of the program, and those of matches into MatchLog too.

    ``form`` is None if nothing is written. ``match_log`` is None without that file.
    """

    form: LogForm | None = None
    match_log: LogFile | None = None
    clock: Callable[[], float] = time.time

    @classmethod
    def of(cls, handover: Handover) -> Self:
        """Return the log of the settings that were handed on. MatchLog is opened; if it cannot be, it stays closed."""
        form = LogForm.of(handover)
        if not handover.match_log:
            return cls(form)
        limit = LogLimit.parse(handover.match_log_limit)
        match_log = LogFile(Path(handover.match_log), limit, handover.match_logs_kept, standard=False)
        try:
            match_log.begin()
        except OSError as error:
            log = cls(form)
            log.write(f"ERROR: {match_log.path}: {error.strerror or error}: matches are not written there")
            return log
        return cls(form, match_log)

    def write(self, text: str, category: LogCategory = LogCategory.ALWAYS) -> None:
        """Write a line. Characters that are not printable are replaced: names come from ads, and users write ads."""
        self.write_all([(category, text)])

    def write_all(self, lines: Iterable[LogLine]) -> None:
        """Write lines, without a line of another thread in between."""
        if self.form is None:
            return
        now, headers = self.clock(), dict[LogCategory, str]()
        written: dict[int, list[str]] = {}
        for category, text in lines:
            where = [_STANDARD_ERROR] if category in self.form.categories else []
            if category is LogCategory.MATCH and self.match_log is not None:
                where.append(self.match_log.descriptor)
            if where and category not in headers:
                headers[category] = local_time(self.form.header(category), now)
            for descriptor in where:
                written.setdefault(descriptor, []).append(f"{headers[category]}{printable(text)}\n")
        for descriptor, texts in written.items():
            _write(descriptor, "".join(texts).encode(errors="replace"))


def _write(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def banner(program: str, local_name: str) -> Iterator[str]:
    """Yield the lines with which a daemon of HTCondor begins; ``condor_who`` reads the process id between them."""
    yield _STARS
    yield f"** {Path(program).name} (CONDOR_NEGOTIATOR) STARTING UP"
    yield f"** {program}"
    yield "** SubsystemInfo: name=NEGOTIATOR type=NEGOTIATOR(3) class=DAEMON(1)"
    yield f"** Configuration: subsystem:NEGOTIATOR local:{local_name or '<NONE>'} class:DAEMON"
    yield f"** {VERSION}"
    yield f"** {PLATFORM}"
    yield f"** PID = {os.getpid()}"  # condor_who takes the whole rest of the line for the number
    yield "** Log last touched time unavailable"
    yield _STARS


@functools.cache
def daemon_log(handover: Handover | None) -> DaemonLog:
    """Return the log of this process, whose MatchLog is opened once; without condor_master one that writes nothing."""
    return DaemonLog() if handover is None else DaemonLog.of(handover)
