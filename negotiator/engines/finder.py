"""What a worker does: it evaluates the conditions of requests, and sorts the slots that they leave."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from negotiator.classad.columnar import EvaluationMeter, TrueRows
from negotiator.cycle.candidate_set import CandidateSet
from negotiator.cycle.conditions import BestSlots, FoundConditions, apply_conditions
from negotiator.cycle.engine import MatchingTask
from negotiator.hooks.records import Mask, Request

#: Slots that are listed for a request, and for each of its jobs: later requests often prefer slots that were taken meanwhile.
LEAST_LISTED: Final = 128
LISTED_EACH: Final = 2
MOST_LISTED: Final = 4096


@attrs.frozen(eq=False)
class FoundAnswer:
    """The answer of a worker for one request, ``found`` None if it depends on more than ads.

    ``reads`` are the attributes of the job, in lower case, that conditions and ranks read. ``steps`` is the most that the owner of the
    job would have paid for it in any order of requests, ``common`` for what is the same for all requests so far, and ``machine`` the
    most that one machine has paid so far.
    """

    number: int
    found: FoundConditions | None
    reads: frozenset[str] = frozenset()
    steps: int = 0
    common: int = 0
    machine: int = 0


class ConditionFinder:
    """Evaluates the conditions of the requests of one cycle; its caches are its own.

    :param taken: slots that were granted, (N,), as the cycle goes on; they are not listed.
    """

    def __init__(self, task: MatchingTask, taken: Mask) -> None:
        self._task, self._taken = task, taken
        self._meter = EvaluationMeter()
        task.matcher.requirements.measure(self._meter)
        task.matcher.ranks.measure(self._meter)

    def find(self, number: int) -> FoundAnswer:
        """Return the answer for the request of this number."""
        task, meter = self._task, self._meter
        matcher, request = task.matcher, task.requests[number].request
        meter.begin()
        owner = task.work.owner(request.ad)
        before = owner.steps
        paid = task.work.for_request(task.cycle, request)
        candidates = CandidateSet(matcher.slots)
        apply_conditions(candidates, request, matcher.requirements, task.bundle, paid)
        reads = matcher.requirements.names_read(request.ad)  # ranks may forget them
        if meter.opaque or owner.exhausted or matcher.ranks.is_random(request.ad):
            return FoundAnswer(number, None)
        best = self._best(request, candidates.keep)
        found = FoundConditions(
            TrueRows.from_mask(candidates.keep),
            tuple(candidates.removals),
            tuple((reason, TrueRows.from_mask(mask)) for reason, mask in candidates.warnings),
            best,
        )
        return FoundAnswer(
            number,
            found,
            reads | matcher.requirements.names_read(request.ad),
            before - owner.steps + meter.reused,
            meter.common,
            task.work.most_of_machine(),
        )

    def _best(self, request: Request, kept: Mask) -> BestSlots:
        task, matcher = self._task, self._task.matcher
        free = kept & ~matcher.running & ~self._taken
        left = int(np.count_nonzero(free))
        count = min(MOST_LISTED, LEAST_LISTED + LISTED_EACH * len(request.applications))
        paid = task.work.for_request(task.cycle, request)
        rows, ranks = matcher.ranks.choose(request.ad, free, min(count, left), paid.environment)
        return BestSlots(rows, ranks, complete=len(rows) == left)
