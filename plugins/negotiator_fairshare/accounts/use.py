"""Slots in use: of users, of their groups, and of the subtrees of groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Self

import attrs

from negotiator.plugin import Expr, parse
from negotiator_fairshare.accounts.numbers import from_millionths, millionths

_NOTHING = (0, 0, 0)


@attrs.define(eq=False)
class UseCounter:
    """Counts slots in use while a cycle runs: those claimed when it begins, and its matches.

    Weights are rounded to six decimals each before they are added, which is what the log does, so that the order of
    slots does not matter. ``group_of`` returns the accounting group of a user. ``elsewhere`` has what each name uses of the slots of other
    negotiators of the pool: slots, weight and hierarchical weight, in millionths.

    Source: condor_negotiator 25.14.1: a slot counts for its user, the user's group, and hierarchically for that group and
    all groups above it; a group without a dot has nothing above it, not even the root.
    """

    group_of: Callable[[str], str]
    elsewhere: Mapping[str, tuple[int, int, int]] = attrs.field(factory=dict)
    _slots: Counter[str] = attrs.field(factory=Counter, init=False)
    _weighted: Counter[str] = attrs.field(factory=Counter, init=False)
    _hierarchical: Counter[str] = attrs.field(factory=Counter, init=False)
    _names: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = attrs.field(factory=dict, init=False)

    def add(self, user: str, weight: float, count: int = 1) -> None:
        """Add ``count`` slots, each of this weight.

        :raises ValueError: the weight is not a number.
        """
        each = millionths(weight) * count
        names, above = self._names.get(user) or self._find_names(user)
        for name in names:
            self._slots[name] += count
            self._weighted[name] += each
        for name in above:
            self._hierarchical[name] += each

    def _find_names(self, user: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names that a slot of a user counts for: of the user and its group, and of the subtrees of groups."""
        group = self.group_of(user)
        # A user may have the name of the group.
        found = self._names[user] = tuple(dict.fromkeys((user, group))), tuple(subtree_names(group))
        return found

    def names(self) -> Iterator[str]:
        """Iterate over the names of users and groups that have slots of this negotiator, each once."""
        return iter(self._slots.keys() | self._hierarchical.keys())

    def slots(self, name: str) -> int:
        """Return the number of slots of a user, or of the users of a group."""
        return self._slots[name] + self.elsewhere.get(name, _NOTHING)[0]

    def weighted(self, name: str) -> float:
        """Return the weight of the slots of a user, or of the users of a group."""
        return from_millionths(self._weighted[name] + self.elsewhere.get(name, _NOTHING)[1])

    def hierarchical(self, name: str) -> float:
        """Return the weight of the slots of a group and of all groups below it; 0 for a user."""
        return from_millionths(self._hierarchical[name] + self.elsewhere.get(name, _NOTHING)[2])

    def own(self, name: str) -> tuple[int, float, float]:
        """Return slots, weight and hierarchical weight of a name without those of other negotiators."""
        return (
            self._slots[name],
            from_millionths(self._weighted[name]),
            from_millionths(self._hierarchical[name]),
        )


def subtree_names(group: str) -> Iterator[str]:
    """Iterate over a group and the groups above it: ``a.b.c``, ``a.b``, ``a``."""
    while group:
        yield group
        group = group.rpartition(".")[0]


@attrs.frozen
class GrowingUse:
    """The use of users and groups that may get matches in a cycle, as slots show it.

    condor_negotiator evaluates RemoteUserResourcesInUse and RemoteGroupResourcesInUse with what is in use then. So these attributes
    of slots refer to attributes of the request at its turn: ``attributes`` has the name of each, by user or group.
    """

    attributes: Mapping[str, str] = attrs.field(factory=dict)

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """Return the use of some users and groups."""
        return cls({name: f"ResourcesInUseBy{number}" for number, name in enumerate(dict.fromkeys(names))})

    def expression(self, name: str) -> Expr | None:
        """Return the reference to the use of a user or group, None if it does not grow."""
        attribute = self.attributes.get(name)
        return None if attribute is None else parse(f"TARGET.{attribute}")

    def now(self, use: UseCounter) -> dict[str, float]:
        """Return the attributes of a request."""
        return {attribute: use.weighted(name) for name, attribute in self.attributes.items()}
