"""The result of a cycle in the words of the plugin contract."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from negotiator.cycle.result import CycleResult, RequestOutcome
from negotiator.hooks.records import Match
from negotiator.hooks.summary import CycleSummary, Denial, DiscardCount, ReasonCount


def summarize(result: CycleResult, delivered: Iterable[Match], seconds: Mapping[str, float]) -> CycleSummary:
    """Return the summary of a cycle.

    :param result: the result of the cycle.
    :param delivered: the matches that were delivered.
    :param seconds: the time that each station took, by its name.
    """
    return CycleSummary(
        matches=tuple(delivered),
        denials=tuple(_denial(outcome) for outcome in result.outcomes if outcome.unmatched),
        discarded=tuple(
            DiscardCount(each.kind, each.reason, each.count, each.examples) for each in result.discarded
        ),
        failures=result.failures,
        seconds=MappingProxyType(dict(seconds)),
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
