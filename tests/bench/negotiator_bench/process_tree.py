"""Memory of a process and of the processes that it starts, observed from outside."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs

_PROC: Final = Path("/proc")  # proc(5), on Linux only
#: Seconds between two looks, and how many times as long as a look takes: the kernel visits every page.
_PAUSE: Final = 0.2
_SHARE: Final = 50


@attrs.define
class PeakMemory:
    """The most memory that was seen, in bytes: pages that processes share count once. None before the first look."""

    bytes: int | None = None


@contextmanager
def observed_memory(pid: int) -> Iterator[PeakMemory]:
    """Observe a process with all its children as long as the context lasts."""
    peak, done = PeakMemory(), threading.Event()

    def watch() -> None:
        pause = 0.0
        while not done.wait(pause):
            start = time.thread_time()
            sizes = [_proportional(each) for each in _family(pid)]
            found = sum(size for size in sizes if size is not None)
            if found:
                peak.bytes = max(peak.bytes or 0, found)
            pause = max(_PAUSE, _SHARE * (time.thread_time() - start))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        done.set()
        watcher.join()


def _family(pid: int) -> Iterator[int]:
    """Yield a process, its children, their children and so on."""
    yield pid
    for task in _PROC.glob(f"{pid}/task/*/children"):
        try:
            children = task.read_text("ascii").split()
        except OSError:
            continue
        for child in children:
            yield from _family(int(child))


def _proportional(pid: int) -> int | None:
    """Return the bytes of a process, its part of pages that others share; None if they are not known."""
    try:
        lines = (_PROC / str(pid) / "smaps_rollup").read_text("ascii").splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:")), None)
