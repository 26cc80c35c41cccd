"""How many applications of a pool ran, and how many jobs had slots, in the last day: a value a minute, since the service began.

Source: YuniKorn's internal metrics history (1,440 values, one a minute).
"""

from __future__ import annotations

from collections import deque
from typing import Final

import attrs

MINUTE: Final = 60.0
_MOST: Final = 24 * 60


@attrs.frozen
class PoolCount:
    """The numbers of running applications and of jobs with slots at a time, in seconds since the epoch."""

    at: float
    applications: int
    running: int


@attrs.define(eq=False)
class PoolHistory:
    """The counts of the last day, oldest first; at most one a minute."""

    _counts: deque[PoolCount] = attrs.field(factory=lambda: deque(maxlen=_MOST))

    def add(self, count: PoolCount) -> None:
        """Add a count; it replaces the last one until a minute has passed since the one before."""
        if len(self._counts) > 1 and count.at - self._counts[-2].at < MINUTE:
            self._counts.pop()
        self._counts.append(count)

    def counts(self) -> tuple[PoolCount, ...]:
        """Return the counts, oldest first."""
        return tuple(self._counts)
