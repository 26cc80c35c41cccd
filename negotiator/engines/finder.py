"""What a worker does: it evaluates the conditions of requests, and sorts the slots that they leave."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from negotiator.classad import Environment
from negotiator.classad.columnar import EvaluationMeter, TrueRows
from negotiator.cycle.conditions import BestSlots, FoundConditions, apply_conditions
from negotiator.engines.condition_task import ConditionTask
from negotiator.engines.noted_candidates import NotedCandidates
from negotiator.hooks.records import Mask

#: Slots that are listed for a request, and for each of its jobs: later requests often prefer slots that were taken meanwhile.
LEAST_LISTED: Final = 128
LISTED_EACH: Final = 2
MOST_LISTED: Final = 4096


@attrs.frozen(eq=False)
class FoundAnswer:
    """The answer of a worker for one request, ``found`` None if it depends on more than ads.

    ``reads`` are the attributes of the job, in lower case, that conditions and ranks read. ``steps`` is the most that the owner of the
    job would have paid for it in any order of requests, ``common`` for what is the same for all requests so far, and ``machine`` the
    most that one machine has paid so far. ``nbytes`` is the size of the answer as it was sent, and ``memory`` about what it takes in the
    cycle's process.
    """

    number: int
    found: FoundConditions | None
    reads: frozenset[str] = frozenset()
    steps: int = 0
    common: int = 0
    machine: int = 0
    nbytes: int = 0
    memory: int = 0


class ConditionFinder:
    """Evaluates the conditions of the requests of one cycle; its caches are its own.

    :param taken: slots that were granted, (N,), as the cycle goes on; they are not listed.
    """

    def __init__(self, task: ConditionTask, taken: Mask) -> None:
        self._task, self._taken, self._idle = task, taken, ~task.running
        self._meter = EvaluationMeter()
        task.requirements.measure(self._meter)
        task.ranks.measure(self._meter)

    def find(self, number: int) -> FoundAnswer:
        """Return the answer for the request of this number."""
        task, meter = self._task, self._meter
        job = task.jobs[number]
        meter.begin()
        followed = task.requirements.dependencies.values
        not_repeated = followed.steps_not_repeated
        owner = task.work.owner(job)
        before = owner.steps
        paid = task.work.for_job(task.cycle, job)
        candidates = NotedCandidates(task.slots)
        apply_conditions(candidates, job, task.requirements, task.constraints, paid)
        reads = task.requirements.names_read(job)  # ranks may forget them
        if meter.opaque or owner.exhausted or task.ranks.is_random(job):
            return FoundAnswer(number, None)
        best = self._best(number, candidates.rows, paid.environment)
        found = FoundConditions(
            tuple(candidates.conditions),
            tuple(candidates.removals),
            tuple((reason, TrueRows.from_mask(mask)) for reason, mask in candidates.warnings),
            best,
        )
        return FoundAnswer(
            number,
            found,
            reads | task.requirements.names_read(job),
            before - owner.steps + meter.reused + followed.steps_not_repeated - not_repeated,
            meter.common,
            task.work.most_of_machine(),
        )

    def _best(self, number: int, kept: TrueRows, env: Environment) -> BestSlots:
        task = self._task
        free = kept.rows & (self._idle > self._taken)  # idle and not taken, in one pass
        left = int(np.count_nonzero(free))
        count = min(MOST_LISTED, LEAST_LISTED + LISTED_EACH * task.copies[number])
        rows, ranks = task.ranks.choose(task.jobs[number], free, min(count, left), env)
        return BestSlots(rows, ranks, complete=len(rows) == left)
