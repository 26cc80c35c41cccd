"""Shows what a command is busy with, on a terminal, once it takes longer than a second.

Nothing is imported for it before that: most commands are shorter.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from negotiator.activity import LongOperation
    from negotiator.cli.status_line import StatusLine

#: Seconds after which a command is long.
DELAY: Final = 1.0
_SHORTEST: Final = 0.2  # seconds of an activity that is shown


class ActivityWatcher:
    """Watches the activities of one command.

    :param delay: seconds from now on in which nothing is shown.
    """

    def __init__(self, delay: float = DELAY) -> None:
        self._first = time.monotonic() + delay
        self._timer: threading.Timer | None = None
        self._line: StatusLine | None = None
        self._lock = threading.Lock()

    def begin(self, operation: LongOperation) -> None:
        """Show the present activity of an operation, unless it ends soon."""
        seconds = max(self._first - time.monotonic(), _SHORTEST)
        self._timer = threading.Timer(seconds, self._show, [operation])
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        """Show nothing."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if self._line is not None:
                self._line.hide()
            self._timer = self._line = None

    def _show(self, operation: LongOperation) -> None:
        from negotiator.cli.activity_line import ActivityLine  # noqa: PLC0415 - imports rich

        with self._lock:
            if self._timer is threading.current_thread():  # it has not ended
                self._line = ActivityLine.shown(operation)
