"""The result of a cycle in the words of the plugin contract."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import attrs

from negotiator.cycle.result import CycleResult, RequestOutcome
from negotiator.hooks.records import Match
from negotiator.hooks.summary import CycleStatistics, CycleSummary, Denial, DiscardCount, ReasonCount
from negotiator.hooks.turn_time import TimeLimit


@attrs.frozen
class CycleSpan:
    """When a cycle began and ended, in seconds since the epoch, and the processor time in between."""

    begun: float = 0.0
    ended: float = 0.0
    cpu_seconds: float = 0.0


def summarize(
    result: CycleResult,
    delivered: Iterable[Match],
    seconds: Mapping[str, float],
    span: CycleSpan | None = None,
    processor_seconds: Mapping[str, float] | None = None,
) -> CycleSummary:
    """Return the summary of a cycle.

    :param result: the result of the cycle.
    :param delivered: the matches that were delivered.
    :param seconds: the time that each station took, by its name.
    :param span: when the cycle took place; at the time of its result if None.
    :param processor_seconds: those that each station used of the processor.
    """
    return CycleSummary(
        matches=tuple(delivered),
        denials=tuple(_denial(outcome) for outcome in result.outcomes if outcome.unmatched),
        discarded=tuple(
            DiscardCount(each.kind, each.reason, each.count, each.examples) for each in result.discarded
        ),
        failures=result.failures,
        overruns=result.overruns,
        overruns_begun=result.overruns_begun,
        overruns_ended=result.overruns_ended,
        unjudged=result.unjudged,
        seconds=MappingProxyType(dict(seconds)),
        processor_seconds=MappingProxyType(dict(processor_seconds or {})),
        statistics=_statistics(result, span or CycleSpan(result.now, result.now)),
    )


def _statistics(result: CycleResult, span: CycleSpan) -> CycleStatistics:
    stops = [each.stop for each in result.reached]
    late_submitters = [each.submitter for each in stops if each.limit is TimeLimit.SUBMITTER]
    late_schedds = [each.schedd for each in stops if each.limit is TimeLimit.SCHEDD]
    return CycleStatistics(
        number=result.number,
        begun=span.begun,
        ended=span.ended,
        cpu_seconds=span.cpu_seconds,
        slots=result.counts.slots,
        offered_slots=result.offered_slots,
        rejections=len(result.rejections),
        pies=result.turns.pies,
        spins=result.turns.spins,
        share_limited=result.turns.share_limited,
        submitters_out_of_time=tuple(dict.fromkeys(late_submitters)),
        schedds_out_of_time=tuple(dict.fromkeys(late_schedds)),
    )


def _denial(outcome: RequestOutcome) -> Denial:
    request = outcome.request
    return Denial(
        submitter=request.submitter,
        schedd=request.schedd,
        user=request.user,
        queue=request.queue,
        jobs=outcome.unmatched,
        first_job=outcome.first_unmatched,
        reasons=tuple(ReasonCount(each.reason, each.removed, each.rejected) for each in outcome.removals),
    )
