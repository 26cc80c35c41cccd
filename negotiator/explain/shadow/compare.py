"""Compares the decisions of a cycle with what the pool's negotiator did until the next snapshot.

Slots are interchangeable, so a job that got none is not compared alone: its slot is followed to the job that has it, that job's
slot (by our decision) to the next job, and so on, to a job about which the two decided otherwise, or to something that was not
there when we decided.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

import attrs

from negotiator.explain.shadow.observation import Observation, family
from negotiator.explain.shadow.outcomes import (
    Became,
    JobDecision,
    JobDecisions,
    ObservedOutcome,
    ObservedOutcomes,
    is_changed,
)
from negotiator.explain.shadow.report import Cause, Difference, DifferenceKind, JobKey, ShadowReport

#: Jobs that a report names of those that cannot be compared, for each cause.
MOST_EXAMPLES: Final = 20


def compare(decisions: JobDecisions, before: Observation, after: Observation) -> ShadowReport:
    """Return the report on a cycle: its decisions, the snapshot that they were made on, and the next one."""
    comparison = _Comparison(decisions, ObservedOutcomes(before, after))
    found: Counter[str] = Counter()
    causes: Counter[Cause] = Counter()
    examples: dict[Cause, list[str]] = {}
    differences: list[Difference] = []
    for key, job in before.jobs.items():
        if not job.is_idle or key in decisions.not_served:
            continue
        verdict = comparison.verdict(key)
        if isinstance(verdict, Difference):
            differences.append(verdict)
        elif isinstance(verdict, Cause):
            causes[verdict] += 1
            if causes[verdict] <= MOST_EXAMPLES:
                examples.setdefault(verdict, []).append(key[1])
        else:
            found[verdict] += 1
    new = [
        job for key, job in after.jobs.items() if key not in before.jobs and key[0] not in before.unanswered
    ]
    return ShadowReport(
        *(decisions.number, decisions.digest, before.time, after.time),
        *(found["same_slot"], found["other_slot"], found["same_idle"]),
        differences=tuple(differences),
        not_comparable=dict(causes),
        examples=examples,
        new_jobs=len(new),
        new_running=sum(job.is_running for job in new),
    )


@attrs.frozen(eq=False)
class _Comparison:
    """Compares job by job."""

    decisions: JobDecisions
    outcomes: ObservedOutcomes

    def verdict(self, key: JobKey) -> Difference | Cause | str:
        """Return a difference, why a job cannot be compared, or the count of equal decisions that it belongs to."""
        decision, outcome = self.decisions.jobs.get(key), self.outcomes.of(key)
        if decision is None:
            return Cause.UNDECIDED
        if decision.slot:
            return self._matched(key, decision, outcome)
        return self._kept_idle(key, decision, outcome)

    def _matched(self, key: JobKey, ours: JobDecision, theirs: ObservedOutcome) -> Difference | Cause | str:
        if theirs.cause is not None:
            return theirs.cause
        if theirs.became is Became.MATCHED:
            return "same_slot" if family(theirs.slot) == family(ours.slot) else "other_slot"
        return self._would_run(key, ours, theirs)

    def _kept_idle(self, key: JobKey, ours: JobDecision, theirs: ObservedOutcome) -> Difference | Cause | str:
        if theirs.became is Became.REJECTED:
            return "same_idle"
        if theirs.cause in {None, Cause.SLOT_FREED_LATER} and ours.holds_on(theirs.slot):
            return self._difference(DifferenceKind.WOULD_WAIT, key, theirs.slot, ours)
        if theirs.cause is not None:
            return theirs.cause
        if (self.outcomes.before.jobs[key].submitter, key[0]) not in self.outcomes.before.submitters:
            return Cause.NOT_ADVERTISED
        return self._would_wait(key, ours, theirs)

    def _would_run(self, key: JobKey, ours: JobDecision, theirs: ObservedOutcome) -> Difference | Cause:
        """Follow our slot of a job that stayed idle to whoever has it."""
        instead, reached = "", JobDecision()
        waiting, seen = [family(ours.slot)], {family(ours.slot)}
        for whole in iter(lambda: waiting.pop() if waiting else None, None):
            newcomers = self.outcomes.newcomers(whole)
            if not newcomers and (cause := self._why_not_left_free(whole)):
                return cause
            for other in newcomers:
                decision = self.decisions.jobs.get(other)
                if decision is None:
                    return Cause.NEWER_JOB
                cause = self.outcomes.of(other).cause
                if cause is Cause.SLOT_DIVIDED:
                    continue  # the slot was matched for another of these jobs
                if cause is not None:
                    return cause
                if not decision.slot:
                    instead, reached = other[1], decision
                elif (its_slot := family(decision.slot)) not in seen:
                    seen.add(its_slot)
                    waiting.append(its_slot)
        kind = DifferenceKind.WOULD_RUN
        return self._difference(kind, key, ours.slot, reached, theirs=theirs.reason, instead=instead)

    def _would_wait(self, key: JobKey, ours: JobDecision, theirs: ObservedOutcome) -> Difference | Cause:
        """Follow the slot of a job that we kept idle to whoever we chose for it."""
        instead, moved = "", list[JobDecision]()
        waiting, seen = [family(theirs.slot)], {family(theirs.slot)}
        for whole in iter(lambda: waiting.pop() if waiting else None, None):
            for other in self.decisions.on.get(whole, ()):
                outcome = self.outcomes.of(other)
                if outcome.became is Became.REJECTED:
                    instead = other[1]
                elif outcome.cause not in {None, Cause.SLOT_DIVIDED}:
                    return outcome.cause
                elif (its_slot := family(outcome.slot)) == whole:
                    return Cause.LATER_CYCLE
                elif not self.outcomes.was_free(outcome.slot):
                    return Cause.SLOT_FREED_LATER
                else:
                    moved.append(self.decisions.jobs[other])
                    if its_slot not in seen:
                        seen.add(its_slot)
                        waiting.append(its_slot)
        if ours.policy is None and not instead:
            # In our cycle a policy may have moved another job to this slot.
            ours = next((each for each in moved if each.policy is not None), ours)
        return self._difference(DifferenceKind.WOULD_WAIT, key, theirs.slot, ours, instead=instead)

    def _why_not_left_free(self, whole: str) -> Cause | None:
        """Return why a slot without new jobs could not be used; None if it was left as it was."""
        before, after = self.outcomes.before.slots.get(whole), self.outcomes.after.slots.get(whole)
        if before is None or after is None or is_changed(before, after):
            return Cause.SLOT_CHANGED
        return None

    def _difference(
        self,
        kind: DifferenceKind,
        key: JobKey,
        slot: str,
        decision: JobDecision,
        theirs: str = "",
        instead: str = "",
    ) -> Difference:
        submitter = self.outcomes.before.jobs[key].submitter
        by_order = bool(instead) and not (decision.is_final or decision.is_everywhere)
        return Difference(kind, *key, submitter, slot, theirs, decision.rule, instead, by_order)
