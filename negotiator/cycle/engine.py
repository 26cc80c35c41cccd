"""Where the conditions of a cycle are evaluated: the interface of engines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

import attrs

from negotiator.bundle.model import Bundle
from negotiator.cycle.alike_jobs import AlikeJobs
from negotiator.cycle.condition_table import ConditionTable
from negotiator.cycle.conditions import ConditionSource
from negotiator.cycle.conjunct import ConjunctPool
from negotiator.cycle.match import SlotMatcher
from negotiator.cycle.work_accounts import WorkAccounts
from negotiator.hooks.order import QueuedRequest
from negotiator.hooks.records import Cycle


@attrs.frozen(eq=False)
class MatchingTask:
    """What the turns of one cycle begin with: its requests, the first job of each, and the slots with nothing granted yet."""

    bundle: Bundle
    cycle: Cycle
    requests: Sequence[QueuedRequest]
    alike: AlikeJobs
    matcher: SlotMatcher
    work: WorkAccounts
    conjuncts: ConjunctPool

    def conditions(self) -> ConditionTable:
        """Return the conditions of the requests."""
        matcher = self.matcher
        return ConditionTable(
            *(self.requests, self.alike, matcher.slots, matcher.requirements),
            *(self.bundle.constraints, self.cycle, self.work, self.conjuncts),
        )


class Engine(Protocol):
    """Evaluates the conditions of requests ahead of their turns."""

    def begin(self, task: MatchingTask) -> AbstractContextManager[ConditionSource | None]:
        """Begin to evaluate; at the end of the context nothing of it is left. None: the cycle evaluates them itself."""

    def connect(self) -> None:
        """Connect to workers that outlive a cycle; without this call the first cycle does, and goes on without them if it fails.

        :raises CommandError: they cannot be reached.
        """

    def leave_out(self, reason: str) -> None:
        """Report that a cycle is decided without workers, for this reason."""

    def take_notices(self) -> Sequence[str]:
        """Return sentences on workers that were lost, refused or left out since the last call."""

    def close(self) -> None:
        """End workers that outlive a cycle; the engine is not used again."""


@attrs.frozen
class LocalEngine:
    """The engine of one process: each condition is evaluated at the first turn that needs it."""

    @contextmanager
    def begin(self, task: MatchingTask) -> Iterator[ConditionSource | None]:
        """Evaluate nothing ahead."""
        yield task.conditions()

    def connect(self) -> None:
        """Do nothing: there are no workers."""

    def leave_out(self, reason: str) -> None:
        """Report nothing: there are no workers."""

    def take_notices(self) -> tuple[str, ...]:
        """Return nothing: there are no workers."""
        return ()

    def close(self) -> None:
        """Do nothing: there are no workers."""


LOCAL = LocalEngine()
