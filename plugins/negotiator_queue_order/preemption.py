"""Preemption between queues: which running jobs a queue below its guaranteed resources may end, and when.

Source: YuniKorn's documentation, "Preemption", and its ``CheckPreconditions`` and ``SortAllocations``; "Scheduler
Configuration", threshold and interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import (
    JointPreemption,
    Mask,
    PreemptionPolicy,
    PreemptionRules,
    PreemptionVictims,
    Resources,
    SharedBudget,
    Source,
    Weights,
)
from negotiator_queue_order.guarantees import Eligibility, Guarantees, Levels, guaranteeing, levels_of
from negotiator_queue_order.leaf_jobs import Ints, Numbers, RunningJobs
from negotiator_queue_order.queues import Matrix, QueueNode, Queues, fair_share

#: A queue may end the jobs of so many slots in one cycle, as in YuniKorn.
MAX_ENDED_JOBS: Final = 10


@attrs.frozen(eq=False)
class EligibleVictims:
    """The slots whose jobs one turn may end, and scores that sort them, (S,)."""

    victims: PreemptionVictims
    scores: Weights


@attrs.define(eq=False, slots=False)
class QueuePreemptor:
    """The jobs that may be ended in one cycle; made when all free slots are granted."""

    queues: Queues
    jobs: RunningJobs
    sources: Mapping[str, Source]
    _guarantees: Guarantees
    _amounts: Matrix  # (U, R)
    _sizes: Numbers  # (U,) the largest part of the pool that a job uses
    _rows: NDArray[np.intp]  # (U,) the row of each job's queue, -1 if its jobs may not be ended
    _found: dict[tuple[str, Levels, QueueNode, int], EligibleVictims | None] = attrs.field(factory=dict)

    @classmethod
    def of(
        cls, queues: Queues, jobs: RunningJobs, capacity: Resources, sources: Mapping[str, Source]
    ) -> QueuePreemptor:
        """Return the jobs that may be ended now; jobs that end already are no more use of their queues.

        :param capacity: what the pool has of each resource.
        :param sources: the places of the queues in the configuration, by path.
        """
        for request, count in jobs.ending:
            queues.count_usage(request.queue, request.resources, -count)
        nodes = [queues.node(each.queue) for each in jobs.requests]
        names = {name for node in queues.nodes.values() for name in node.guaranteed}
        guarantees = Guarantees.of(queues.nodes.values(), sorted(names))
        rows = [
            -1 if node.properties.preemption is PreemptionPolicy.DISABLED else guarantees.rows[node.path]
            for node in nodes
        ]
        sizes = [fair_share(each.resources, {}, capacity) for each in jobs.requests]
        amounts = jobs.amounts(guarantees.resources)
        return cls(
            *(
                queues,
                jobs,
                sources,
                guarantees,
                amounts,
                np.array(sizes, np.float64),
                np.array(rows, np.intp),
            )
        )

    def find(
        self, leaf: QueueNode, amounts: Resources, priority: int, ended: int = 0
    ) -> EligibleVictims | None:
        """Return the slots whose jobs a job of a leaf may end; None if there are none.

        :param amounts: what the job requests.
        :param ended: how many jobs the leaf has ended in this cycle.
        """
        levels = levels_of(leaf, amounts)
        if not levels:
            return None
        own = guaranteeing(leaf, amounts)
        key = leaf.path, levels, own, priority
        if key not in self._found:
            found = self._find(leaf, levels, own, priority)
            if found is not None:
                found = attrs.evolve(found, victims=attrs.evolve(found.victims, most=MAX_ENDED_JOBS - ended))
            self._found[key] = found
        return self._found[key]

    def ended(self, slot: int, leaf: QueueNode) -> None:
        """Note that a match of a leaf ends the job on a slot; the leaf's own use is counted already."""
        request = self.jobs.requests[self.jobs.kind[self.jobs.at(slot)]]
        self.queues.count_usage(request.queue, request.resources, -1)
        self.jobs.running[self.jobs.at(slot)] = False
        self._guarantees.update(self.queues.node(request.queue))
        self._guarantees.update(leaf)
        self._found.clear()

    def _find(self, leaf: QueueNode, levels: Levels, own: QueueNode, priority: int) -> EligibleVictims | None:
        eligibility = self._guarantees.eligibility(leaf, levels, priority)
        fits = ((self._amounts == 0) | (self._amounts <= eligibility.spare[self._rows])).all(axis=1)
        ahead = np.where(fits & (self._rows >= 0), eligibility.ahead[self._rows], -np.inf)[self.jobs.kind]
        ahead -= eligibility.counts[self._rows][self.jobs.kind] * self.jobs.priority
        found = np.flatnonzero(self.jobs.running & (ahead >= 0))
        if not len(found):
            return None
        slots = self.jobs.slots[found]
        keys = slots, self._sizes[self.jobs.kind[found]], -self.jobs.started[found], -ahead[found]
        mask, scores = np.zeros(self.jobs.size, np.bool_), np.zeros(self.jobs.size)
        mask[slots] = True
        scores[slots[np.lexsort(keys)]] = -np.arange(len(found), dtype=np.float64)
        victims = attrs.evolve(self._victims(mask, own), budgets=tuple(self._budgets(eligibility)))
        return EligibleVictims(victims, scores)

    def _budgets(self, eligibility: Eligibility) -> Iterator[SharedBudget]:
        """Yield what the jobs that end together may take of each queue, and of those above it."""
        for codes in self._queues:
            for place, amounts in enumerate(self._amounts_of_slots):
                left = eligibility.own_spare[:, place]
                if amounts.any() and np.isfinite(left).any():
                    yield SharedBudget(codes, amounts, left)

    @cached_property
    def _queues(self) -> Sequence[Ints]:
        """The queue of the job of each slot, (S,), and those above it, depth by depth."""
        own = np.zeros(self.jobs.size, np.intp)
        own[self.jobs.slots] = self._rows[self.jobs.kind].clip(min=0)
        return [each.astype(np.int64) for each in self._guarantees.at_depths(own)]

    @cached_property
    def _amounts_of_slots(self) -> Sequence[Numbers]:
        """What the job of each slot holds of each resource, (S,)."""
        found = np.zeros((self._amounts.shape[1], self.jobs.size))
        found[:, self.jobs.slots] = self._amounts[self.jobs.kind].T
        return list(found)

    def _victims(self, slots: Mask, own: QueueNode) -> PreemptionVictims:
        numbers = {
            f"{name}_{what}": values.get(name, 0)
            for name in sorted(own.guaranteed)
            for what, values in (("used", own.used), ("guaranteed", own.guaranteed))
        }
        text = f"{own.path} uses less than its guaranteed resources, the queue of the ended job more than its own"
        return PreemptionVictims(slots, "guaranteed", text, self.sources.get(own.path), numbers)


def rules_of(jobs: RunningJobs) -> PreemptionRules | None:
    """Return the rules that offer the slots of the jobs; None if there are none."""
    if not len(jobs.slots):
        return None
    offered = np.zeros(jobs.size, np.bool_)
    offered[jobs.slots] = True
    return PreemptionRules(jobs.users, queues=jobs.queues, joint=JointPreemption(offered))
