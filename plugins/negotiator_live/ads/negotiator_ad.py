"""The Negotiator ad: who this program is, where it listens, and what its last cycles did.

Source: HTCondor manual, "Negotiator ClassAd Attributes"; ``Matchmaker::init_public_ad`` and ``DaemonCore::publish``.
"""

from __future__ import annotations

import itertools
import os
import socket
import time
from collections.abc import Sequence
from typing import Final

import attrs

from negotiator_live.ads.literals import literals
from negotiator_live.ads.statistics import AdvertisedCycle, cycle_attributes
from negotiator_live.versions import PLATFORM, VERSION
from negotiator_live.wire.ads import quoted

STARTED: Final = time.time()
"""When this program began to serve a pool, in seconds since the epoch."""

NUMBERS: Final = itertools.count()
"""The numbers of the ads that this program sends: a pool that is opened again goes on with them."""


@attrs.frozen(kw_only=True)
class NegotiatorIdentity:
    """The attributes of the program itself in a Negotiator ad.

    ``name`` identifies the ad at the collector. ``machine`` is the full name of this host, ``address`` where the program listens (as
    HTCondor writes addresses). ``started`` and ``configured`` are seconds since the epoch: the start of the program, and the last
    time it read its settings.
    """

    name: str
    address: str
    started: float = STARTED
    configured: float = attrs.field(factory=time.time)
    machine: str = attrs.field(factory=socket.getfqdn)

    def ad(self, cycles: Sequence[AdvertisedCycle], number: int, now: float) -> dict[str, str]:
        """Return the ad.

        :param cycles: the last cycles, the latest first.
        :param number: how many ads this program has sent before.
        :param now: the time in seconds since the epoch.
        """
        own = literals(
            {
                "MyType": "Negotiator",
                "Name": self.name,
                "Machine": self.machine,
                "MyAddress": self.address,
                "NegotiatorIpAddr": self.address,
                "CondorVersion": VERSION,
                "CondorPlatform": PLATFORM,
                "DaemonStartTime": int(self.started),
                "DaemonLastReconfigTime": int(self.configured),
                "MyCurrentTime": int(now),
                "RealUid": os.getuid(),
                "UpdateSequenceNumber": number,
            }
        )
        return own | cycle_attributes(cycles)

    def withdrawal(self) -> dict[str, str]:
        """Return the ad that makes a collector remove this program's Negotiator ad."""
        requirements = f"TARGET.Name == {quoted(self.name)}"
        return {
            **literals({"MyType": "Query", "TargetType": "Negotiator", "Name": self.name}),
            "Requirements": requirements,
        }
