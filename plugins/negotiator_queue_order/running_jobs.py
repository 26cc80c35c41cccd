"""The running jobs that matches may end, as arrays: their slots, queues, amounts, priorities and age.

Source: YuniKorn's documentation, "Preemption"; its ``findEligiblePreemptionVictims``. HTCondor manual, Machine ClassAd
Attributes (State, JobStart, RetirementTimeRemaining, PreemptingRank).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import ClaimsInUse, Environment, Mask, Request, Table, bind, evaluate_table, parse
from negotiator_queue_order.leaf_jobs import Ints, Numbers, job_priorities
from negotiator_queue_order.shares import Matrix

_IN_USE = bind(parse('MY.State == "Claimed" && MY.PartitionableSlot =!= true'))
_ENDING = bind(parse("MY.PreemptingRank =!= undefined || MY.PreemptingUser =!= undefined"))
_RETIRES = bind(parse("MY.RetirementTimeRemaining > 0"))
_STARTED = bind(parse("MY.JobStart ?: MY.EnteredCurrentState"))


@attrs.frozen(eq=False)
class RunningJobs:
    """The jobs that may be ended, one on each of their slots, (K,).

    ``requests`` (U,) has one for all jobs that are charged alike, and ``kind`` (K,) the index of each job's. ``ending`` are the
    requests of further jobs that end already, and their numbers.
    """

    requests: Sequence[Request]
    slots: NDArray[np.intp]
    kind: Ints
    priority: Ints
    started: Numbers  # in seconds since the epoch, 0 if unknown
    ending: Sequence[tuple[Request, int]]
    size: int  # of the table of slots
    running: Mask  # (K,) False once a match of the cycle ends the job

    @classmethod
    def of(cls, claims: Sequence[ClaimsInUse], slots: Table, env: Environment) -> Self:
        """Find the jobs: a slot that is shared, is being taken from its job, or gives its job time to retire is left out."""
        whole = evaluate_table(_IN_USE, slots, env=env).is_true()
        taken = evaluate_table(_ENDING, slots, env=env).is_true()
        own = [each for each in claims if not each.pending]
        rows = np.concatenate([np.zeros(0, np.intp), *(each.slots for each in own)])
        ended = np.concatenate([np.zeros(0, np.bool_), *map(_ended, own)])
        kind = np.repeat(np.arange(len(own)), [len(each.slots) for each in own])
        alone = whole & (np.bincount(rows[rows >= 0], minlength=len(slots)) == 1)
        retires = evaluate_table(_RETIRES, slots, env=env).is_true()
        # One more element, for a slot that is not in the table.
        may_end = np.append(alone & ~taken & ~retires, False)[rows] & ~ended
        ending = np.bincount(kind[np.append(alone & taken, False)[rows] | ended], minlength=len(own)).tolist()
        started = np.nan_to_num(evaluate_table(_STARTED, slots, env=env).numbers(0.0))
        return cls(
            tuple(each.request for each in own),
            rows[may_end],
            kind[may_end],
            _priorities(own)[may_end],
            np.broadcast_to(started, len(slots))[rows[may_end]],
            tuple((each.request, count) for each, count in zip(own, ending, strict=True) if count),
            len(slots),
            np.ones(int(np.count_nonzero(may_end)), np.bool_),
        )

    @property
    def users(self) -> NDArray[np.object_]:
        """The submitter of the job on each slot, (S,), empty if no job there may be ended."""
        return self._of_slots([each.submitter for each in self.requests])

    @property
    def queues(self) -> NDArray[np.object_]:
        """The queue of the job on each slot, (S,), empty if no job there may be ended."""
        return self._of_slots([each.queue for each in self.requests])

    def amounts(self, resources: Sequence[str]) -> Matrix:
        """Return what one job of each kind uses, (U, R)."""
        rows = [[each.resources.get(name, 0) for name in resources] for each in self.requests]
        return np.array(rows, np.float64).reshape(len(rows), len(resources))

    def at(self, slot: int) -> int:
        """Return the index of the job on a slot."""
        return int(self._by_slot[slot])

    @cached_property
    def _by_slot(self) -> Ints:
        found = np.full(self.size, -1, np.int64)
        found[self.slots] = np.arange(len(self.slots))
        return found

    def _of_slots(self, names: Sequence[str]) -> NDArray[np.object_]:
        found = np.full(self.size, "", np.object_)
        if len(self.slots):
            found[self.slots] = np.array(names, np.object_)[self.kind]
        return found


def _ended(claims: ClaimsInUse) -> Mask:
    return np.zeros(len(claims.slots), np.bool_) if claims.ended is None else claims.ended


def _priorities(claims: Sequence[ClaimsInUse]) -> Ints:
    """Return the priorities of all jobs; those of a table are read once."""
    tables = {id(each.jobs): each.jobs for each in claims}
    known = {key: job_priorities(jobs) for key, jobs in tables.items()}
    return np.concatenate([np.zeros(0, np.int64), *(known[id(each.jobs)][each.rows] for each in claims)])
