"""How Python's garbage collector runs: rarely within a cycle, wholly between two, and not over what a process holds for long.

A cycle makes millions of objects that live until it ends, and hardly any in reference cycles. With Python's own thresholds the
collector traverses them again and again: a tenth of the time of a large cycle. The thresholds belong to the process, so
those who run cycles set them, not the cycle.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: New objects between two collections; Python's own default is 700 to 2,000.
NEW_OBJECTS = 50_000


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let the collector run after more new objects; restore the caller's thresholds at the end, and what it traverses.

    A collector that the caller switched off stays off. What was exempt from collections before stays exempt.
    """
    young, *older = gc.get_threshold()
    exempt = gc.get_freeze_count()
    if young:
        gc.set_threshold(max(young, NEW_OBJECTS), *older)
    try:
        yield
    finally:
        gc.set_threshold(young, *older)
        if not exempt:
            gc.unfreeze()


def collect_unreachable() -> None:
    """Free all reference cycles that are unreachable, unless the caller switched the collector off."""
    if gc.isenabled() and gc.get_threshold()[0]:
        gc.collect()


def exempt_reachable() -> None:
    """Free all unreachable reference cycles, and let no later collection traverse what is reachable now.

    For a process that holds much between rare changes: a collection would stop the other threads of a web server for 50 ms in a pool
    of 5,000 slots, and traversing its own modules is two thirds of the processor time of a negotiator that has nothing to do.
    What becomes unreachable is freed by the next call. Nothing happens if the caller switched the collector off.
    """
    if gc.isenabled() and gc.get_threshold()[0]:
        gc.unfreeze()
        gc.collect()
        gc.freeze()
