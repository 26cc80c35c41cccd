"""What the daemons and tools of a live pool may request of the running negotiator."""

from __future__ import annotations

from typing import Protocol


class PoolControl(Protocol):
    """The running negotiator, as a plugin with a ``LivePool`` uses it. Any thread may call its methods; none waits for a cycle."""

    def start_cycle(self) -> None:
        """Start the next cycle now (HTCondor's RESCHEDULE), or as soon as the present one has ended."""
