"""A cache of a bounded size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


class BoundedCache(Generic[T]):
    """Computed values by key; the oldest is dropped first. Bounded because users choose the contents of job ads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable, compute: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the value of a key, computed if it is missing."""
        value = self._values.get(key)
        if value is None:
            if len(self._values) >= self._size:
                self._values.popitem(last=False)
            self._values[key] = value = compute(*args, **kwargs)
        return value
