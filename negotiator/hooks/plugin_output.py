"""Redirects the output of plugins: text that hooks write to standard output is written to standard error.

Another program may read the standard output of this one. The guard marks the time in which a plugin's
code runs, per thread and task; ``plugin_output_to_stderr`` is installed once, by the command line program. The program
itself prints in one thread only. The mark is not inherited by threads that a plugin starts, so output of all other threads
goes to standard error.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TextIO, cast

#: True while code of a plugin runs in this context.
inside_plugin: ContextVar[bool] = ContextVar("inside_plugin", default=False)


@contextmanager
def running_plugin() -> Iterator[None]:
    """Mark the time in which code of a plugin runs. The guard sets ``inside_plugin`` itself, which is faster."""
    token = inside_plugin.set(True)
    try:
        yield
    finally:
        inside_plugin.reset(token)


@contextmanager
def plugin_output_to_stderr() -> Iterator[None]:
    """Send what plugins and other threads than this one print to standard error, as long as the context lasts."""
    stdout = sys.stdout
    sys.stdout = cast("TextIO", _RoutedOutput(stdout))
    try:
        yield
    finally:
        sys.stdout = stdout


class _RoutedOutput:
    """Writes to standard output in the thread that made it, unless a plugin's code runs there; else to standard error.

    Each attribute is looked up on the stream that applies at that moment.
    """

    def __init__(self, stdout: TextIO) -> None:
        self._stdout = stdout
        self._thread = threading.get_ident()

    def __getattr__(self, name: str) -> Any:
        is_own = threading.get_ident() == self._thread and not inside_plugin.get()
        return getattr(self._stdout if is_own else sys.stderr, name)
