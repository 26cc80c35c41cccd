"""Sends the ads of this program to the collector."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import count

import attrs

from negotiator.plugin import AccountAd
from negotiator_live.ads.accounting_ads import accounting_ads
from negotiator_live.ads.address_file import remove_address_file, write_address_file
from negotiator_live.ads.negotiator_ad import NUMBERS, NegotiatorIdentity
from negotiator_live.ads.statistics import STATS_LENGTH, AdvertisedCycle
from negotiator_live.collector import Collector
from negotiator_live.wire.commands import DaemonCommand


@attrs.define(eq=False)
class Advertiser:
    """Keeps the Negotiator ad and the Accounting ads at the collector up to date.

    :param identity: the attributes of this program in the ad.
    :param clock: returns the time in seconds since the epoch.
    :param numbers: yields the number of each ad. The collector counts those that it missed.
    """

    collector: Collector
    identity: NegotiatorIdentity
    clock: Callable[[], float] = time.time
    numbers: Iterator[int] = NUMBERS
    _accountings: Iterator[int] = attrs.field(factory=count, init=False)
    is_advertised: bool = attrs.field(default=False, init=False)
    _cycles: deque[AdvertisedCycle] = attrs.field(factory=lambda: deque(maxlen=STATS_LENGTH), init=False)

    def add_cycle(self, cycle: AdvertisedCycle) -> None:
        """Add a completed cycle; ``send`` publishes it."""
        self._cycles.appendleft(cycle)

    def send(self) -> None:
        """Send the Negotiator ad.

        :raises DaemonError: the collector cannot be reached, or denies the command.
        :raises OSError: the address file cannot be written.
        """
        if not self.is_advertised:
            write_address_file(self.identity.address)
        ad = self.identity.ad(self._cycles, next(self.numbers), self.clock())
        self.collector.update(DaemonCommand.UPDATE_NEGOTIATOR_AD, ad)
        self.is_advertised = True

    def current_ad(self) -> dict[str, str]:
        """Return the Negotiator ad for a query; it is not counted."""
        return self.identity.ad(tuple(self._cycles), 0, self.clock())

    def send_accounts(self, accounts: Iterable[AccountAd], active: Collection[str]) -> None:
        """Send the Accounting ads; those of accounts that are no longer sent expire.

        :param active: the names of submitters with idle jobs.
        :raises DaemonError: the collector cannot be reached, or denies the command.
        """
        ads = accounting_ads(accounts, active, self.identity.name, next(self._accountings))
        self.collector.update_all(DaemonCommand.UPDATE_ACCOUNTING_AD, ads)

    def withdraw(self) -> None:
        """Remove the ad from the collector, if one was sent.

        :raises DaemonError: the collector cannot be reached, or denies the command. The ad expires there.
        """
        remove_address_file()
        if self.is_advertised:
            self.is_advertised = False
            self.collector.update(DaemonCommand.INVALIDATE_NEGOTIATOR_ADS, self.identity.withdrawal())
