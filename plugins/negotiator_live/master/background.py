"""Work beside the cycles, as long as the process lives."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_lock = threading.Lock()
_names: set[str] = set()


def repeat(name: str, pause: float, work: Callable[[], object]) -> None:
    """Call a function again and again in a thread of this name, with pauses of so many seconds. It is started once."""

    def run() -> None:
        while True:
            work()
            time.sleep(pause)

    with _lock:
        if name not in _names:
            threading.Thread(target=run, name=name, daemon=True).start()
            _names.add(name)
