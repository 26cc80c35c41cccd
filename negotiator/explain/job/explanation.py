"""What a cycle decided about one job, and what becomes of it when it is considered alone.

The candidates of a request have the slots that each reason rejects, beside the counts that a cycle keeps.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.columnar import TrueRows
from negotiator.cycle.candidate_set import CandidateSet
from negotiator.cycle.conjunct import Conjunct
from negotiator.cycle.result import CycleResult, DiscardedAds, Removal
from negotiator.explain.first_end import FirstEnd
from negotiator.explain.job.conditions import Condition, Remedy
from negotiator.hooks.records import Mask
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


@attrs.frozen
class JobAlone:
    """What becomes of an idle job that no other idle job competes with, under the present use of the pool.

    ``slot`` is the one that it would get; empty if it gets none. ``candidates`` is how many it could get, of ``slots`` that take part;
    ``undivided`` of them are partitionable slots that give one match a cycle.
    ``decisive`` is why it gets none (None if it gets one), and ``causes`` why its schedd or submitter was discarded, if that is why. ``conditions`` reject slots, in the order of the cycle; ``together`` are the
    fewest of them that leave no slot, ``remedies`` the fewest that would have to change, for the most slots first. ``quotas`` refused
    the candidates that were left. ``discarded`` are the slots that took no part. ``first_end`` is of the jobs on slots that nothing but
    their use keeps from this one.
    """

    slots: int
    slot: str = ""
    candidates: int = 0
    undivided: int = 0
    queue: str = ""
    decisive: Reason | None = None
    causes: tuple[Reason, ...] = ()
    conditions: tuple[Condition, ...] = ()
    together: tuple[Condition, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    quotas: tuple[Removal, ...] = ()
    discarded: tuple[DiscardedAds, ...] = ()
    first_end: FirstEnd | None = None


@attrs.frozen
class SlotForJob:
    """What keeps an idle job from one slot when no other job competes with it.

    ``reasons`` reject the slot, in the order of the cycle; ``quotas`` refuse the job on the slots that nothing rejects. ``chosen`` is the slot that
    it would get instead or indeed, empty if it gets none.
    """

    reasons: tuple[Reason, ...]
    quotas: tuple[Reason, ...] = ()
    chosen: str = ""


@attrs.define
class RecordedCandidates(CandidateSet):
    """``rejected`` has the slots, (N,), that each reason rejects, independently of the others, in the order of the cycle."""

    rejected: list[tuple[Reason, Mask]] = attrs.field(factory=list, init=False)

    def require(self, truth: TrueRows, reason: Reason, rows: NDArray[np.intp] | None = None) -> None:
        """Note the slots on which a condition is not true."""
        self._note(reason, ~truth.rows, rows)
        CandidateSet.require(self, truth, reason, rows)

    def require_of_slots(self, conjunct: Conjunct, truth: TrueRows) -> Iterator[tuple[int, Removal]]:
        """Note the slots on which each written conjunct is not true."""
        false = ~truth.rows
        for code, written in enumerate(conjunct.written):
            own = false if conjunct.codes is None else false & (conjunct.codes == code)
            self._note(written.reason(), own, conjunct.rows)
        return CandidateSet.require_of_slots(self, conjunct, truth)

    def remove_rows(self, gone: TrueRows, reason: Reason) -> None:
        """Note the slots that are removed."""
        self._note(reason, gone.rows, None)
        CandidateSet.remove_rows(self, gone, reason)

    def _note(self, reason: Reason, mask: Mask, rows: NDArray[np.intp] | None) -> None:
        if not mask.any():
            return
        whole = np.zeros(len(self.slots), np.bool_)
        if rows is None:
            whole |= mask
        else:
            whole[rows] = mask
        self.rejected.append((reason, whole))
