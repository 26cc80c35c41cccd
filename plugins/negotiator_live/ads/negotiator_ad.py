"""The Negotiator ad: who this program is, where it listens, how it does, and what its last cycles did.

Source: HTCondor manual, "Negotiator ClassAd Attributes"; ``Matchmaker::init_public_ad``, ``DaemonCore::publish``,
``SelfMonitorData::ExportData``.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from negotiator_live.ads.literals import AdValue, literals
from negotiator_live.ads.statistics import AdvertisedCycle, cycle_attributes
from negotiator_live.master.handover import host_name
from negotiator_live.versions import PLATFORM, VERSION
from negotiator_live.wire.addresses import AddressError, DaemonAddress
from negotiator_live.wire.ads import quoted

STARTED: Final = time.time()
"""When this program began to serve a pool, in seconds since the epoch."""

NUMBERS: Final = itertools.count()
"""The numbers of the ads that this program sends: a pool that is opened again goes on with them."""

#: The attributes of the program itself, and where each comes from. Those of the cycles are ``CYCLE_ATTRIBUTES``.
ATTRIBUTES: Final[Mapping[str, str]] = {
    "MyType": "`Negotiator`",
    "Name": "`name` of `htcondor:`, by default HTCondor's: `NEGOTIATOR_NAME`, else the full name of the host",
    "Machine": "`FULL_HOSTNAME`; without condor_master the name that the host has of itself",
    "MyAddress": "where tools and schedds connect; `noUDP` is part of it, since this program serves TCP alone",
    "NegotiatorIpAddr": "the same",
    "AddressV1": "the same, in HTCondor's other form of addresses",
    "PrivateNetworkName": "the same as `Machine`, as by default",
    "CondorVersion": "the version of HTCondor's protocol that this program speaks",
    "CondorPlatform": "the processor, and the version of Python",
    "DaemonStartTime": "when the program began to serve a pool",
    "DaemonLastReconfigTime": "when it read its settings last",
    "MyCurrentTime": "when the ad was made",
    "RealUid": "the user id of the process",
    "UpdateSequenceNumber": "how many ads were sent before, and 1",
    "DaemonCoreDutyCycle": "the share of the time in which a cycle ran",
    "RecentDaemonCoreDutyCycle": "the same in the last 20 minutes",
    "MonitorSelfTime": "when the following were measured",
    "MonitorSelfAge": "seconds since the start",
    "MonitorSelfCPUUsage": "processor time since the start, in percent of one processor",
    "MonitorSelfImageSize": "virtual memory of the process, KiB",
    "MonitorSelfResidentSetSize": "memory of the process, KiB",
    "MonitorSelfRegisteredSocketCount": "open sockets of the process",
    "MonitorSelfSecuritySessions": "sessions that it keeps, with daemons and tools",
    "DetectedCpus": "processors of the host",
    "DetectedMemory": "memory of the host, MiB",
}


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
    machine: str = attrs.field(factory=host_name)

    def ad(
        self,
        cycles: Sequence[AdvertisedCycle],
        number: int,
        now: float,
        *,
        duty: tuple[float, float] = (0.0, 0.0),
        sessions: int = 0,
    ) -> dict[str, str]:
        """Return the ad.

        :param cycles: the last cycles, the latest first.
        :param number: how many ads this program has sent before.
        :param now: the time in seconds since the epoch.
        :param duty: the share of the time in which a cycle ran, since the start and recently.
        :param sessions: the number of security sessions that are kept.
        """
        own = literals(
            {
                "MyType": "Negotiator",
                "Name": self.name,
                "Machine": self.machine,
                "MyAddress": self.address,
                "NegotiatorIpAddr": self.address,
                "AddressV1": address_v1(self.address),
                "PrivateNetworkName": self.machine,
                "CondorVersion": VERSION,
                "CondorPlatform": PLATFORM,
                "DaemonStartTime": int(self.started),
                "DaemonLastReconfigTime": int(self.configured),
                "MyCurrentTime": int(now),
                "RealUid": os.getuid(),
                "UpdateSequenceNumber": number + 1,
                "DaemonCoreDutyCycle": duty[0],
                "RecentDaemonCoreDutyCycle": duty[1],
                **_measured(self.started, now),
                "MonitorSelfSecuritySessions": sessions,
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


def address_v1(address: str) -> str:
    """Return an address in the form of a nested ad; "{}" for none (``Sinful::regenerateV1String``)."""
    try:
        parsed = DaemonAddress.parse(address)
    except AddressError:
        return "{}"
    parameters = parsed.parameters
    rest = f' alias="{parameters["alias"]}";' if "alias" in parameters else ""
    rest += f' spid="{parsed.shared_port_id}";' if parsed.shared_port_id else ""
    rest += " noUDP=true;" if "noUDP" in parameters else ""
    own = parsed.primary
    routes = [("primary", own)]
    others = parsed.endpoints if "addrs" in parameters else ()
    routes += [("IPv6" if ":" in each.host else "IPv4", each) for each in others]
    shown = (
        f'[ p="{kind}"; a="{each.host}"; port={each.port}; n="Internet";{rest} ]' for kind, each in routes
    )
    return f"{{{', '.join(shown)}}}"


def _measured(started: float, now: float) -> dict[str, AdValue]:
    """Return what can be measured of this process and its host; 0 for what the system does not tell."""
    age, page = max(now - started, 0.0), os.sysconf("SC_PAGE_SIZE")
    return {
        "MonitorSelfTime": int(now),
        "MonitorSelfAge": int(age),
        "MonitorSelfCPUUsage": round(100 * time.process_time() / age, 6) if age else 0.0,
        "MonitorSelfImageSize": _pages(0) * page // 1024,
        "MonitorSelfResidentSetSize": _pages(1) * page // 1024,
        "MonitorSelfRegisteredSocketCount": _sockets(),
        "DetectedCpus": os.cpu_count() or 0,
        "DetectedMemory": os.sysconf("SC_PHYS_PAGES") * page >> 20,
    }


def _pages(field: int) -> int:
    """Return a field of ``/proc/self/statm``: the pages of virtual memory (0), and of memory (1)."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[field])
    except (OSError, ValueError, IndexError):
        return 0


def _sockets() -> int:
    """Return the number of open sockets."""
    try:
        return sum(each.is_socket() for each in Path("/proc/self/fd").iterdir())
    except OSError:
        return 0
