"""Keys by number: those of a family are built when they are read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from negotiator.ledger.keys import CounterKey, Family


class KeyList:
    """Keys in the order in which they were added, numbered from 0: one by one, or many of a family."""

    def __init__(self) -> None:
        self._parts: list[list[CounterKey] | Family] = []
        self._starts: list[int] = []  # the number of the first key of each part
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, number: int) -> CounterKey:
        part = bisect_right(self._starts, number) - 1
        return self._parts[part][number - self._starts[part]]

    def __iter__(self) -> Iterator[CounterKey]:
        for part in self._parts:
            yield from part

    def append(self, key: CounterKey) -> None:
        """Add a key."""
        last = self._parts[-1] if self._parts else None
        if isinstance(last, list):
            last.append(key)
            self._size += 1
        else:
            self._add([key])

    def extend(self, prefix: CounterKey, members: Sequence[str]) -> None:
        """Add the keys of some members of a family."""
        if members:
            self._add(Family(prefix, members))

    def _add(self, part: list[CounterKey] | Family) -> None:
        self._parts.append(part)
        self._starts.append(self._size)
        self._size += len(part)
