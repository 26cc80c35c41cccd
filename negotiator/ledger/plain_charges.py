"""The charges of few matches as plain integers and keys, and the entries of the ledger that they become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import gt
from typing import NamedTuple

from negotiator.ledger.batch import MatchEntry
from negotiator.ledger.charges import Charge
from negotiator.ledger.counters import Counters
from negotiator.ledger.keys import CounterKey


class NotPlainError(Exception):
    """A charge needs columns, or is invalid: the ways on columns report what is wrong with it."""


class SumCharges(NamedTuple):
    """The sums that a match on one slot is charged, one element for each charge.

    A counter that was never charged has the index 0. A charge that the slot is not subject to has the key ``()``, the
    index 0 and the amount 0. ``rooms`` are what the limits leave.
    """

    keys: Sequence[CounterKey]
    indexes: Sequence[int]
    amounts: Sequence[int]
    rooms: Sequence[int]

    def replaced(self, others: Mapping[int, tuple[CounterKey, int, int, int]]) -> SumCharges:
        """Return the same with other elements, by the numbers of their charges."""
        keys, indexes, amounts, rooms = [*self.keys], [*self.indexes], [*self.amounts], [*self.rooms]
        for number, other in others.items():
            keys[number], indexes[number], amounts[number], rooms[number] = other
        return SumCharges(keys, indexes, amounts, rooms)

    @property
    def totals(self) -> Sequence[int]:
        """The amounts, or, if several charges are on one counter, what a match adds to the counter of each charge."""
        keys, indexes, amounts, _ = self
        if not has_duplicates(indexes, keys):
            return amounts
        by_key = dict.fromkeys(keys, 0)
        for key, amount in zip(keys, amounts, strict=True):
            by_key[key] += amount
        return [by_key[key] for key in keys]

    def over(self, charges: Sequence[Charge], totals: Sequence[int]) -> Sequence[int]:
        """Return the numbers of the charges whose limits leave no room for some totals."""
        if not any(map(gt, totals, self.rooms)):
            return ()
        return [
            number
            for number, (total, room) in enumerate(zip(totals, self.rooms, strict=True))
            if total > room and (total or charges[number].probes)
        ]


def has_duplicates(indexes: Sequence[int], keys: Sequence[CounterKey]) -> bool:
    """True if two charges are on one counter; counters that were never charged share the index 0."""
    return len({*indexes}) < len(indexes) and len({*keys}) < len(keys)


class SetCharges(NamedTuple):
    """The keys that copies add to sets, one element for each key charge; a set that was never charged has the index 0.

    ``members`` are the keys of the copies.
    """

    counters: Sequence[CounterKey]
    indexes: Sequence[int]
    members: Sequence[Sequence[str]]


class PlainFit(NamedTuple):
    """The charge that refused each candidate, -1 for none, until all copies are served; the sums of each match.

    ``fresh`` are sums that were never charged, in the order in which they get their indexes; it may be empty if all matches
    are charged the same.
    """

    stops: Sequence[int]
    granted: Sequence[SumCharges]
    fresh: Sequence[CounterKey] = ()


class PlainMatches(NamedTuple):
    """The sums that each of some matches is charged, and the sets; the first copies get the matches.

    ``fresh`` are sums that were never charged, in the order in which they get their indexes.
    """

    sums: Sequence[SumCharges]
    fresh: Sequence[CounterKey]
    sets: SetCharges


def open_matches(counters: Counters, matches: PlainMatches) -> Sequence[tuple[MatchEntry, int]]:
    """Return the entries of matches in their order, each with the number of matches in a row that have it.

    Counters that were never charged get their indexes.

    :raises LedgerError: ``bad_key``, ``wrong_sort``.
    """
    sums, fresh, sets = matches
    for key in fresh:
        counters.open_sum(key)
    set_indexes = tuple(sets.indexes if all(sets.indexes) else map(counters.open_set, sets.counters))
    found: list[tuple[MatchEntry, int]] = []
    for number, own in enumerate(sums):
        members = tuple([each[number] for each in sets.members])
        if number and own is sums[number - 1] and members == found[-1][0][3]:
            found[-1] = found[-1][0], found[-1][1] + 1
        else:
            found.append(((*_opened(counters, own), set_indexes, members), 1))
    return found


def _opened(counters: Counters, sums: SumCharges) -> tuple[Sequence[int], Sequence[int]]:
    """Return the indexes of the sums that a match is charged, and the amounts."""
    indexes, amounts = sums.indexes, sums.amounts
    if all(indexes) and all(amounts):
        return tuple(indexes), tuple(amounts)
    charged = [
        (index or counters.open_sum(key), amount)
        for key, index, amount in zip(sums.keys, indexes, amounts, strict=True)
        if amount
    ]
    return tuple(index for index, _ in charged), tuple(amount for _, amount in charged)
