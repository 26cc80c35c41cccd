"""What a cycle decided, job by job, and what the pool's negotiator did with each job that was idle, as the next snapshot shows it."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

import attrs

from negotiator.cycle.jobs import NOT_SERVED
from negotiator.cycle.result import CycleResult, RequestOutcome
from negotiator.explain.shadow.observation import Observation, ObservedJob, ObservedSlot, family, part_number
from negotiator.explain.shadow.report import Cause, JobKey
from negotiator.hooks.ad_kinds import AdKind
from negotiator.records import Mode, Reason

#: Seconds from the claim of a slot to its first job; a job that starts later has taken over a claim.
_FIRST_JOB: Final = 10.0


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


class Became(enum.Enum):
    """What became of a job."""

    MATCHED = "matched"
    REJECTED = "rejected"
    UNKNOWN = "unknown"


@attrs.frozen
class ObservedOutcome:
    """What became of a job; ``slot`` is the one it runs on, ``reason`` that of a rejection, ``cause`` why no more is known."""

    became: Became
    slot: str = ""
    reason: str = ""
    cause: Cause | None = None


@attrs.frozen(eq=False)
class ObservedOutcomes:
    """The outcomes of the jobs of two observations, the earlier one first."""

    before: Observation
    after: Observation

    def of(self, key: JobKey) -> ObservedOutcome:
        """Return what became of a job that was idle before."""
        was, job = self.before.jobs[key], self.after.jobs.get(key)
        if job is None or not (job.is_idle or job.is_running):
            return ObservedOutcome(Became.UNKNOWN, cause=Cause.LEFT)
        if job.is_idle:
            return self._idle(key, was, job)
        cause = self._why_not_matched(key, was, job)
        return ObservedOutcome(Became.UNKNOWN if cause else Became.MATCHED, job.slot, cause=cause)

    def was_free(self, slot: str) -> bool:
        """True if a slot, or the partitionable slot of which it is a part, was free before and had what the part has now."""
        whole = self.before.slots.get(family(slot))
        part = self.after.slots.get(slot)
        if whole is None or not whole.is_free:
            return False
        return part is None or not (part.cpus > whole.cpus or part.memory > whole.memory)

    def newcomers(self, whole: str) -> list[JobKey]:
        """Return the jobs that run on a slot or its parts and did not before."""
        return [key for key in self.after.families.get(whole, ()) if self._is_new(key)]

    def _is_new(self, key: JobKey) -> bool:
        was = self.before.jobs.get(key)
        return was is None or not was.is_running or was.slot != self.after.jobs[key].slot

    def _idle(self, key: JobKey, was: ObservedJob, job: ObservedJob) -> ObservedOutcome:
        if not _equal(was.started, job.started):
            return ObservedOutcome(Became.UNKNOWN, cause=Cause.RAN_BETWEEN)
        time, reason = self.after.rejections.get((key[0], job.submitter, job.kind), (0.0, ""))
        if time > was.seen:
            return ObservedOutcome(Became.REJECTED, reason=reason)
        return ObservedOutcome(Became.UNKNOWN, cause=Cause.NOT_CONSIDERED)

    def _why_not_matched(self, key: JobKey, was: ObservedJob, job: ObservedJob) -> Cause | None:
        """Return why a running job was not matched by a decision on the earlier state of the pool; None if it was."""
        slot, earlier = self.after.slots.get(job.slot), self.before.slots.get(job.slot)
        if slot is None or family(job.slot) not in self.before.slots:
            return Cause.SLOT_UNKNOWN
        if earlier is not None and not earlier.is_free and _equal(earlier.since, slot.since):
            return Cause.CLAIM_REUSED
        if slot.since <= was.seen:
            return Cause.MATCHED_BEFORE
        if job.started - slot.since > _FIRST_JOB:
            return Cause.CLAIM_REUSED
        if (earlier is not None and not earlier.is_free) or not self.was_free(job.slot):
            return Cause.SLOT_FREED_LATER
        return (
            None
            if self._first_on.get((family(job.slot), key[0], job.submitter)) == key
            else Cause.SLOT_DIVIDED
        )

    @cached_property
    def _first_on(self) -> Mapping[tuple[str, str, str], JobKey]:
        """The job that each match was for: the first new one of a submitter on a slot or its parts."""
        found: dict[tuple[str, str, str], JobKey] = {}
        for whole in self.after.families:
            for key in sorted(self.newcomers(whole), key=self._order):
                found.setdefault((whole, key[0], self.after.jobs[key].submitter), key)
        return found

    def _order(self, key: JobKey) -> tuple[float, int]:
        job = self.after.jobs[key]
        return (job.started if not math.isnan(job.started) else math.inf, part_number(job.slot))


def is_changed(before: ObservedSlot, after: ObservedSlot) -> bool:
    """True if a slot was used in between, or is used otherwise than before."""
    amounts = (before.cpus, after.cpus), (before.memory, after.memory), (before.since, after.since)
    return before.state != after.state or not all(_equal(*each) for each in amounts)


def _equal(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))
