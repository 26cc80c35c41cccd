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
_OF_PHASE_4: Final = ("cycle", "record_intent", "settle", "record_outcome")


@attrs.frozen(kw_only=True)
class NegotiatedSubmitters:
    """The submitters and schedds that one cycle negotiated with.

    ``names`` are those of the submitters. ``idle_jobs`` is the sum of the numbers in their ads. ``failed`` are submitters to
    whose schedd the connection broke, or was not made. ``seconds`` is how long it took to fetch all requests.
    """

    names: frozenset[str] = frozenset()
    schedds: int = 0
    idle_jobs: int = 0
    failed: tuple[str, ...] = ()
    seconds: float = 0.0


@attrs.frozen
class AdvertisedCycle:
    """A cycle in a Negotiator ad: its attributes without prefix and number, and when it ended."""

    values: Mapping[str, str | int | float]
    ended: float
    matches: int

    @classmethod
    def of(cls, summary: CycleSummary, negotiated: NegotiatedSubmitters) -> Self:
        """Return the statistics of a cycle.

        Durations are whole seconds, as HTCondor has them. Phase 1 fetches ads; phase 4 is everything from the first request
        to the recorded outcome.
        """
        of, spent = summary.statistics, summary.seconds
        duration = max(0.0, of.ended - of.begun)
        matches = len(summary.matches)
        negotiating = negotiated.seconds + sum(spent.get(station, 0.0) for station in _OF_PHASE_4)
        values: dict[str, str | int | float] = {
            "Time": int(of.begun),
            "End": int(of.ended),
            "Duration": round(duration),
            "Phase1Duration": round(max(0.0, spent.get("read", 0.0) - negotiated.seconds)),
            "Phase4Duration": round(negotiating),
            "PrefetchDuration": round(negotiated.seconds),
            "CpuTime": of.cpu_seconds,
            "TotalSlots": of.slots,
            "TrimmedSlots": of.offered_slots,
            "CandidateSlots": of.offered_slots,
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
        return cls(values, of.ended, matches)

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


def _list(names: Sequence[str]) -> str:
    return ", ".join(sorted(set(names)))
