"""When the negotiator last got on with its work: a process that hangs does not."""

from __future__ import annotations

import time
from collections.abc import Callable

import attrs


@attrs.define(eq=False)
class WorkClock:
    """Notes each step of the negotiator: a turn of a cycle, a part of the pool that was read, a look for requests.

    Any thread may use it.

    :param monotonic: returns seconds from any beginning.
    """

    monotonic: Callable[[], float] = time.monotonic
    last_step: float = attrs.field(init=False)
    """When the last step was made."""

    def __attrs_post_init__(self) -> None:
        self.note()

    def note(self) -> None:
        """Note that a step was made just now."""
        self.last_step = self.monotonic()

    def idle_seconds(self) -> float:
        """Return the seconds since the last step."""
        return self.monotonic() - self.last_step
