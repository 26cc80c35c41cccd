"""Where the functions of a batch run: in this process, in several, or on the workers of a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

import attrs

from negotiator.engines.choice import EngineChoice, EngineKind
from negotiator.engines.dask_executor import dask_executor
from negotiator.errors import CommandError

P = ParamSpec("P")
R = TypeVar("R")


@attrs.frozen
class BatchWorkers:
    """An executor for one batch, and how many calls it is given before the first of them has ended.

    ``elsewhere`` if its workers may run on other machines, which do not have the files of this one. ``note``
    is for whoever waits for the results, empty if there is nothing to say.
    """

    executor: Executor
    ahead: Callable[[], int]
    elsewhere: bool = False
    note: str = ""

    def results(
        self, calls: Iterator[Future[R]], late: Callable[[R], None] = lambda _: None
    ) -> Generator[R, None, None]:
        """Yield the results of calls in their order; only a few calls are begun and not yet yielded.

        If the iteration ends early, no further call is begun.

        :param calls: begins a call on the executor whenever it is asked for the next one.
        :param late: called with the results of those that were begun, if the iteration ends early.
        :raises CommandError: a worker ended.
        """
        begun: deque[Future[R]] = deque()
        try:
            while True:
                with _describing_broken_workers():  # a call cannot be begun either if a process has ended
                    while len(begun) < self.ahead() and (call := next(calls, None)) is not None:
                        begun.append(call)
                    if not begun:
                        return
                    result = begun[0].result()
                begun.popleft()
                yield result
        finally:
            if begun:
                self.executor.shutdown(cancel_futures=True)
                for each in begun:
                    if not each.cancelled() and each.exception() is None:
                        late(each.result())


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
def workers(engine: EngineChoice) -> Iterator[BatchWorkers]:
    """Start the workers of an engine, for as long as the context lasts; of Dask, connect to them.

    :raises EngineUnavailableError: the workers cannot be reached.
    """
    if engine.kind is EngineKind.LOCAL:
        yield BatchWorkers(CallingThread(), lambda: 1)
    elif engine.kind is EngineKind.PROCESSES:
        # A fork would copy locks that threads of the program hold.
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(engine.number, mp_context=spawn, initializer=_begin_worker) as pool:
            yield BatchWorkers(pool, lambda: 2 * engine.number)
    else:
        with dask_executor(engine.address) as cluster:
            yield BatchWorkers(cluster, cluster.ahead, elsewhere=True, note=cluster.note())


def _begin_worker() -> None:
    """Leave Ctrl-C to the process that waits for the results, and standard output to what it prints."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)


@contextmanager
def _describing_broken_workers() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool:
        raise CommandError(
            "a worker process ended, perhaps for lack of memory: use fewer processes (--engine processes:N)"
        ) from None
    except BrokenExecutor as error:
        raise CommandError(str(error)) from None
