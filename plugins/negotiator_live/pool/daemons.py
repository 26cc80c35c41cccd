"""The daemons of a pool: where its collector is, how to connect to the others, and what startds are told (NEGOTIATOR_INFORM_STARTD).

A slot that its schedd has not claimed yet enters the state Matched, until it does or until its MATCH_TIMEOUT is over. Nobody waits for a
startd, and as with condor_negotiator, which starts notices and sends them once it has negotiated, schedds usually come first. Source:
``NotifyStartdOfMatchHandler`` (``dc_startd.cpp``).
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

import attrs

from negotiator.plugin import PoolAds, Problem, Severity, Source
from negotiator_live.collector import Collector
from negotiator_live.security.authentication import Credentials
from negotiator_live.security.client import SecureClient
from negotiator_live.security.policy import AuthMethod, ClientPolicy
from negotiator_live.security.tokens import TokenFiles
from negotiator_live.settings import ConfiguredPool
from negotiator_live.wire.addresses import AddressError, DaemonAddress
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import DaemonError
from negotiator_live.wire.exchange import DaemonKind, Deadline, Exchange

COLLECTOR = "collector"
_CLAIMED_USER = "negotiator"  # by CLAIMTOBE, which proves nothing
_MAX_THREADS: Final = 8
_MAX_WAITING: Final = 1_000
"""Notices that are being sent; further ones are left out."""


@attrs.frozen
class PoolDaemons:
    """A client of the pool's daemons with the security that the settings require, and the collector."""

    client: SecureClient
    collector: Collector

    @classmethod
    def of(cls, pool: ConfiguredPool) -> PoolDaemons:
        """Return the daemons of a pool; nothing is connected yet."""
        methods, keys = pool.methods("CLIENT"), pool.keys
        credentials = Credentials(
            tokens=TokenFiles((Path(keys.token),)) if keys.token else TokenFiles(),
            claimed_user=_CLAIMED_USER if AuthMethod.CLAIMTOBE in methods else "",
        )
        policy = ClientPolicy(*pool.requirements("CLIENT"), methods=methods)
        client = SecureClient(policy, credentials)
        return cls(client, Collector(pool.find_collector, client, timeout=keys.timeout))


def report(ads: PoolAds, daemon: str, error: object) -> None:
    """Report a daemon that did not answer, such as ``schedd NAME``; its ads are missing in this cycle."""
    ads.add_problem(Problem(Severity.WARNING, Source(daemon), str(error)))


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
