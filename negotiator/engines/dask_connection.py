"""A client of Dask that gives up in time, in an event loop that ends with it.

Imported when a cluster is used: ``distributed`` is optional, and slow to import.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Final

from distributed import Client, Security
from tornado.ioloop import IOLoop

#: How long a client may take to tell its scheduler that it ends, in seconds: it waits in vain if the scheduler is lost.
_GOODBYE: Final = 2.0
#: A client notices most failures in its own time, with a reason; this is for the others, in seconds.
_GRACE: Final = 0.5


class BoundedClient(Client):
    """A client whose start ends in time, whatever the scheduler does.

    Dask limits the time for the connection alone: a scheduler that is stopped, or anything else that accepts a connection
    and does not answer, would be waited for forever.
    """

    async def _start(self, timeout: Any = None, **more: Any) -> Any:  # noqa: ASYNC109 - as in Dask
        try:
            async with asyncio.timeout(timeout + _GRACE):
                return await super()._start(timeout=timeout, **more)  # type: ignore[no-untyped-call]
        except Exception:
            await self._close(fast=True)  # Dask does so for some errors only
            raise

    async def _close(self, fast: bool = False) -> None:  # noqa: FBT001, FBT002 - as in Dask
        try:
            async with asyncio.timeout(_GOODBYE):
                await super()._close(fast=fast)
        except TimeoutError:
            self.status = "closed"


@contextmanager
def connection(address: str, security: Security | None, seconds: float) -> Iterator[Client]:
    """Connect to a scheduler, for as long as the context lasts.

    :raises Exception: whatever Dask raises, after ``seconds`` at most.
    """
    with _event_loop() as loop:
        client = BoundedClient(
            address,
            loop=loop,
            security=security,
            timeout=seconds,
            set_as_default=False,
            direct_to_workers=True,
        )
        try:
            yield client
        finally:
            # A program that ends without closing its engine has no threads any more that could close it.
            if not sys.is_finalizing():
                client.close()


@contextmanager
def _event_loop() -> Iterator[IOLoop]:
    """Run an event loop in a thread. Dask would leave its own running after a connection that failed."""
    started: Future[tuple[IOLoop, asyncio.Event]] = Future()

    async def run() -> None:
        stop = asyncio.Event()
        started.set_result((IOLoop.current(), stop))
        await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(run(),), name="negotiator-dask", daemon=True)
    thread.start()
    loop, stop = started.result()
    try:
        yield loop
    finally:
        loop.add_callback(stop.set)
        thread.join(_GOODBYE)
