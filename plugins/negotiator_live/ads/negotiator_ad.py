"""The Negotiator ad: who this program is, where it listens, how it does, and the statistics of its last cycles.

Source: HTCondor manual, "Negotiator ClassAd Attributes"; ``Matchmaker::init_public_ad``, ``Matchmaker::publishNegotiationCycleStats``,
``DaemonCore::publish``, ``SelfMonitorData::ExportData``.
"""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Self, TypeAlias

import attrs

from negotiator.plugin import CycleSummary
from negotiator_live.master.handover import host_name
from negotiator_live.versions import PLATFORM, VERSION
from negotiator_live.wire.addresses import AddressError, DaemonAddress
from negotiator_live.wire.ads import quoted

STATS_LENGTH: Final = 3
"""The default of ``NEGOTIATION_CYCLE_STATS_LENGTH``: how many cycles an ad describes."""

_PREFIX: Final = "LastNegotiationCycle"
#: The attributes of each cycle, without prefix and number, and what they have here.
CYCLE_ATTRIBUTES: Final[Mapping[str, str]] = {
    "Time": "when it began",
    "End": "when its outcome was recorded",
    "Period": "seconds since the end of the cycle before; 0 of the last one in the ad",
    "Duration": "seconds",
    "Phase1Duration": "fetching the ads of slots, schedds and submitters",
    "Phase2Duration": "the state of accounts and quotas, gates and placement",
    "Phase3Duration": "the order of the requests",
    "Phase4Duration": "matching and charging, their records, and the answers to the schedds",
    "PrefetchDuration": "fetching all requests from the schedds",
    "Phase1CpuTime": "processor seconds of the same part",
    "Phase2CpuTime": "",
    "Phase3CpuTime": "",
    "Phase4CpuTime": "",
    "PrefetchCpuTime": "",
    "CpuTime": "processor seconds of the whole cycle (condor_negotiator 25.14 has those of phase 1)",
    "TotalSlots": "slots in the collector, before gates",
    "TrimmedSlots": "slots that a match could get: admitted by the gates, and free or open to preemption",
    "CandidateSlots": "the same",
    "SlotShareIter": "0, as in HTCondor 25",
    "NumSchedulers": "schedds that were negotiated with",
    "ActiveSubmitterCount": "submitters with idle jobs",
    "NumIdleJobs": "their idle jobs, by their ads",
    "NumJobsConsidered": "matches and rejections",
    "Matches": "matches that were delivered",
    "Rejections": "requests of alike jobs with a job that got no slot",
    "MatchRate": "matches for each second of the cycle",
    "MatchRateSustained": "matches for each second of the period",
    "Pies": "of `order: submitters`",
    "PieSpins": "",
    "SubmittersShareLimit": "",
    "SubmittersFailed": "a schedd of theirs could not be reached, or did not answer",
    "SubmittersOutOfTime": "reached a time limit",
    "ScheddsOutOfTime": "",
}
_STATIONS: Final = ("admit", "place", "order", "match", "charge")

_OF_PHASE_4: Final = ("match", "charge", "record_intent", "settle", "record_outcome")
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
class NegotiatedSubmitters:
    """The submitters and schedds that one cycle negotiated with.

    ``names`` are those of the submitters. ``idle_jobs`` is the sum of the numbers in their ads. ``failed`` are submitters to
    whose schedd the connection broke, or was not made. ``seconds`` is how long it took to fetch all requests, and
    ``processor_seconds`` what it used of the processor.
    """

    names: frozenset[str] = frozenset()
    schedds: int = 0
    idle_jobs: int = 0
    failed: tuple[str, ...] = ()
    seconds: float = 0.0
    processor_seconds: float = 0.0


@attrs.frozen
class AdvertisedCycle:
    """A cycle in a Negotiator ad: its attributes without prefix and number, and when it ended."""

    values: Mapping[str, str | int | float]
    ended: float
    matches: int
    seconds: float = 0.0

    @classmethod
    def of(cls, summary: CycleSummary, negotiated: NegotiatedSubmitters) -> Self:
        """Return the statistics of a cycle.

        Durations are whole seconds, as HTCondor has them.
        """
        of = summary.statistics
        duration = max(0.0, of.ended - of.begun)
        matches = len(summary.matches)
        wall = _phases(summary.seconds, negotiated.seconds)
        processor = _phases(summary.processor_seconds, negotiated.processor_seconds)
        values: dict[str, str | int | float] = {
            "Time": int(of.begun),
            "End": int(of.ended),
            "Duration": round(duration),
            **{f"{phase}Duration": round(seconds) for phase, seconds in wall.items()},
            **{f"{phase}CpuTime": seconds for phase, seconds in processor.items()},
            "CpuTime": of.cpu_seconds,
            "TotalSlots": of.slots,
            "TrimmedSlots": of.offered_slots,
            "CandidateSlots": of.offered_slots,
            "SlotShareIter": 0,
            "NumSchedulers": negotiated.schedds,
            "ActiveSubmitterCount": len(negotiated.names),
            "NumIdleJobs": negotiated.idle_jobs,
            "NumJobsConsidered": matches + of.rejections,
            "Matches": matches,
            "Rejections": of.rejections,
            "MatchRate": matches / duration if duration > 0 else 0.0,
            "Pies": of.pies,
            "PieSpins": of.spins,
            "SubmittersFailed": _list(negotiated.failed),
            "SubmittersOutOfTime": _list(of.submitters_out_of_time),
            "SubmittersShareLimit": _list(of.share_limited),
            "ScheddsOutOfTime": _list(of.schedds_out_of_time),
        }
        return cls(values, of.ended, matches, duration)

    def attributes(self, number: int, before: AdvertisedCycle | None) -> dict[str, str]:
        """Return the attributes of the cycle.

        :param number: how many cycles ago it was; 0 for the last one.
        :param before: the cycle before it; None if the ad has none.
        """
        period = 0.0 if before is None else max(0.0, self.ended - before.ended)
        rate = self.matches / period if period > 0 else 0.0
        values = {**self.values, "Period": round(period), "MatchRateSustained": rate}
        return literals({f"{_PREFIX}{name}{number}": value for name, value in values.items()})


def cycle_attributes(cycles: Sequence[AdvertisedCycle]) -> dict[str, str]:
    """Return the attributes of the last cycles, the latest first."""
    found: dict[str, str] = {}
    for number, cycle in enumerate(cycles):
        before = cycles[number + 1] if number + 1 < len(cycles) else None
        found |= cycle.attributes(number, before)
    return found


def _phases(spent: Mapping[str, float], prefetched: float) -> dict[str, float]:
    """Return the seconds of each phase, from those of the parts of a cycle and of the requests that were fetched in ``read``."""
    others = spent.get("cycle", 0.0) - sum(spent.get(station, 0.0) for station in _STATIONS)
    return {
        "Phase1": max(0.0, spent.get("read", 0.0) - prefetched),
        "Phase2": max(0.0, others) + spent.get("admit", 0.0) + spent.get("place", 0.0),
        "Phase3": spent.get("order", 0.0),
        "Phase4": sum(spent.get(part, 0.0) for part in _OF_PHASE_4),
        "Prefetch": prefetched,
    }


def _list(names: Sequence[str]) -> str:
    return ", ".join(sorted(set(names)))


AdValue: TypeAlias = str | bool | int | float


def literal(value: AdValue) -> str:
    """Return a value as a literal; a number that is not finite is ``undefined``."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return "undefined"
    return repr(value)


def literals(values: Mapping[str, AdValue]) -> dict[str, str]:
    """Return an ad of literals."""
    return {name: literal(value) for name, value in values.items()}


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
