"""Ends this process when the one that started it has ended."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Final

_INTERVAL: Final = 1.0  # seconds


def end_with_parent() -> None:
    """Send SIGTERM to this process once its parent has ended."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_INTERVAL)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent", daemon=True).start()
