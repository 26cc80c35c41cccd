"""The decisions of a cycle, job by job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from negotiator.cycle.jobs import NOT_SERVED
from negotiator.cycle.result import CycleResult, RequestOutcome
from negotiator.explain.shadow.observation import family
from negotiator.explain.shadow.report import JobKey
from negotiator.hooks.ad_kinds import AdKind
from negotiator.records import Mode, Reason


@attrs.frozen
class JobDecision:
    """The slot that a job got, or the reason why it got none.

    ``is_final`` if the reason is the job's ad alone, ``is_everywhere`` if a rule of a policy denied it every slot, used ones too.
    ``policy`` is the last rule of a policy that took some slots from its request, whatever took the others.
    """

    slot: str = ""
    reason: Reason | None = None
    is_final: bool = False
    is_everywhere: bool = False
    policy: Reason | None = None

    @property
    def rule(self) -> Reason | None:
        """The reason that a difference counts for: first the policy, because other slots being taken is seldom the cause."""
        return self.reason if self.policy is None or self.is_final else self.policy

    def holds_on(self, slot: str) -> bool:
        """True if the job would not have got a slot that became free later. What parts of a slot are offered changes."""
        return self.is_final or (self.is_everywhere and family(slot) == slot)


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
            if each.reason.provenance.rule in NOT_SERVED:
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
    policy = outcome.policies[-1] if outcome.policies else None
    for match in outcome.matches:
        yield (schedd, match.job), JobDecision(slot=match.slot.lower(), policy=policy)
    rejection = outcome.rejection
    if rejection is None:
        return
    reason = rejection.reason
    everywhere = max((each.rejected for each in outcome.removals if each.reason == reason), default=0)
    is_everywhere = reason.is_of_policy and everywhere >= slots > 0
    decision = JobDecision(reason=reason, is_everywhere=is_everywhere, policy=policy)
    for cluster, first, last in outcome.jobs_left.bounds.tolist():
        for proc in range(first, last + 1):
            yield (schedd, f"{cluster}.{proc}"), decision
