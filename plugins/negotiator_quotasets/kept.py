"""What was worked out, for as long as there is room for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar

T = TypeVar("T")


class Kept(OrderedDict[Hashable, T]):
    """What was worked out, as much as there is room for: jobs say what they like, and each other word is another claimant."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self._room = room

    def find(self, key: Hashable) -> T | None:
        """What is kept."""
        return super().get(key)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:  # type: ignore[override]
        """What is kept, made where it is not."""
        found = self.find(key)
        if found is None:
            if len(self) >= self._room:
                self.popitem(last=False)
            self[key] = found = make()
        return found
