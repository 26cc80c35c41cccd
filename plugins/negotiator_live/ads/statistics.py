"""The statistics of the last cycles, in a Negotiator ad.

Source: HTCondor manual, "Negotiator ClassAd Attributes"; ``Matchmaker::publishNegotiationCycleStats``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Self

import attrs

from negotiator.plugin import CycleSummary
from negotiator_live.ads.literals import literals

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
