"""Redirects the output of plugins: what they write to standard output is written to standard error.

What the program prints on standard output may be read by another program. The guard marks the time in which a plugin's
code runs, per thread and task; ``plugin_output_to_stderr`` is installed once, by the command line program. The program
itself prints in one thread only. The mark is not inherited by threads that a plugin starts, so output of all other threads
goes to standard error.

Before the first plugin is loaded, the program moves its standard output to another file descriptor and makes descriptor 1
a copy of standard error: so what a plugin, a library or a process that they start writes there goes to standard error too.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Final, Protocol, Self, TextIO, cast

_STDOUT, _STDERR = 1, 2
#: Seconds after which a call of a plugin's code that goes on is reported, unless the bundle says otherwise.
REPORT_SECONDS: Final = 10.0


class LimitedReads(Protocol):
    """What a plugin may read of jobs (``declared_reads``)."""

    def ad(self, ad: Any) -> Any:
        """Return the ad of a request as the plugin may read it."""


class PluginCall:
    """One call of a plugin's code, as a context; ``subject`` describes it. Each call is an object of its own.

    ``arguments`` are those of a hook. ``longest_step`` are the seconds that it may take without progress. ``reads`` is what the
    plugin may read of jobs, None for everything; ``undeclared`` is the error if it read something else, also if its code caught
    the error. A call that goes on for ``report_seconds`` is reported (``plugin_watch``); ``began`` and ``ended`` are on the
    monotonic clock, and ``outer`` is the call around it.
    """

    __slots__ = (
        "_token",
        "arguments",
        "began",
        "ended",
        "longest_step",
        "outer",
        "reads",
        "report_seconds",
        "subject",
        "undeclared",
    )

    def __init__(
        self,
        subject: object,
        longest_step: float = 0.0,
        reads: LimitedReads | None = None,
        arguments: Mapping[str, Any] | None = None,
        report_seconds: float = REPORT_SECONDS,
    ) -> None:
        self.subject = subject
        self.longest_step = longest_step
        self.reads = reads
        self.arguments = arguments
        self.report_seconds = report_seconds
        self.undeclared: Exception | None = None
        self.ended = 0.0

    def __enter__(self) -> Self:
        self._token = inside_plugin.set(self)
        thread = threading.get_ident()
        self.outer = running_calls.get(thread)
        running_calls[thread] = self
        self.began = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended = time.monotonic()
        if self.outer is None:
            running_calls.pop(threading.get_ident(), None)
        else:
            running_calls[threading.get_ident()] = self.outer
        inside_plugin.reset(self._token)


#: The call of a plugin's code that runs in this context; None while none runs.
inside_plugin: ContextVar[PluginCall | None] = ContextVar("inside_plugin", default=None)
#: The innermost call that runs in each thread, by the thread's ident, for the watch over long calls.
running_calls: dict[int, PluginCall] = {}


class _CheckedCall(PluginCall):
    """A call that raises what its code read without having declared it."""

    __slots__ = ()

    def __exit__(self, *failure: object) -> None:
        super().__exit__(*failure)
        if failure[0] is None and self.undeclared is not None:
            raise self.undeclared


def running_plugin(
    subject: str, longest_step: float = 0.0, reads: LimitedReads | None = None
) -> AbstractContextManager[PluginCall]:
    """Mark the time in which code of a plugin runs. The guard makes a ``PluginCall`` itself, which checks nothing.

    A call with a ``longest_step`` is a part of a pool's source, which notes its own progress.

    :raises UndeclaredReadError: it read an attribute of jobs that it may not read, and caught the error.
    """
    report_seconds = float("inf") if longest_step else REPORT_SECONDS
    return _CheckedCall(subject, longest_step, reads, report_seconds=report_seconds)


@contextmanager
def outside_plugin() -> Iterator[None]:
    """Mark the time in which a plugin's code waits for the program's own, which may read everything of jobs."""
    token = inside_plugin.set(None)
    try:
        yield
    finally:
        inside_plugin.reset(token)


@contextmanager
def plugin_output_to_stderr() -> Iterator[None]:
    """Send what plugins and other threads than this one print to standard error, as long as the context lasts."""
    _occupy_standard_descriptors()
    stdout = sys.stdout
    # Without standard output its descriptor is the null device now.
    routed = _RoutedOutput(os.fdopen(_STDOUT, "w", closefd=False) if stdout is None else stdout)
    sys.stdout = cast("TextIO", routed)
    try:
        yield
    finally:
        sys.stdout = stdout
        routed.restore()


def protect_descriptor() -> None:
    """Take standard output away from file descriptor 1, if the program has one there: before code of a plugin runs."""
    if isinstance(sys.stdout, _RoutedOutput):
        sys.stdout.move()


class _RoutedOutput:
    """Standard output, to the thread that made it unless code of a plugin runs in it; standard error to all others.

    Each attribute is looked up on the stream that applies at that moment.
    """

    def __init__(self, stdout: TextIO) -> None:
        self._stdout = self._given = stdout
        self._thread = threading.get_ident()

    def __getattr__(self, name: str) -> Any:
        is_own = threading.get_ident() == self._thread and inside_plugin.get() is None
        return getattr(self._stdout if is_own else sys.stderr, name)

    def move(self) -> None:
        """Write to a copy of descriptor 1 from now on, and make descriptor 1 a copy of standard error."""
        if self._stdout is not self._given or not _is_descriptor_1(self._given):
            return
        self._given.flush()
        self._stdout = os.fdopen(
            os.dup(_STDOUT),
            "w",
            encoding=self._given.encoding,
            errors=self._given.errors,
            buffering=1 if self._given.isatty() else -1,
        )
        os.dup2(_STDERR, _STDOUT)

    def restore(self) -> None:
        """Give descriptor 1 back its file."""
        if self._stdout is self._given:
            return
        copy, self._stdout = self._stdout, self._given
        try:
            copy.flush()
        finally:
            os.dup2(copy.fileno(), _STDOUT)
            with suppress(OSError):  # as the flush has reported
                copy.close()


def _is_descriptor_1(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.fileno() == _STDOUT
    except (OSError, ValueError, AttributeError):  # a stream of a test, in memory
        return False


def _occupy_standard_descriptors() -> None:
    """Open the null device where standard input, output or error are closed: no other file may get their numbers."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        pass
    os.close(descriptor)
