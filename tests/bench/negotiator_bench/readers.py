"""Readers of the HTTP interface, as browsers are: each has a connection that stays open, and reads one path after the other.

Run as a module this is the process that reads, until its standard input ends; it then prints the ``Readings`` as JSON.
Its argument is the ``ReadingPlan``, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Final
from urllib.parse import urlsplit

import attrs

from negotiator_bench.errors import ProcessFailedError

_LENGTH: Final = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)
_END: Final = b"\r\n\r\n"
_PATIENCE: Final = 60  # seconds
_AGAIN: Final = 0.1  # seconds until a connection is tried again


@attrs.frozen
class ReadingPlan:
    """What so many readers request from a service. ``pause`` are the seconds between two requests of a reader, 0 for none."""

    address: str
    paths: tuple[str, ...]
    readers: int
    pause: float


@attrs.frozen
class Readings:
    """What readers got: answers, those that were not 200 or lost, answers a second, and seconds until they were complete."""

    answers: int
    failures: int
    rate: float
    median: float
    slowest: float  # of 99 in 100
    megabytes: float  # a second


@contextmanager
def reading(plan: ReadingPlan) -> Iterator[list[Readings]]:
    """Let a process read while the block runs; the list has its readings afterwards.

    :raises ProcessFailedError: the process failed.
    """
    command = [sys.executable, "-m", "negotiator_bench.readers", json.dumps(attrs.asdict(plan))]
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    found: list[Readings] = []
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603 - our own module
        try:
            yield found
        except BaseException:
            process.kill()
            raise
        try:
            printed, _ = process.communicate(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise ProcessFailedError("the readers got no answer") from None
    if process.returncode:
        raise ProcessFailedError("the readers failed")
    found.append(Readings(**json.loads(printed)))


@attrs.define(eq=False)
class _Reader(asyncio.Protocol):
    """Sends one request after the other, and reads each answer to its end.

    As browsers do, it connects again if its connection ends, and repeats a request without any answer.
    """

    address: tuple[str, int]
    requests: Iterator[bytes]
    pause: float
    seconds: list[float]
    received: int = 0
    failures: int = 0
    _transport: asyncio.Transport | None = None
    _task: asyncio.Task[None] | None = None
    _request: bytes = b""  # the one that is not answered yet
    _begun: float = 0.0
    _head: bytes = b""
    _left: int = 0
    _is_good: bool = False
    _is_closed: bool = False

    async def connect(self) -> None:
        """Connect; it is tried until it succeeds."""
        while self._transport is None:
            try:
                await asyncio.get_running_loop().create_connection(lambda: self, *self.address)
            except OSError:
                self.failures += 1
                await asyncio.sleep(_AGAIN)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
            if self._request:
                transport.write(self._request)

    def request(self) -> None:
        """Send the next request; if there is no connection, once there is one."""
        self._begun, self._request = time.perf_counter(), next(self.requests)
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        if self._left:
            self._left -= len(data)
        else:
            self._head += data
            if _END not in self._head:
                return
            head, _, body = self._head.partition(_END)
            length = _LENGTH.search(head + b"\r\n")
            self._is_good = head.startswith(b"HTTP/1.1 200 ")
            self._left, self._head = (int(length[1]) if length else 0) - len(body), b""
        if not self._left:
            self._end(is_good=self._is_good)

    def _end(self, *, is_good: bool) -> None:
        """Count an answer; plan the next request."""
        now = time.perf_counter()
        self.seconds.append(now - self._begun)
        self.failures += not is_good
        self._request = b""
        asyncio.get_running_loop().call_later(max(self.pause - (now - self._begun), 0), self.request)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._transport = None
        if self._is_closed:
            return
        if self._head or self._left:  # a part of an answer
            self._head, self._left = b"", 0
            self._end(is_good=False)
        self._task = asyncio.get_running_loop().create_task(self.connect())

    def close(self) -> None:
        """End the connection; it is not counted as lost."""
        self._is_closed = True
        if self._transport is not None:
            self._transport.close()


async def _read(plan: ReadingPlan) -> Readings:
    url = urlsplit(plan.address)
    requests = [
        f"GET {path} HTTP/1.1\r\nHost: {url.netloc}\r\nAccept-Encoding: gzip\r\n\r\n".encode()
        for path in plan.paths
    ]
    seconds: list[float] = []
    readers: list[_Reader] = []
    begun = time.perf_counter()
    for number in range(plan.readers):
        # Each begins with another path, at another time.
        own = islice(cycle(requests), number % len(requests), None)
        reader = _Reader((url.hostname or "", url.port or 80), own, plan.pause, seconds)
        readers.append(reader)
        await reader.connect()
        reader.request()
        await asyncio.sleep(plan.pause / plan.readers)
    await asyncio.to_thread(sys.stdin.read)
    passed = time.perf_counter() - begun
    for reader in readers:
        reader.close()
    order = sorted(seconds) or [passed]  # no answer took less
    return Readings(
        len(seconds),
        sum(reader.failures for reader in readers),
        len(seconds) / passed,
        median(order),
        order[int(len(order) * 0.99)],
        sum(reader.received for reader in readers) / passed / 1e6,
    )


if __name__ == "__main__":
    sys.stdout.write(json.dumps(attrs.asdict(asyncio.run(_read(ReadingPlan(**json.loads(sys.argv[1])))))))
