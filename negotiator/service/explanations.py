"""Answers why jobs get no slot, or a slot no job, from the pool as it was read last: one at a time, and each once."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Final

import attrs

from negotiator.app.overview import PoolOverview
from negotiator.app.pool_view import PoolView
from negotiator.app.why.answer import WhyAnswer, why_answer
from negotiator.app.why.idle import IdleReport, idle_report
from negotiator.app.why.subject import WhyKind
from negotiator.hooks.command_targets import CommandTargets

#: Answers that are kept of one reading of the pool: each has at most some hundred lines.
_MOST: Final = 200


@attrs.define(eq=False, slots=False)
class Explanations:
    """Answers about one reading of a pool.

    The ads are read when the first question comes. A cycle with all idle jobs, which most questions need, is run once for all. An answer is made
    while others wait for it, so that questions take the time of one processor at most.
    """

    targets: CommandTargets
    overview: PoolOverview
    _answers: dict[tuple[WhyKind, str], WhyAnswer] = attrs.field(factory=dict, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def why(self, kind: WhyKind, name: str) -> WhyAnswer:
        """Return the answer about a job, a slot, a user or a queue.

        :raises InvalidCallError, NotFoundError: as ``why_answer``.
        :raises PoolError, StateError: the pool or the state cannot be read.
        """
        with self._lock:
            found = self._answers.get((kind, name))
            if found is None:
                found = why_answer(self._view, name, kind, self.overview)
                if len(self._answers) >= _MOST:
                    del self._answers[next(iter(self._answers))]  # the oldest
                self._answers[kind, name] = found
            return found

    def idle(self) -> IdleReport:
        """Return why the idle jobs get no slot.

        :raises PoolError, StateError: the pool or the state cannot be read.
        """
        with self._lock:
            return self._idle

    @cached_property
    def _idle(self) -> IdleReport:
        return idle_report(self._view)

    @cached_property
    def _view(self) -> PoolView:
        return PoolView(self.targets, self.overview.bundle, self.overview.now)
