"""When a cycle began, by the clocks that its times are measured with."""

from __future__ import annotations

import time
from typing import Self

import attrs

from negotiator.cycle.result import CycleSpan


@attrs.frozen
class CycleBeginning:
    """A moment: in seconds since the epoch, by a monotonic clock, and in processor seconds of this process."""

    wall: float
    monotonic: float
    cpu: float

    @classmethod
    def now(cls, wall: float, monotonic: float) -> Self:
        """Return this moment."""
        return cls(wall, monotonic, time.process_time())

    def span(self, ended: float) -> CycleSpan:
        """Return the time of a cycle that ends now.

        :param ended: the time in seconds since the epoch.
        """
        return CycleSpan(self.wall, ended, time.process_time() - self.cpu)
