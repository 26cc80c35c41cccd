"""The use of a pool by negotiator, where several negotiators serve the pool and share their accounts.

Each negotiator counts the slots that are its own, and leaves the counts in a row; a slot is of one negotiator only. Each account is
charged for the slots of a negotiator by that negotiator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

import attrs
import numpy as np

from negotiator.plugin import Environment, Mask, Table, bind, evaluate_table, parse
from negotiator_fairshare.accounts.numbers import LARGEST, millionths, stored

LASTS: Final = 3600
"""Seconds for which the counts of a negotiator that runs no cycles are used by the others."""

#: Slots, their weight, and the weight of the slots of a group and all groups below it.
Use = tuple[int, float, float]

_UNUSED: Final[Use] = (0, 0.0, 0.0)
_MOST_SLOTS: Final = 2**53


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
