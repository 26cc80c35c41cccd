"""The time of records and accounts, which never goes back, and that by which matches of the journal age.

The latter advances only as far as it is proven that time passed.

A wall clock that jumps forward would end ``claim_timeout`` at once, and matches would be handed out twice. Time is proven by
the uptime of the machine (a clock that nobody sets, and that goes on between processes), and by the times in the ads of the
pool, as far as the wall clock agrees with them: they are written by other machines.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import attrs
import numpy as np

from negotiator.classad import Table

#: A wall clock that differs by more from the proven time, in seconds, is reported.
TOLERANCE: Final = 60.0

_LONGEST_SET_BACK: Final = 86400.0  # seconds
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_TIMES = ("LastHeardFrom", "MyCurrentTime", "ServerTime")


@attrs.define
class OrderedClock:
    """The wall clock, but never going back: cycles, records and accounts keep their order.

    After the wall clock was set back, time goes on at half the pace until it has caught up. One that was set back by more than a day
    was wrong before, and is followed. Any thread may call this.

    :param wall: returns the time in seconds since the epoch.
    :param monotonic: returns seconds that only increase.
    :param report: called with a sentence when the wall clock was set back.
    """

    wall: Callable[[], float]
    monotonic: Callable[[], float] = time.monotonic
    report: Callable[[str], None] = lambda _: None
    _last: tuple[float, float, float] | None = attrs.field(default=None, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def __call__(self) -> float:
        """Return the time in seconds since the epoch."""
        with self._lock:
            wall, now = self.wall(), self.monotonic()
            before, then, wall_then = self._last or (wall, now, wall)
            is_followed = not 0 < before - wall <= _LONGEST_SET_BACK
            found = wall if is_followed else before + max(0.0, now - then) / 2
            self._last = found, now, wall
        if wall_then - wall > TOLERANCE:
            goes_on = (
                "it is followed" if is_followed else "times go on at half the pace until it has caught up"
            )
            self.report(f"the clock was set back by {wall_then - wall:.0f} s: {goes_on}")
        return found


@attrs.frozen
class Uptime:
    """Seconds since the machine started, and an id of that start.

    Without an id, a later start is noticed only if the uptime is less than before; the difference is still time that passed.
    """

    seconds: float
    boot: str = ""


@attrs.frozen
class PoolTimes:
    """The times in the ads of a pool, in seconds since the epoch: of the newest ad, and the median."""

    newest: float
    median: float


@attrs.frozen
class JournalTime:
    """The proven time, and the clocks when it was determined last.

    ``time`` and ``wall`` are in seconds since the epoch. ``anchor`` is the first pair of a time of the pool and the wall
    clock that was seen, with the proven time then: (time, wall, pool).
    """

    time: float
    wall: float
    uptime: Uptime
    anchor: tuple[float, float, float] | None = None

    @classmethod
    def begin(cls, wall: float, uptime: Uptime) -> JournalTime:
        """Return the first time, for an empty journal: that of the wall clock."""
        return cls(wall, wall, uptime)

    def advanced(self, wall: float, uptime: Uptime, pool: PoolTimes | None) -> JournalTime:
        """Return the proven time now; it never moves back."""
        now = self.time
        if uptime.boot == self.uptime.boot:
            now += max(0.0, uptime.seconds - self.uptime.seconds)
        anchor = self.anchor
        if pool and anchor is None:
            anchor = (now, wall, pool.newest)
        elif pool and anchor:
            then, wall_then, pool_then = anchor
            now = max(now, then + min(pool.median - pool_then, wall - wall_then))
        return JournalTime(now, wall, uptime, anchor)

    def jump(self, before: JournalTime) -> float:
        """Return by how many seconds the wall clock moved more than is proven since then; negative if it moved less."""
        moved = (self.wall - before.wall) - (self.time - before.time)
        return moved if abs(moved) > TOLERANCE else 0.0


def system_uptime() -> Uptime:
    """Return the uptime of this machine, which includes the time that it was suspended."""
    try:
        boot = _BOOT_ID.read_text(encoding="ascii").strip()
        return Uptime(time.clock_gettime(time.CLOCK_BOOTTIME), boot)
    except (OSError, ValueError, AttributeError):  # not Linux
        return Uptime(time.monotonic())


def pool_times(slots: Table) -> PoolTimes | None:
    """Return the times in the ads of slots; None if they have none.

    An ad is as old as the oldest of its times. The median is not moved by a few machines with a wrong clock. Ads of jobs are
    not used: users write them.
    """
    if not len(slots):
        return None
    columns = np.stack([slots.numbers(name, default=np.inf) for name in _TIMES])
    times = columns.min(axis=0)
    times = np.sort(times[np.isfinite(times) & (times > 0)])
    if not len(times):
        return None
    return PoolTimes(float(times[-1]), float(times[(len(times) - 1) // 2]))
