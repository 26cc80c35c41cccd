"""What an engine reports of its workers: each sentence once, until another one has taken its place."""

from __future__ import annotations

from typing import Final

import attrs

_MOST: Final = 100


@attrs.define(eq=False)
class EngineNotices:
    """Sentences for whoever reads the log."""

    _new: list[str] = attrs.field(factory=list, init=False)
    _last: tuple[str, ...] = attrs.field(default=(), init=False)

    def add(self, text: str) -> None:
        """Add a sentence; a cycle has at most 100."""
        if text not in self._new and len(self._new) < _MOST:
            self._new.append(text)

    def take(self) -> tuple[str, ...]:
        """Return the sentences since the last call, but for those that it returned too."""
        found = tuple(each for each in self._new if each not in self._last)
        self._last, self._new = tuple(self._new), []
        return found
