"""The line that shows how far a long cycle is, on a terminal."""

from __future__ import annotations

import threading
import time
from typing import Self

import attrs
from rich.console import Console
from rich.live import Live
from rich.text import Text

from negotiator.app.cycle_report import CycleProgress
from negotiator.cli.phrases import number
from negotiator.cli.render import printable

#: Seconds that a cycle takes before it is long.
DELAY = 2.0
_PER_SECOND = 4
_HINT = "Ctrl-C ends the cycle and keeps the matches"


@attrs.define(eq=False)
class ProgressLine:
    """One line on standard error, while a cycle takes longer than ``delay`` seconds; nothing unless ``enabled``.

    Use it as a context: at its end the line is gone, whatever was raised.
    """

    enabled: bool = False
    delay: float = DELAY
    _latest: CycleProgress | None = None  # None: no cycle is shown
    _begun: float = 0.0
    _timer: threading.Timer | None = None
    _live: Live | None = None
    _lock: threading.Lock = attrs.field(factory=threading.Lock)

    def __call__(self, progress: CycleProgress) -> None:
        """Show how far the cycle is."""
        if self.enabled and self._latest is None:
            self._begun = time.monotonic()
            self._timer = threading.Timer(self.delay, self._show)
            self._timer.daemon = True
            self._timer.start()
        self._latest = progress

    def hide(self) -> None:
        """Remove the line; the next cycle has one again."""
        with self._lock:
            self._latest = None
            if self._timer is not None:
                self._timer.cancel()
            if self._live is not None:
                self._live.stop()
            self._timer = self._live = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hide()

    def _show(self) -> None:
        with self._lock:
            if self._timer is not threading.current_thread():  # the cycle has ended
                return
            console = Console(stderr=True)
            self._live = Live(
                get_renderable=lambda: Text(self._text(), no_wrap=True, overflow="ellipsis"),
                console=console,
                transient=True,
                refresh_per_second=_PER_SECOND,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start(refresh=True)

    def _text(self) -> str:
        progress = self._latest
        if progress is None:
            return ""
        seconds = f"{time.monotonic() - self._begun:.0f} s"
        if not progress.requests:
            return f"{progress.station}, {seconds}"
        done = f"{progress.served} of {number(progress.requests, 'request')}"
        return printable(
            f"{progress.station}: {done}, {number(progress.matches, 'match')}, {seconds} ({_HINT})"
        )
