"""Clients that hold connections and do nothing useful: they are silent, send a byte now and then, or do not take their answers.

Run as a module this is the process that has them, until its standard input ends. Its arguments are the address of the service and
the ``SlowClients``, as JSON. For each connection that is closed it opens another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

import attrs

_PAUSE: Final = 0.5  # seconds between two bytes, and until a connection is opened again
_HEAD: Final = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
_LARGE: Final = b"GET /pool/queues HTTP/1.1\r\nHost: localhost\r\n\r\n"
_PATIENCE: Final = 60


#: What a client does with its connection.
Behaviour: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@attrs.frozen
class SlowClients:
    """Numbers of clients: silent ones, those that send a byte of a request now and then, and those that never read."""

    silent: int
    dribbling: int
    deaf: int

    def __str__(self) -> str:
        return f"{self.silent:,} silent, {self.dribbling} slow, {self.deaf} deaf clients"


@contextlib.contextmanager
def slow_clients(address: str, clients: SlowClients) -> Iterator[None]:
    """Have slow clients while the block runs."""
    command = [
        sys.executable,
        "-m",
        "negotiator_bench.slow_clients",
        address,
        json.dumps(attrs.asdict(clients)),
    ]
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE) as process:  # noqa: S603 - our own module
        try:
            yield
        finally:
            process.communicate(timeout=_PATIENCE)


async def _silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def _dribbling(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    for byte in _HEAD + b"x" * 1000:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(_PAUSE)


async def _deaf(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.pause_reading()  # type: ignore[attr-defined] # of the transport of a socket
    writer.write(_LARGE)
    while not writer.transport.is_closing():
        await asyncio.sleep(_PAUSE)
        writer.write(_LARGE)
        await writer.drain()


async def _again_and_again(host: str, port: int, behave: Behaviour) -> None:
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection(host, port, limit=1024)
            try:
                await behave(reader, writer)
            finally:
                writer.transport.abort()
        await asyncio.sleep(_PAUSE)


async def _run(address: str, clients: SlowClients) -> None:
    url = urlsplit(address)
    kinds: Sequence[Behaviour] = (
        [_silent] * clients.silent + [_dribbling] * clients.dribbling + [_deaf] * clients.deaf
    )
    tasks = [
        asyncio.create_task(_again_and_again(url.hostname or "", url.port or 80, kind)) for kind in kinds
    ]
    await asyncio.to_thread(sys.stdin.read)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(_run(sys.argv[1], SlowClients(**json.loads(sys.argv[2]))))
