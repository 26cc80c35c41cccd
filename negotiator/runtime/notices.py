"""Sentences for the log from any thread, bounded in number: whoever causes them may be hostile."""

from __future__ import annotations

import threading
from typing import Final

import attrs

MOST: Final = 100
"""Sentences that are kept between two looks at them."""

_LONGEST: Final = 1_000  # characters of a sentence


@attrs.define(eq=False)
class Notices:
    """Sentences that wait to be logged."""

    _texts: list[str] = attrs.field(factory=list, init=False)
    _dropped: int = attrs.field(default=0, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def add(self, text: str) -> None:
        """Add a sentence, or count it if there are too many."""
        with self._lock:
            if len(self._texts) < MOST:
                self._texts.append(text[:_LONGEST])
            else:
                self._dropped += 1

    def take(self) -> list[str]:
        """Return the sentences since the last call, and how many were dropped."""
        with self._lock:
            texts, self._texts = self._texts, []
            dropped, self._dropped = self._dropped, 0
        return [*texts, f"and {dropped} more such messages"] if dropped else texts
