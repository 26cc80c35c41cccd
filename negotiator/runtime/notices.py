"""Sentences for the log from any thread, bounded in number: whoever causes them may be hostile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

import attrs

MOST: Final = 100
"""Sentences that are kept in a second, and between two looks at them."""

_LONGEST: Final = 1_000  # characters of a sentence
_PERIOD: Final = 1.0  # seconds


@attrs.define(eq=False)
class Notices:
    """Sentences that wait to be logged: at most ``MOST`` in a second, however often they are taken.

    :param clock: returns seconds that only increase.
    """

    clock: Callable[[], float] = time.monotonic
    _texts: list[str] = attrs.field(factory=list, init=False)
    _dropped: int = attrs.field(default=0, init=False)
    _kept: int = attrs.field(default=0, init=False)  # in the present second
    _since: float = attrs.field(default=float("-inf"), init=False)  # when that second began
    _counted: float = attrs.field(default=float("-inf"), init=False)  # when dropped ones were last reported
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def add(self, text: str) -> None:
        """Add a sentence, or count it if there are too many."""
        with self._lock:
            now = self.clock()
            if now - self._since >= _PERIOD:
                self._since, self._kept = now, 0
            if self._kept < MOST and len(self._texts) < MOST:
                self._texts.append(text[:_LONGEST])
                self._kept += 1
            else:
                self._dropped += 1

    def take(self, *, finish: bool = False) -> list[str]:
        """Return the sentences since the last call, and, once in a second, how many were dropped.

        :param finish: this is the last call: return that number in any case.
        """
        with self._lock:
            texts, self._texts = self._texts, []
            now = self.clock()
            if not self._dropped or not (finish or now - self._counted >= _PERIOD):
                return texts
            dropped, self._dropped, self._counted = self._dropped, 0, now
        return [*texts, f"and {dropped} more such messages"]
