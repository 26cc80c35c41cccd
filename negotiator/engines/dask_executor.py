"""An executor whose functions run on the workers of a Dask cluster."""

from __future__ import annotations

import concurrent.futures
import contextlib
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from functools import partial
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from negotiator.engines.dask_client import dask_client
from negotiator.engines.remote_calls import Answer, CallOutcome, caller_identity, differences, packed

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as DaskFuture

P = ParamSpec("P")
R = TypeVar("R")

#: Carries out a call on a worker. A worker unpickles functions and classes as it reads from its connection, which breaks if it has not got
#: them: so it reads built-in types only, and what is missing is an error of this call.
_ANSWER: Final = (
    "__import__('importlib').import_module('negotiator.engines.remote_calls').answer(expected, call)"
)

#: Calls for each worker: one that runs, and one that waits for it.
_EACH: Final = 2


class DaskExecutor(Executor):
    """Runs functions of modules on the workers of a cluster, which must have the same program and plugins.

    A call whose worker ends is run again on another one, as often as the scheduler allows. A future raises BrokenExecutor, with what to
    do, if no worker could run its call.
    """

    def __init__(self, client: Client, address: str) -> None:
        self._client = client
        self._address = address
        self._calls: dict[Future[Any], DaskFuture[Any]] = {}
        self._stopping = False
        self._workers = self._until_next_look = 0

    def ahead(self) -> int:
        """Return how many calls keep all workers busy: workers may come and go. The scheduler is asked once in as many calls."""
        if self._until_next_look <= 0:
            with contextlib.suppress(OSError):  # a scheduler that has ended ends the calls too
                self._workers = self._worker_count()
            self._until_next_look = _EACH * self._workers
        self._until_next_look -= 1
        return _EACH * max(1, self._workers)

    def note(self) -> str:
        """Return a sentence if there are no workers yet; a cluster may start them as it gets calls."""
        if self._worker_count():
            return ""
        return f"the Dask cluster {self._address} has no workers yet: it waits for some (dask worker {self._address})"

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Send a call to the cluster; it waits there if there is no worker."""
        future: Future[R] = Future()
        names = {"expected": caller_identity(), "call": packed(fn, args, kwargs)}
        call = self._client.submit(eval, _ANSWER, names, pure=False)
        self._calls[future] = call
        call.add_done_callback(partial(self._end, future))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - as the base class
        """Cancel the calls that no worker has begun, and wait for the others."""
        self._stopping = True
        if cancel_futures and self._calls:
            with contextlib.suppress(OSError):
                begun = {key for keys in self._client.processing().values() for key in keys}
                self._client.cancel([call for call in [*self._calls.values()] if call.key not in begun])
        if wait:
            concurrent.futures.wait([*self._calls])

    def _worker_count(self) -> int:
        count: int = self._client.scheduler_info(n_workers=0)["n_workers"]
        return count

    def _end(self, future: Future[Any], call: DaskFuture[Any]) -> None:
        """Give a future the result of its call; this runs in a thread of the client."""
        self._calls.pop(future, None)
        if self._stopping and call.cancelled():
            future.cancel()
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(self._value(call))
        except Exception as error:  # noqa: BLE001 - as any executor does
            future.set_exception(error)

    def _value(self, call: DaskFuture[Any]) -> Any:
        """Return the value of a call that has ended, or raise its exception.

        :raises BrokenExecutor: it could not be run.
        """
        from distributed.scheduler import KilledWorker  # noqa: PLC0415 - optional, and slow to import

        try:
            found: Answer = call.result()
        except KilledWorker as error:
            raise BrokenExecutor(
                f"the workers of {self._address} that had this call ended {error.allowed_failures + 1} times, perhaps for lack of memory: give"
                " them more (dask worker --memory-limit)"
            ) from None
        except CancelledError:
            raise BrokenExecutor(
                f"the Dask scheduler at {self._address} has ended or dropped the call"
            ) from None
        except Exception as error:  # whatever Dask raises if it cannot run a call
            raise BrokenExecutor(
                f"a worker of {self._address} cannot run this program: {type(error).__name__}: {error};"
                " install it and its plugins there, in the same versions"
            ) from error
        outcome, content = found
        if outcome == CallOutcome.REFUSED:
            raise BrokenExecutor(
                f"a worker of {self._address} runs another program: {differences(caller_identity(), content)};"
                " install the same versions there"
            )
        value = pickle.loads(content)  # noqa: S301 - of our own workers
        if outcome == CallOutcome.RAISED:
            raise value
        return value


@contextlib.contextmanager
def dask_executor(address: str) -> Iterator[DaskExecutor]:
    """Return an executor on the cluster of a scheduler, for as long as the context lasts.

    :raises EngineUnavailableError: distributed is not installed, or no scheduler answers.
    """
    with dask_client(address) as client:
        import dask  # noqa: PLC0415 - optional, and slow to import

        # A call brings its recorded cycle along, however large: the scheduler keeps it for a further try.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            executor = DaskExecutor(client, address)
            try:
                yield executor
            finally:
                executor.shutdown(cancel_futures=True)
