"""The cycle's side of an engine: the answers of its workers, and when they may be used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Allowance
from negotiator.cycle.conditions import FoundConditions, SharedWorkError
from negotiator.cycle.engine import MatchingTask
from negotiator.engines.finder import FoundAnswer
from negotiator.hooks.order import QueuedRequest

#: Below it the workers take longer to start than the conditions to evaluate: requests times slots.
LEAST_PAIRS: Final = 2_000_000
#: Memory for answers that were not used, or may be used again, in bytes; beyond it used ones are dropped, and no more are taken.
MOST_HELD: Final = 512 << 20


class Workers(Protocol):
    """The workers of a cycle, numbered from 0. A call never fails: a worker that has ended has no answers."""

    def __len__(self) -> int:
        """Return how many there are."""

    def answers(self, until: int) -> Iterable[tuple[int, FoundAnswer]]:
        """Return the answers that have come, with the worker of each; wait for that of one request if a worker is at it."""


def is_large(task: MatchingTask) -> bool:
    """True if a cycle has enough conditions for workers."""
    return len(task.requests) * len(task.matcher.slots) >= LEAST_PAIRS


@attrs.define(eq=False)
class AheadConditions:
    """The conditions that workers found.

    :param served: set to 1 for each request that had its turn, (R,), and ``position`` to the number of the last one, (1,).
    """

    task: MatchingTask
    workers: Workers
    served: NDArray[np.uint8]
    position: NDArray[np.int64]
    used: int = attrs.field(default=0, init=False)  # turns whose conditions a worker found
    missed: int = attrs.field(default=0, init=False)
    _known: dict[int, FoundAnswer] = attrs.field(factory=dict, init=False)
    _held: int = attrs.field(default=0, init=False)
    _common: list[int] = attrs.field(init=False)
    _machines: list[int] = attrs.field(init=False)
    _owners: dict[int, int] = attrs.field(factory=dict, init=False)  # steps by the identity of the allowance

    def __attrs_post_init__(self) -> None:
        self._common, self._machines = [0] * len(self.workers), [0] * len(self.workers)

    def of(self, queued: QueuedRequest) -> FoundConditions | None:
        """Return what the conditions of a request leave; None if no worker has found it.

        :raises SharedWorkError: its owner or a machine may have used up its steps.
        """
        number = queued.number
        self.position[0] = number
        if number not in self._known:
            self._take(number)
        self.served[number] = 1
        answer = self._known.get(number)
        if answer is None or answer.found is None or not answer.reads.isdisjoint(queued.replaced_names):
            self.missed += 1
            return None
        owner = self.task.work.owner(queued.request.ad)
        self._owners[id(owner)] = self._owners.get(id(owner), 0) + answer.steps
        self._check(owner)
        self.used += 1
        return answer.found

    def verify(self) -> None:
        """Test what owners and machines have paid in all processes.

        :raises SharedWorkError: one may have used up its steps.
        """
        if not self.used:
            return
        for owner in self.task.work.owners:  # also those that paid for requests of which no answer was used
            self._check(owner)
        if self.task.work.most_of_machine() + sum(self._machines) >= self.task.work.steps_each_machine:
            raise SharedWorkError

    def _check(self, owner: Allowance) -> None:
        if owner.steps <= self._owners.get(id(owner), 0) + sum(self._common):
            raise SharedWorkError

    def _take(self, number: int) -> None:
        """Take the answers that have come, unless too many are held: the workers then wait."""
        if self._held >= MOST_HELD:
            self._drop_used()
        if self._held >= MOST_HELD:
            return
        for place, answer in self.workers.answers(number):
            self._known[answer.number] = answer
            if answer.found is not None:
                self._held += answer.memory
                self._common[place], self._machines[place] = answer.common, answer.machine

    def _drop_used(self) -> None:
        for number in np.flatnonzero(self.served).tolist():
            answer = self._known.pop(number, None)
            if answer is not None and answer.found is not None:
                self._held -= answer.memory
