"""The numbers of the members of one family of keys."""

from __future__ import annotations

from collections.abc import Sequence


class MemberNumbers:
    """The number of each member, by its name.

    Members that are added together are entered when a member is looked up: a quota for each of 5,000 hosts is often read
    by the codes of slots alone.
    """

    __slots__ = ("_added", "_numbers", "_size")

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._added: list[tuple[Sequence[str], range]] = []
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers by name, in the order in which members were added. Do not change them."""
        if self._added:
            for members, numbers in self._added:
                self._numbers.update(zip(members, numbers, strict=True))
            self._added.clear()
        return self._numbers

    def add(self, members: Sequence[str], numbers: range) -> None:
        """Add members without a number; they must be distinct."""
        self._added.append((members, numbers))
        self._size += len(numbers)
