"""The time limits of a cycle, as an allocator reads them: who has no time left.

Time passes between turns only, so that a cycle does not depend on when the clock is read.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod


class TimeLimit(enum.StrEnum):
    """What a time limit bounds.

    Source: HTCondor manual, NEGOTIATOR_MAX_TIME_PER_CYCLE, ..._PER_SUBMITTER, ..._PER_SCHEDD and ..._PER_PIESPIN.
    """

    CYCLE = "cycle"  # the whole cycle
    SUBMITTER = "submitter"  # the turns of one submitter at one schedd
    SCHEDD = "schedd"  # the turns of all submitters at one schedd
    SPIN = "piespin"  # the turns of one submitter at one schedd in one spin
    ADMINISTRATOR = "administrator"  # an administrator ended the cycle

    @property
    def ends_cycle(self) -> bool:
        """True if nobody has another turn."""
        return self in {TimeLimit.CYCLE, TimeLimit.ADMINISTRATOR}


class TurnTime(ABC):
    """Tells an allocator whether a submitter may have another turn.

    Submitters and schedds are named as requests name them. The time of a turn is that of matching and charging its request.
    """

    @abstractmethod
    def reached(self, submitter: str, schedd: str) -> TimeLimit | None:
        """Return the limit that leaves a submitter no time; None if it may have another turn."""

    @abstractmethod
    def begin_spin(self, submitter: str, schedd: str) -> None:
        """Count the time of this submitter in a spin from zero; without spins it has no such limit."""


class UnlimitedTime(TurnTime):
    """No limits."""

    def reached(self, submitter: str, schedd: str) -> None:
        """Return None."""

    def begin_spin(self, submitter: str, schedd: str) -> None:
        """Do nothing."""
