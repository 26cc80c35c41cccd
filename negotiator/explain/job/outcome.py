"""What a cycle decided about one job."""

from __future__ import annotations

import attrs

from negotiator.cycle.result import CycleResult
from negotiator.records import Mode, Reason


@attrs.frozen
class JobOutcome:
    """The slot that a job got in a cycle, or the decisive reason why it got none; and its queue."""

    slot: str = ""
    queue: str = ""
    reason: Reason | None = None


def outcome_of(result: CycleResult, job: str, schedd: str) -> JobOutcome | None:
    """Return what a cycle decided about a job; None if the job took no part in it, and too many others did not to name them.

    :param job: its id, ``12.7``.
    :param schedd: the name of its schedd, in lower case.
    """
    for outcome in result.outcomes:
        if outcome.request.schedd.lower() != schedd:
            continue
        for match in outcome.matches:
            if match.job == job:
                return JobOutcome(match.slot, match.queue)
        if outcome.rejection is not None and outcome.jobs_left.has(job):
            return JobOutcome("", outcome.request.queue, outcome.rejection.reason)
    for each in result.discarded:
        if each.reason.mode is Mode.ENFORCE and (schedd, job) in each.jobs:
            return JobOutcome("", "", each.reason)
    return None
