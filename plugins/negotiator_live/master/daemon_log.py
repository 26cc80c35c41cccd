"""NegotiatorLog and MatchLog: the lines of condor_negotiator that administrators and scripts search for.

This program's own lines (``negotiator serve --log-header``) are in NegotiatorLog too. Source: ``_format_global_header``
(``dprintf.cpp``), ``dprintf_config.cpp``, ``dc_main`` (``daemon_core_main.cpp``).
"""

from __future__ import annotations

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
from negotiator_live.master.log_file import LogFile, LogLimit
from negotiator_live.versions import PLATFORM, VERSION

_STANDARD_ERROR: Final = 2
_STARS: Final = "*" * 54
_WORD: Final = re.compile(r"(-?)(D_[A-Z_]+)(?::(\d))?", re.ASCII)


class LogCategory(StrEnum):
    """A category of lines, by the name that ``NEGOTIATOR_DEBUG`` has for it. ``FULLDEBUG`` is the verbose half of ``ALWAYS``."""

    ALWAYS = "D_ALWAYS"
    STATUS = "D_STATUS"
    ERROR = "D_ERROR"
    MATCH = "D_MATCH"
    FULLDEBUG = "D_FULLDEBUG"


#: Categories that are always written, as by condor_negotiator.
_ALWAYS: Final = frozenset({LogCategory.ALWAYS, LogCategory.STATUS, LogCategory.ERROR})
_EVERYTHING: Final = ("D_ALL", "D_ANY")
#: What each setting puts after the time, in this order.
_AFTER_TIME: Final = {"D_PID": "(pid:{pid}) ", "D_CATEGORY": "({category}) ", "D_CAT": "({category}) "}

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
