"""Starts the worker process (see ``worker``), and asks it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from negotiator_bench.errors import ProcessFailedError

_LAST_WORDS = 500
#: The folder of this package: the process imports it from there.
_PATH = Path(__file__).parents[1]


def library_is_here() -> bool:
    """True if HTCondor's library is installed; it is not imported."""
    return all(importlib.util.find_spec(name) is not None for name in ("htcondor2", "classad2"))


class Worker:
    """A worker process that answers requests; it runs as long as the context."""

    _process: subprocess.Popen[str]
    _errors: TextIO

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._errors = stack.enter_context(
                tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
            )
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "negotiator_bench.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                encoding="utf-8",
                env=os.environ | {"CONDOR_CONFIG": os.devnull, "TZ": "UTC", "PYTHONPATH": str(_PATH)},
            )
            stack.callback(self._end)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _end(self) -> None:
        self._process.kill()
        self._process.communicate()

    def ask(self, method: str, **arguments: Any) -> Any:
        """Send one request and wait for the answer.

        :raises ProcessFailedError: the process ended; its last words are in the message.
        """
        pipes = self._process.stdin, self._process.stdout
        if pipes[0] is None or pipes[1] is None:
            raise ProcessFailedError("the process has no pipes")
        try:
            pipes[0].write(json.dumps([method, arguments]) + "\n")
            pipes[0].flush()
            line = pipes[1].readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise ProcessFailedError(f"the worker process ended during {method}{self._last_words()}")
        return json.loads(line)

    def _last_words(self) -> str:
        self._process.communicate()
        self._errors.seek(0)
        words = "".join(self._errors.read().splitlines()[-1:])[-_LAST_WORDS:]
        return f" (exit code {self._process.returncode}){f': {words}' if words else ''}"
