"""Sends the ads of this program to the collector, with its address as the daemons of a pool see it, and drops its address file.

Tools on the same host find the daemon by the file. Source: ``drop_addr_file`` in HTCondor's ``daemon_core_main.cpp``; HTCondor manual,
``<SUBSYS>_ADDRESS_FILE``.
"""

from __future__ import annotations

import contextlib
import re
import socket
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Final

import attrs

from negotiator.plugin import AccountAd, Ad, replace_file
from negotiator_live.ads.accounting_ads import accounting_ads
from negotiator_live.ads.negotiator_ad import (
    NUMBERS,
    STATS_LENGTH,
    AdvertisedCycle,
    NegotiatorIdentity,
    literals,
)
from negotiator_live.collector import Collector
from negotiator_live.versions import PLATFORM, VERSION
from negotiator_live.wire.addresses import DaemonAddress, Endpoint
from negotiator_live.wire.commands import DaemonCommand

_UNKNOWN = "127.0.0.1"
_RECENT: Final = 1200.0  # seconds, as STATISTICS_WINDOW_SECONDS is by default
#: The name of a slot: ``slot``, its number, and the name of its machine.
_NUMBERED: Final = re.compile(r"([^0-9@]*)[0-9][^@]*(@.*)", re.DOTALL)


def write_address_file(path: str, address: str) -> None:
    """Write the address of this program into the address file, if there is to be one.

    :raises OSError: the file cannot be written.
    """
    if path:
        replace_file(Path(path), f"{address}\n{VERSION}\n{PLATFORM}\n".encode())


def remove_address_file(path: str) -> None:
    """Remove the address file, if there is to be one."""
    if path:
        with contextlib.suppress(OSError):
            Path(path).unlink()


def own_address(collector: DaemonAddress) -> DaemonAddress:
    """Return the address of this host towards a collector, with port 0, for a program without a port.

    ``noUDP``: schedds do not send RESCHEDULE by UDP.
    """
    return DaemonAddress(Endpoint(_host_towards(collector.primary), 0), {"noUDP": ""})


def _host_towards(endpoint: Endpoint) -> str:
    """Return the address of the interface through which an endpoint is reached; nothing is sent."""
    try:
        found = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_DGRAM)
        family, kind, _, _, where = found[0]
        with socket.socket(family, kind) as probe:
            probe.connect(where)
            return str(probe.getsockname()[0])
    except OSError:
        return _UNKNOWN


def offline_ads(slot: Ad, now: int) -> Iterator[dict[str, str]]:
    """Yield what is merged into the ad of a matched slot, and into that of the first slot of its machine.

    Source: ``Matchmaker::RegisterAttemptedOfflineMatch``.
    """
    name, number = slot.string("Name"), slot.integer("SlotID")
    address = slot.string("StartdIpAddr") or slot.string("MyAddress")
    if not name or not address:
        return
    yield literals({"Name": name, "StartdIpAddr": address, "MachineLastMatchTime": now})
    parts = _NUMBERED.fullmatch(name)
    first = slot.string("OfflinePrimarySlotName") or (parts and f"{parts[1]}1{parts[2]}")
    if first and number is not None and number >= 0:
        of_slot = f"slot{number}_MachineLastMatchTime"
        yield literals({"Name": first, "StartdIpAddr": address, of_slot: now})


@attrs.define(eq=False)
class Advertiser:
    """Keeps the Negotiator ad and the Accounting ads at the collector up to date.

    :param identity: the attributes of this program in the ad.
    :param address_file: gets the address of this program; empty for no file.
    :param clock: returns the time in seconds since the epoch.
    :param numbers: yields the number of each ad. The collector counts those that it missed.
    :param sessions: returns the number of security sessions that are kept.
    """

    collector: Collector
    identity: NegotiatorIdentity
    address_file: str = ""
    clock: Callable[[], float] = time.time
    numbers: Iterator[int] = NUMBERS
    sessions: Callable[[], int] = lambda: 0
    _accountings: Iterator[int] = attrs.field(factory=count, init=False)
    _with_use: frozenset[str] = attrs.field(
        default=frozenset(), init=False
    )  # accounts, as they were sent last
    is_advertised: bool = attrs.field(default=False, init=False)
    _cycles: deque[AdvertisedCycle] = attrs.field(factory=lambda: deque(maxlen=STATS_LENGTH), init=False)
    _busy: float = attrs.field(default=0.0, init=False)  # seconds of all cycles
    _recent: deque[AdvertisedCycle] = attrs.field(factory=deque, init=False)  # of the last minutes

    def add_cycle(self, cycle: AdvertisedCycle) -> None:
        """Add a completed cycle; ``send`` publishes it."""
        self._cycles.appendleft(cycle)
        self._busy += cycle.seconds
        self._recent.append(cycle)
        while self._recent[0].ended < cycle.ended - _RECENT:
            self._recent.popleft()

    def send(self) -> None:
        """Send the Negotiator ad.

        :raises DaemonError: the collector cannot be reached, or denies the command.
        :raises OSError: the address file cannot be written.
        """
        if not self.is_advertised:
            write_address_file(self.address_file, self.identity.address)
        ad = self._ad(next(self.numbers))
        self.collector.update(DaemonCommand.UPDATE_NEGOTIATOR_AD, ad)
        self.is_advertised = True

    def current_ad(self) -> dict[str, str]:
        """Return the Negotiator ad for a query; it is not counted."""
        return self._ad(0)

    def _ad(self, number: int) -> dict[str, str]:
        now = self.clock()
        served = max(now - self.identity.configured, 0.0)
        recent = sum(each.seconds for each in tuple(self._recent) if each.ended >= now - _RECENT)
        periods = ((self._busy, served), (recent, min(served, _RECENT)))
        duty = [min(busy / period, 1.0) if period else 0.0 for busy, period in periods]
        return self.identity.ad(
            tuple(self._cycles), number, now, duty=(duty[0], duty[1]), sessions=self.sessions()
        )

    def send_accounts(self, accounts: Iterable[AccountAd], active: Collection[str]) -> None:
        """Send the Accounting ads; those of accounts that are no longer sent expire.

        An account that uses nothing any more is sent once more: its last ad would show what it used until it expires.

        :param active: the names of submitters with idle jobs.
        :raises DaemonError: the collector cannot be reached, or denies the command.
        """
        accounts = tuple(accounts)
        names = {name.lower() for name in active} | self._with_use
        ads = accounting_ads(accounts, names, self.identity.name, next(self._accountings))
        self.collector.update_all(DaemonCommand.UPDATE_ACCOUNTING_AD, ads)
        used = (each for each in accounts if each.get("ResourcesUsed"))
        self._with_use = frozenset(str(each.get("Name", "")).lower() for each in used)

    def send_offline(self, matched: Iterable[Ad]) -> None:
        """Note in the ads of slots that are offline that they were matched, so that condor_rooster wakes their machines.

        :param matched: the ads of the slots.
        :raises DaemonError: the collector cannot be reached, or denies the command.
        """
        now = int(self.clock())
        ads = [ad for slot in matched for ad in offline_ads(slot, now)]
        self.collector.update_all(DaemonCommand.MERGE_STARTD_AD, ads)

    def withdraw(self) -> None:
        """Remove the ad from the collector, if one was sent.

        :raises DaemonError: the collector cannot be reached, or denies the command. The ad expires there.
        """
        remove_address_file(self.address_file)
        if self.is_advertised:
            self.is_advertised = False
            self.collector.update(DaemonCommand.INVALIDATE_NEGOTIATOR_ADS, self.identity.withdrawal())
