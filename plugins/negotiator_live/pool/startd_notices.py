"""Tells startds of the matches of their slots (NEGOTIATOR_INFORM_STARTD).

A slot that its schedd has not claimed yet enters the state Matched, until it does or until its MATCH_TIMEOUT is over. Nobody waits for a
startd, and as with condor_negotiator, which starts notices and sends them once it has negotiated, schedds usually come first. Source:
``NotifyStartdOfMatchHandler`` (``dc_startd.cpp``).
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
        self._matched: list[tuple[str, str, str]] = []
        self._sent: list[Future[None]] = []
        self._failed: set[str] = set()

    def note(self, slot: str, address: str, claim: str) -> None:
        """Note a match: the slot, the address of its startd, and the claim id."""
        self._matched.append((slot, address, claim))

    def send(self) -> None:
        """Tell the startds of all matches so far; those whose notices failed before are tried again."""
        matched, self._matched = self._matched, []
        self._sent = [each for each in self._sent if not each.done()]
        self._failed.clear()
        for each in matched[: _MAX_WAITING - len(self._sent)]:
            self._sent.append(self._threads.submit(self._send, *each))

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
