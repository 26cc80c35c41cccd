"""What a cycle decided about one slot, and what becomes of the idle jobs of a pool on it."""

from __future__ import annotations

from collections.abc import Collection, Hashable

import attrs

from negotiator.cycle.result import CycleResult
from negotiator.explain.job.conditions import Condition, Lever
from negotiator.records import Reason


def slot_outcome(result: CycleResult, slot: str, possible: Collection[tuple[str, str]]) -> SlotOutcome:
    """Return what a cycle decided about a slot, and about the jobs that could run on it.

    :param slot: its name.
    :param possible: the schedd in lower case and the id of each of these jobs.
    """
    elsewhere, waiting = 0, dict[Hashable, RefusedJobs]()
    for outcome in result.outcomes:
        schedd, rejection = outcome.request.schedd.lower(), outcome.rejection
        for each in outcome.matches:
            if each.slot == slot:
                return SlotOutcome(each.job, outcome.request.user or outcome.request.submitter)
            elsewhere += (schedd, each.job) in possible
        # Jobs of one request are alike: all of them could run there, or none.
        if rejection is not None and (schedd, outcome.first_unmatched) in possible:
            key = rejection.reason.provenance, rejection.reason.code
            before = waiting.get(key, RefusedJobs(rejection.reason, 0))
            waiting[key] = attrs.evolve(before, jobs=before.jobs + rejection.jobs)
    return SlotOutcome(
        elsewhere=elsewhere, waiting=tuple(sorted(waiting.values(), key=lambda each: -each.jobs))
    )


@attrs.frozen
class JobRemedy:
    """Conditions that would all have to change, and the jobs that the slot would then be open to."""

    conditions: tuple[Condition, ...]
    jobs: int


@attrs.frozen
class RefusedJobs:
    """How many idle jobs are refused for one reason."""

    reason: Reason
    jobs: int


@attrs.frozen
class SlotAlone:
    """What becomes of each idle job on one slot when no other idle job competes with it, under the present use of the pool.

    ``jobs`` take part, in ``classes`` of alike jobs; ``fitting`` is how many of them no condition rejects, and ``possible`` how many of
    these no quota refuses. ``discarded`` is why the slot takes no part in cycles, empty if it does. ``conditions`` reject jobs, those
    with most jobs first; ``remedies`` are the fewest that would have to change, for the most jobs first. ``quotas`` refuse
    fitting jobs, and ``no_part`` is why idle jobs take no part. ``ids`` has the schedd and id of each possible job.
    """

    jobs: int = 0
    classes: int = 0
    fitting: int = 0
    possible: int = 0
    discarded: tuple[Reason, ...] = ()
    conditions: tuple[Condition, ...] = ()
    remedies: tuple[JobRemedy, ...] = ()
    quotas: tuple[RefusedJobs, ...] = ()
    no_part: tuple[RefusedJobs, ...] = ()
    ids: frozenset[tuple[str, str]] = attrs.field(default=frozenset(), repr=False)

    @property
    def decisive(self) -> Reason | None:
        """Why no idle job gets the slot, the reason of most of them; None if one could, or if no idle job takes part."""
        if self.discarded:
            return self.discarded[0]
        if self.possible or not self.jobs:
            return None
        found = self.quotas or sorted(self.conditions, key=_weight)
        return found[0].reason if found else None


def _weight(condition: Condition) -> tuple[bool, int, int]:
    """Sort by what decides: that the slot is in use, then the condition that rejects most jobs."""
    return condition.lever is not Lever.TIME, -condition.rejected, -condition.alone


@attrs.frozen
class SlotOutcome:
    """What a cycle with all idle jobs decides about a slot.

    ``job`` and ``user`` get it, empty if none does. Of the jobs that could run there, ``elsewhere`` get other slots, and the
    ``waiting`` get none, with the reasons of most of them first.
    """

    job: str = ""
    user: str = ""
    elsewhere: int = 0
    waiting: tuple[RefusedJobs, ...] = ()
