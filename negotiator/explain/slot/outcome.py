"""What a cycle decided about one slot."""

from __future__ import annotations

from collections.abc import Collection, Hashable

import attrs

from negotiator.cycle.result import CycleResult
from negotiator.explain.slot.explanation import RefusedJobs, SlotOutcome


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
