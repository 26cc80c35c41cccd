"""The decisions of a cycle, job by job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from negotiator.cycle.result import CycleResult, RequestOutcome
from negotiator.explain.shadow.observation import family
from negotiator.explain.shadow.report import JobKey
from negotiator.hooks.ad_kinds import AdKind
from negotiator.records import Mode, Reason, Verdict

_NOT_SERVED: Final = frozenset({"JobStatus", "JobUniverse"})


@attrs.frozen
class JobDecision:
    """The slot that a job got, or the reason why it got none.

    ``is_final`` if the reason holds for every slot of the pool, used ones too.
    """

    slot: str = ""
    reason: Reason | None = None
    is_final: bool = False


@attrs.frozen(eq=False)
class JobDecisions:
    """The decisions of a cycle by job. ``on`` has the jobs that got each slot, ``not_served`` those that no negotiator serves."""

    number: int
    digest: str
    now: float
    jobs: Mapping[JobKey, JobDecision]
    on: Mapping[str, list[JobKey]]
    not_served: frozenset[JobKey]

    @classmethod
    def of(cls, result: CycleResult) -> JobDecisions:
        """Return the decisions of a result."""
        jobs: dict[JobKey, JobDecision] = {}
        not_served: set[JobKey] = set()
        for each in result.discarded:
            if each.kind is not AdKind.JOB or each.reason.mode is not Mode.ENFORCE:
                continue
            if each.reason.provenance.rule in _NOT_SERVED:
                not_served.update(each.jobs)
            else:
                jobs.update(dict.fromkeys(each.jobs, JobDecision(reason=each.reason, is_final=True)))
        for outcome in result.outcomes:
            jobs.update(_of_request(outcome, result.counts.admitted_slots))
        on: dict[str, list[JobKey]] = {}
        for key, decision in jobs.items():
            if decision.slot:
                on.setdefault(family(decision.slot), []).append(key)
        return cls(result.number, result.digest, result.now, jobs, on, frozenset(not_served))


def _of_request(outcome: RequestOutcome, slots: int) -> Iterator[tuple[JobKey, JobDecision]]:
    schedd = outcome.request.schedd.lower()
    for match in outcome.matches:
        yield (schedd, match.job), JobDecision(slot=match.slot.lower())
    rejection = outcome.rejection
    if rejection is None:
        return
    reason = rejection.reason
    everywhere = max((each.rejected for each in outcome.removals if each.reason == reason), default=0)
    decision = JobDecision(
        reason=reason, is_final=reason.verdict is Verdict.DENIED and everywhere >= slots > 0
    )
    for cluster, first, last in outcome.jobs_left.bounds.tolist():
        for proc in range(first, last + 1):
            yield (schedd, f"{cluster}.{proc}"), decision
