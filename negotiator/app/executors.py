"""Where the functions of a batch run: in this process, or in several."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

import attrs

P = ParamSpec("P")
R = TypeVar("R")


@attrs.frozen
class Workers:
    """An executor, and how many calls it is given before the first of them has ended."""

    executor: Executor
    ahead: int


class CallingThread(Executor):
    """Runs each function at once, in the thread that submits it."""

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Run a function; Ctrl-C is raised at once."""
        future: Future[R] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - as any executor does
            future.set_exception(error)
        return future


@contextmanager
def workers(count: int) -> Iterator[Workers]:
    """Start so many processes, for as long as the context lasts; 1 is this process."""
    if count == 1:
        yield Workers(CallingThread(), 1)
        return
    # A fork would copy locks that threads of the program hold.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=spawn, initializer=_begin_worker) as executor:
        yield Workers(executor, 2 * count)


def _begin_worker() -> None:
    """Leave Ctrl-C to the process that waits for the results, and standard output to what it prints."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)
