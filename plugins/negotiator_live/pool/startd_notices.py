"""Tells startds of the matches of their slots before schedds claim them (NEGOTIATOR_INFORM_STARTD).

A slot then enters the state Matched, until its schedd claims it or its MATCH_TIMEOUT is over. Nobody waits for a startd: one that does not
listen delays no schedd, and its slot is claimed without the notice. Source: ``NotifyStartdOfMatchHandler`` (``dc_startd.cpp``).
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from negotiator_live.security.client import SecureClient
from negotiator_live.wire.addresses import AddressError, DaemonAddress
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import DaemonError
from negotiator_live.wire.exchange import DaemonKind, Deadline, Exchange

_MAX_THREADS: Final = 8
_MAX_WAITING: Final = 1_000
"""Notices that are being sent; further ones are left out."""


class StartdNotices:
    """Sends notices in the background, to each startd until one of a cycle fails."""

    def __init__(self, client: SecureClient, timeout: float) -> None:
        """Begin without notices; ``timeout`` are the seconds for one."""
        self._client, self._timeout = client, timeout
        self._threads = ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="startd notice")
        self._waiting: list[Future[None]] = []
        self._failed: set[str] = set()

    def begin_cycle(self) -> None:
        """Try startds again whose notices failed in the cycle before."""
        self._waiting = [each for each in self._waiting if not each.done()]
        self._failed.clear()

    def send(self, slot: str, address: str, claim: str) -> None:
        """Tell the startd at an address that a slot of this claim id is matched."""
        if address not in self._failed and len(self._waiting) < _MAX_WAITING:
            self._waiting.append(self._threads.submit(self._send, slot, address, claim))

    def close(self) -> None:
        """Leave out the notices that were not sent yet."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _send(self, slot: str, address: str, claim: str) -> None:
        if address in self._failed:
            return
        try:
            parsed = DaemonAddress.parse(address)
            exchange = Exchange(DaemonKind.STARTD, slot, parsed, DaemonCommand.MATCH_INFO)
            with self._client.open(exchange, Deadline(self._timeout)) as channel:
                channel.put_string(claim)
                channel.end_message()
        except (AddressError, DaemonError, OSError):
            self._failed.add(address)
