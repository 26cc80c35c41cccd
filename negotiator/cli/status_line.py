"""One line on a terminal that shows how far something long is."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

import attrs

from negotiator.activity import unwatched
from negotiator.cli.render import printable

if TYPE_CHECKING:
    from rich.live import Live

#: Seconds after which something is long.
DELAY = 1.0
_PER_SECOND = 4


@attrs.define(eq=False)
class StatusLine(ABC):
    """One line on standard error, once something takes longer than ``delay`` seconds; nothing unless ``enabled``.

    Use it as a context: at its end the line is gone, whatever was raised.
    """

    enabled: bool = False
    delay: float = DELAY
    _begun: float = 0.0
    _timer: threading.Timer | None = None
    _live: Live | None = None
    _lock: threading.Lock = attrs.field(factory=threading.Lock)

    @abstractmethod
    def text(self, seconds: float) -> str:
        """Return the line, after so many seconds."""

    def begin(self) -> None:
        """Count the seconds from now on, if they are not counted yet."""
        if not self.enabled or self._timer is not None:
            return
        unwatched()  # this line says more than that of all commands
        self._begun = time.monotonic()
        self._timer = threading.Timer(self.delay, self._show)
        self._timer.daemon = True
        self._timer.start()

    def hide(self) -> None:
        """Remove the line; ``begin`` starts another one."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if self._live is not None:
                self._live.stop()
            self._timer = self._live = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hide()

    def show_now(self) -> None:
        """Show the line without a delay."""
        with self._lock:
            self._begun = time.monotonic()
            self._start()

    def _show(self) -> None:
        with self._lock:
            if self._timer is threading.current_thread():  # it has not ended
                self._start()

    def _start(self) -> None:
        if self._live is None:
            from rich.console import Console  # noqa: PLC0415 - most commands end before the line is shown
            from rich.live import Live  # noqa: PLC0415
            from rich.text import Text  # noqa: PLC0415

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
        return printable(self.text(time.monotonic() - self._begun))
