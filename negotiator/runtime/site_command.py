"""Runs a command of the site without a shell, with a deadline, in a process group of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

import attrs

#: Variables of the environment that a command gets; the others may name files and keys of the negotiator.
_ENVIRONMENT = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "TZ", "USER")


@attrs.define(eq=False)
class SiteCommand:
    """A command that was started; ``seconds`` is its deadline."""

    seconds: float
    _process: subprocess.Popen[bytes] | None
    _end: float
    _failure: str = ""

    @classmethod
    def start(cls, words: Sequence[str], content: bytes, seconds: float) -> Self:
        """Start a command, which reads ``content`` as its standard input; its output is discarded."""
        end = time.monotonic() + seconds
        try:
            with tempfile.TemporaryFile() as given:  # a pipe could fill, and block
                given.write(content)
                given.seek(0)
                process = subprocess.Popen(  # noqa: S603 - no shell, and the words are those of the bundle
                    list(words),
                    stdin=given,
                    stdout=subprocess.DEVNULL,
                    env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
                    cwd="/",
                    start_new_session=True,
                )
        except (OSError, ValueError) as error:
            return cls(seconds, None, end, f"it could not be started: {error}")
        return cls(seconds, process, end)

    def ended(self) -> str | None:
        """Return why the command failed, empty if it did not, or None while it runs; end it after its deadline."""
        if self._process is None:
            return self._failure
        status = self._process.poll()
        if status is None and time.monotonic() >= self._end:
            return self._give_up()
        if status is None:
            return None
        return f"it ended with status {status}" if status else ""

    def wait(self) -> str:
        """Wait for the end of the command, at most until its deadline; return why it failed, empty if it did not."""
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(max(0.0, self._end - time.monotonic()))
        found = self.ended()
        return self._give_up() if found is None else found

    def _give_up(self) -> str:
        """Kill the command, and all that it started."""
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process, self._failure = None, f"it was ended after {self.seconds:g} s"
        return self._failure
