"""What was worked out, for as long as there is room for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


class BoundedCache(Generic[T]):
    """What was worked out, as much as there is room for: jobs say what they like, and each other word is another claimant."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._found: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable, make: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        """What is kept, made where it is not."""
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= self._room:
                self._found.popitem(last=False)
            self._found[key] = found = make(*given, **named)
        return found
