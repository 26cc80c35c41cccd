"""Counters for single matches: by place, so that nothing is looked up, and with sums that may be overdrawn.

Source: "User and Group Quota Enforcement", Tracker interface update: a decrease is never denied. A ledger's counters
give back what was charged and no more; what is taken away beyond that is owed, and the next charges pay it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from operator import add, le, sub

import attrs

from negotiator.ledger import LARGEST, Counters, LedgerError, RefusedCharge
from negotiator.plugin import CounterKey


@attrs.frozen(eq=False)
class CounterPlaces:
    """Sums, or sets, each once: their keys, where they are, and their limits, 2^63 - 1 where there is none."""

    keys: tuple[CounterKey, ...] = ()
    places: tuple[int, ...] = ()
    limits: tuple[int, ...] = ()

    def only(self, positions: Iterable[int]) -> CounterPlaces:
        """Some of them."""
        at = tuple(positions)
        keys, places = tuple(self.keys[each] for each in at), tuple(self.places[each] for each in at)
        return CounterPlaces(keys, places, tuple(self.limits[each] for each in at))


NO_SETS = CounterPlaces()


class OverdraftCounters(Counters):
    """Sums that may be below zero, and sets whose members are counted. Amounts are checked by the caller."""

    def __init__(self) -> None:
        super().__init__()
        self._owed: dict[CounterKey, int] = {}  # what is below zero: of sums that are 0 in the counters

    def balances(self) -> Iterator[tuple[CounterKey, int]]:
        """All sums that are not 0."""
        yield from self
        yield from ((key, -owed) for key, owed in self._owed.items())

    def spots(self, limits: Iterable[tuple[CounterKey, int | None]]) -> CounterPlaces:
        """Where sums are; that never changes."""
        rows = [(key, self.open_sum(key), LARGEST if limit is None else limit) for key, limit in limits]
        return CounterPlaces(*zip(*rows, strict=True)) if rows else CounterPlaces()

    def set_spots(self, limits: Iterable[tuple[CounterKey, int | None]]) -> CounterPlaces:
        """Where sets are; that never changes."""
        rows = [(key, self.open_set(key), LARGEST if limit is None else limit) for key, limit in limits]
        return CounterPlaces(*zip(*rows, strict=True)) if rows else CounterPlaces()

    def left(self, spots: CounterPlaces) -> list[int]:
        """What each limit of sums leaves, negative where more is used."""
        return list(map(sub, spots.limits, self._balances(spots)))

    def has_room(self, sets: CounterPlaces, member: str) -> bool:
        """Whether a member is in each set, or may be one more."""
        held = self._held
        return all(
            len(held[place]) < limit or member in held[place]
            for place, limit in zip(sets.places, sets.limits, strict=True)
        )

    def charge(
        self,
        spots: CounterPlaces,
        amounts: Sequence[int],
        sets: CounterPlaces = NO_SETS,
        member: str = "",
        *,
        limited: bool = True,
    ) -> RefusedCharge | None:
        """Add amounts to sums, (M,), and a member to sets; all, or nothing where something does not fit.

        :param limited: whether to look at limits, and not only at what can be counted.
        """
        totals = list(map(add, self._balances(spots), amounts))
        if not all(map(le, totals, spots.limits if limited else repeat(LARGEST))) or (
            sets.places and limited and not self.has_room(sets, member)
        ):
            refused = self._refused(spots, amounts, totals, limited=limited) or self._refused_set(
                sets, member
            )
            if refused:
                return refused
        self._put(spots, totals)
        for place in sets.places:
            held = self._held[place]
            held[member] = held.get(member, 0) + 1
        return None

    def take(
        self, spots: CounterPlaces, amounts: Sequence[int], sets: CounterPlaces = NO_SETS, member: str = ""
    ) -> None:
        """Take amounts from sums, (M,), and a member out of the sets that it is in.

        :raises LedgerError: ``overflow`` where less than -(2^63 - 1) would be left; nothing has changed.
        """
        totals = list(map(sub, self._balances(spots), amounts))
        if min(totals, default=0) < -LARGEST:
            raise LedgerError("overflow", "a sum would be less than can be counted (-(2^63 - 1))")
        self._put(spots, totals)
        for place in sets.places:
            held = self._held[place]
            count = held.pop(member, 0) - 1
            if count > 0:
                held[member] = count

    def _balances(self, spots: CounterPlaces) -> Iterable[int]:
        used = map(self._cells.__getitem__, spots.places)
        if self._owed:
            return map(sub, used, map(self._owed.get, spots.keys, repeat(0)))
        return used

    def _put(self, spots: CounterPlaces, totals: Sequence[int]) -> None:
        self.version += 1
        cells = self._cells
        if self._owed or min(totals, default=0) < 0:
            for key, total in zip(spots.keys, totals, strict=True):
                self._owed.pop(key, None)
                if total < 0:
                    self._owed[key] = -total
            totals = [max(0, total) for total in totals]
        for place, total in zip(spots.places, totals, strict=True):
            cells[place] = total

    def _refused(
        self, spots: CounterPlaces, amounts: Sequence[int], totals: Sequence[int], *, limited: bool
    ) -> RefusedCharge | None:
        limits = spots.limits if limited else [LARGEST] * len(totals)
        for position, (amount, total, limit) in enumerate(zip(amounts, totals, limits, strict=True)):
            if amount and total > limit:  # nothing more is never too much
                return RefusedCharge(spots.keys[position], position, False, amount, total - amount, limit)
        return None

    def _refused_set(self, sets: CounterPlaces, member: str) -> RefusedCharge | None:
        for position, (key, place, limit) in enumerate(zip(sets.keys, sets.places, sets.limits, strict=True)):
            size = len(self._held[place])
            if size >= limit and member not in self._held[place]:
                return RefusedCharge(key, position, True, 1, size, limit)
        return None
