"""Slots in use: of users, of their groups, and of the subtrees of groups; by negotiator, where several serve the pool and share their accounts.

Each negotiator counts the slots that are its own, and leaves the counts in a row; a slot is of one negotiator only. Each account is
charged for the slots of a negotiator by that negotiator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Self

import attrs
import numpy as np

from negotiator.plugin import Environment, Expr, Mask, Table, bind, evaluate_table, parse
from negotiator_fairshare.accounts.account import LARGEST, from_millionths, millionths, stored

_NOTHING = (0, 0, 0)
LASTS: Final = 3600
"""Seconds for which the counts of a negotiator that runs no cycles are used by the others."""
_UNUSED: Final[Use] = (0, 0.0, 0.0)
_MOST_SLOTS: Final = 2**53


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


#: Slots, their weight, and the weight of the slots of a group and all groups below it.
Use = tuple[int, float, float]


@attrs.frozen(kw_only=True)
class NegotiatorUse:
    """What the slots of one negotiator are, and how many of them each user and group has, as its last cycle left it.

    ``charged_until`` is the time of that cycle in seconds since the epoch: accounts are charged for these slots until then.
    ``slots``, ``weight`` and ``of_groups`` are the size of what it divides: see ``PoolSize``.
    """

    charged_until: int
    slots: int = 0
    weight: float = 0.0
    of_groups: float = 0.0
    use: Mapping[str, Use] = attrs.field(factory=dict)

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Self:
        """Return the use of a row.

        :raises ValueError: the row is damaged.
        """
        use = row.get("use")
        if type(row.get("last_update")) is not int or not isinstance(use, dict):
            raise ValueError(
                "expected what the slots of a negotiator are used for, and the time of its last cycle"
            )
        size = checked_use(row.get("size"))
        return cls(
            charged_until=row["last_update"],
            slots=size[0],
            weight=size[1],
            of_groups=size[2],
            use={name: checked_use(each) for name, each in use.items()},
        )

    def to_row(self) -> dict[str, Any]:
        """Return the row of this use."""
        use = {name: list(each) for name, each in sorted(self.use.items()) if each != _UNUSED}
        return {
            "last_update": self.charged_until,
            "size": [self.slots, self.weight, self.of_groups],
            "use": use,
        }


@attrs.frozen(kw_only=True)
class PoolUse:
    """The use of a pool as one of its negotiators knows it.

    ``own`` is the name of this negotiator, ``constraints`` has the text of the slot constraint of each one by its name, empty if it
    is not known. ``negotiators`` has those that ran cycles.
    """

    own: str
    constraints: Mapping[str, str]
    negotiators: Mapping[str, NegotiatorUse] = attrs.field(factory=dict)

    @property
    def charged_until(self) -> int | None:
        """The time of the last cycle of this negotiator; None before its first one."""
        own = self.negotiators.get(self.own)
        return None if own is None else own.charged_until

    def own_use(self, name: str) -> Use:
        """Return what a user or group uses of the slots of this negotiator."""
        own = self.negotiators.get(self.own)
        return _UNUSED if own is None else own.use.get(name, _UNUSED)

    def others(self, now: float) -> tuple[NegotiatorUse, ...]:
        """Return the use of the slots of the other negotiators of the pool that ran a cycle in the last hour."""
        return tuple(
            use
            for name, use in self.negotiators.items()
            if name != self.own and name in self.constraints and now - use.charged_until <= LASTS
        )

    def with_own(self, use: NegotiatorUse) -> PoolUse:
        """Return the use with that of this negotiator replaced."""
        return attrs.evolve(self, negotiators={**self.negotiators, self.own: use})

    def owned(self, slots: Table, env: Environment) -> Mask:
        """Return which slots are those of this negotiator, (S,).

        A slot that several constraints admit is that of the first negotiator by name.
        """
        own = self.constraints.get(self.own, "")
        found: Mask = _admitted(own, slots, env) if own else np.ones(len(slots), np.bool_)
        for name, text in self.constraints.items():
            if name < self.own and text:
                found = found & ~_admitted(text, slots, env)
        return found


def sums_of(uses: Iterable[NegotiatorUse]) -> dict[str, tuple[int, int, int]]:
    """Return the sums of several uses by name of user or group; weights are in millionths."""
    slots, weighted, hierarchical = Counter[str](), Counter[str](), Counter[str]()
    for each in uses:
        for name, (count, weight, below) in each.use.items():
            slots[name] += count
            weighted[name] += millionths(weight)
            hierarchical[name] += millionths(below)
    return {name: (slots[name], weighted[name], hierarchical[name]) for name in slots}


def _admitted(constraint: str, slots: Table, env: Environment) -> Mask:
    """Return which slots a constraint admits, (S,); none for one that cannot be read."""
    try:
        tree = bind(parse(constraint))
    except ValueError:
        return np.zeros(len(slots), np.bool_)
    return evaluate_table(tree, slots, env=env).is_true()


def checked_use(values: object) -> Use:
    """Return a number of slots and two weights of a row.

    :raises ValueError: they are damaged.
    """
    if isinstance(values, list) and len(values) == len(_UNUSED):
        slots, weighted, hierarchical = values
        is_count = type(slots) is int and 0 <= slots <= _MOST_SLOTS
        if is_count and all(
            type(each) is float and 0 <= each <= LARGEST for each in (weighted, hierarchical)
        ):
            return slots, stored(weighted), stored(hierarchical)
    raise ValueError("expected a number of slots and two weights")
