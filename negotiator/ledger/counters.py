"""Counters: sums of 64-bit integers, and sets of keys counted by reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import contains, sub
from typing import NoReturn

import attrs
import numpy as np

from negotiator.ledger.batch import PostingBatch
from negotiator.ledger.charges import Grouping
from negotiator.ledger.errors import LedgerError
from negotiator.ledger.key_numbers import KeyNumbers
from negotiator.ledger.keys import LARGEST, CounterKey, Ints
from negotiator.ledger.postings import (
    Entry,
    LimitedKeys,
    LimitedSums,
    Postings,
    RefusedCharge,
    check_amounts,
    key_text,
    stopping_keys,
    stopping_sum,
)


@attrs.frozen(eq=False)
class CountersState:
    """What counters were at one moment; only the counters that made it understand it."""

    used: Ints
    sets: tuple[dict[str, int], ...]


class Counters:
    """Sums and sets of keys, by key. A sum never is negative and never exceeds 2^63 - 1.

    A counter that was never charged is 0. Place 0 of both sorts is nobody's, and always empty.
    """

    def __init__(self) -> None:
        self.version = 0  # grows with each change
        self._sums, self._sets = KeyNumbers(), KeyNumbers()
        self._held: list[dict[str, int]] = [{}]  # of each set its keys, with how often each was added
        self._used: Ints = np.zeros(64, np.int64)
        self._cells = self._used.data  # the same memory, of which single elements are faster to reach

    def __iter__(self) -> Iterator[tuple[CounterKey, int]]:
        """All sums that are not 0."""
        for place in np.flatnonzero(self._used[: len(self._sums)]).tolist():
            yield self._sums.keys[place], self._cells[place]

    def key_sets(self) -> Iterator[tuple[CounterKey, Mapping[str, int]]]:
        """All sets that are not empty: their keys, with how often each was added."""
        for key, held in zip(self._sets.keys, self._held, strict=True):
            if held:
                yield key, dict(held)

    def used(self, key: CounterKey) -> int:
        """A sum, or the size of a set of keys."""
        return self._cells[self._sums.find(key)] or len(self._held[self._sets.find(key)])

    def members(self, key: CounterKey) -> Mapping[str, int]:
        """The keys in a set, with how often each was added; not to be changed."""
        return self._held[self._sets.find(key)]

    def sum_of(self, key: CounterKey) -> int:
        """A sum.

        :raises LedgerError: ``wrong_sort``.
        """
        _refuse_sort(key, self._sets)
        return self._cells[self._sums.find(key)]

    def used_by(self, grouping: Grouping) -> Ints | None:
        """The sums of all counters of a grouping, (K,), or None where all are 0."""
        places = self._sums.of(grouping)
        return self._used[places] if places.any() else None

    def headroom(
        self,
        sums: Sequence[tuple[CounterKey, int | None]],
        key_sets: Sequence[tuple[CounterKey, int | None]] = (),
    ) -> list[int | None]:
        """What limits leave, of sums and then of the sizes of sets; negative where more is used, None without a limit."""
        cells, held, places, numbers = self._cells, self._held, self._sums.found, self._sets.found
        try:
            left = [None if limit is None else limit - cells[places[key]] for key, limit in sums]
            left += [None if limit is None else limit - len(held[numbers[key]]) for key, limit in key_sets]
        except KeyError:  # of a key that was not asked for before
            left = [None if limit is None else limit - self.used(key) for key, limit in (*sums, *key_sets)]
        return left

    def try_add(self, sums: LimitedSums, keys: LimitedKeys = ()) -> RefusedCharge | Entry:
        """Add what one match is charged, all or none. What adds nothing to a counter is never refused.

        :raises LedgerError: ``bad_key``, ``wrong_sort``, ``bad_amount``, ``negative_amount``, and ``overflow`` of an
            amount; a sum that would be too large refuses the match.
        """
        found, found_sets = self._sums.found, self._sets.found
        try:
            places = [found[key] for key, _, _ in sums]
            numbers = [found_sets[key] for key, _, _ in keys]
        except KeyError:  # of a key that was not asked for before
            places = [self.open_sum(key) for key, _, _ in sums]
            numbers = [self.open_set(key) for key, _, _ in keys]
        amounts = [amount for _, amount, _ in sums]
        totals = self._totals(places, sums, numbers, keys)
        if totals is None:
            check_amounts(amounts)
            refused = stopping_sum(places, sums, self._cells) or stopping_keys(numbers, keys, self._held)
            if refused is not None:
                return refused
        entry = tuple(places), tuple(amounts), tuple(numbers), tuple([member for _, member, _ in keys])
        self._add(entry, totals)
        return entry

    def add(self, postings: Postings) -> Entry:
        """Add without looking at limits, all or none.

        :raises LedgerError: as ``try_add``, and ``overflow`` of a sum.
        """
        sums = [(key, amount, None) for key, amount in postings.sums]
        entry = self.try_add(sums, [(key, member, None) for key, member in postings.keys])
        if isinstance(entry, RefusedCharge):
            what = f"{entry.used} + {entry.needed} is more than can be counted (2^63 - 1)"
            raise LedgerError("overflow", f"{key_text(entry.counter)}: {what}")
        return entry

    def place_of(self, key: CounterKey) -> int:
        """The place of a sum, 0 where it was never charged.

        :raises LedgerError: ``wrong_sort``.
        """
        if self._sets.find(key):
            _refuse_sort(key, self._sets)
        return self._sums.find(key)

    def at(self, place: int) -> int:
        """The sum at a place."""
        return self._cells[place]

    def charge_one(self, charged: Iterable[tuple[CounterKey, int, int]]) -> Entry:
        """Add what an admission granted to one match, of which the places were asked for and the limits kept.

        :raises LedgerError: ``bad_key``.
        """
        parts = [(place or self._sums.open(key), amount) for key, amount, place in charged]
        self._grow()
        entry = tuple([place for place, _ in parts]), tuple([amount for _, amount in parts]), (), ()
        self._add(entry, None)
        return entry

    def subtract(self, postings: Postings) -> None:
        """Give back, all or none.

        :raises LedgerError: ``never_charged`` where there is not so much, ``bad_amount``, ``negative_amount``.
        """
        amounts = [amount for _, amount in postings.sums]
        check_amounts(amounts)
        places = [self._sums.find(key) for key, _ in postings.sums]
        numbers = [self._sets.find(key) for key, _ in postings.keys]
        self.remove((places, amounts, numbers, [member for _, member in postings.keys]))

    def remove(self, entry: Entry) -> None:
        """Give back what an entry says, all or none.

        :raises LedgerError: ``never_charged``.
        """
        places, amounts, numbers, members = entry
        cells, held = self._cells, self._held
        left = list(map(sub, map(cells.__getitem__, places), amounts))
        once = len(set(places)) == len(places) and len(set(numbers)) == len(numbers)
        if (
            not once
            or (left and min(left) < 0)
            or not all(map(contains, map(held.__getitem__, numbers), members))
        ):
            self._refuse_missing(entry)
        self.version += 1
        if once:
            for place, total in zip(places, left, strict=True):
                cells[place] = total
        else:
            for place, amount in zip(places, amounts, strict=True):
                cells[place] -= amount
        for number, member in zip(numbers, members, strict=True):
            there = held[number]
            count = there[member]
            if count == 1:
                del there[member]
            else:
                there[member] = count - 1

    def named(self, entry: Entry) -> Postings:
        """What an entry says, with the names of the counters."""
        places, amounts, numbers, members = entry
        sums = (
            (self._sums.keys[place], amount) for place, amount in zip(places, amounts, strict=True) if amount
        )
        keys = ((self._sets.keys[number], member) for number, member in zip(numbers, members, strict=True))
        return Postings(tuple(sums), tuple(keys))

    def add_batch(self, batch: PostingBatch) -> None:
        """Add what an admission granted; limits were looked at, so that no sum can be too large."""
        self.version += 1
        batch.add_to(self._used)
        for number, members in zip(batch.sets, batch.members, strict=True):
            held = self._held[number]
            for member, count in Counter(members).items():
                held[member] = held.get(member, 0) + count

    def open_grouping(self, grouping: Grouping, codes: Ints) -> Ints:
        """The places of a grouping's sums, (K,), when those with the codes, (n,), have theirs.

        :raises LedgerError: ``bad_key``, ``wrong_sort``.
        """
        if self._sets.has_prefix(grouping.prefixes):
            for code in np.unique(codes).tolist():
                _refuse_sort(grouping.keys[code], self._sets)
        places = self._sums.open_all(grouping, codes)
        self._grow()
        return places

    def open_sum(self, key: CounterKey) -> int:
        """The place of a sum.

        :raises LedgerError: ``bad_key``, ``wrong_sort``.
        """
        _refuse_sort(key, self._sets)
        place = self._sums.open(key)
        self._grow()
        return place

    def open_set(self, key: CounterKey) -> int:
        """The place of a set of keys.

        :raises LedgerError: ``bad_key``, ``wrong_sort``.
        """
        _refuse_sort(key, self._sums)
        place = self._sets.open(key)
        if place == len(self._held):
            self._held.append({})
        return place

    def snapshot(self) -> CountersState:
        """What the counters are now."""
        return CountersState(self._used[: len(self._sums)].copy(), tuple(map(dict, self._held)))

    def restore(self, state: CountersState) -> None:
        """Make the counters what they were when the snapshot was taken."""
        self.version += 1
        self._used[: len(state.used)] = state.used
        self._used[len(state.used) :] = 0
        fresh = len(self._held) - len(state.sets)
        self._held = [dict(held) for held in (*state.sets, *[{}] * fresh)]

    def compare(self, used: Ints, held: Sequence[Mapping[str, int]]) -> tuple[CounterKey, ...]:
        """The counters that are not what is said by place; ``used`` is as long as there are places.

        Also those that are below zero.
        """
        here = self._used[: len(used)]
        wrong = [self._sums.keys[place] for place in np.flatnonzero((here != used) | (here < 0)).tolist()]
        pairs = zip(self._sets.keys, self._held, held, strict=True)
        return (*wrong, *(key for key, ours, theirs in pairs if ours != theirs))

    def nothing(self) -> tuple[Ints, list[dict[str, int]]]:
        """Room for sums and sets by place, all empty, to compare with."""
        return np.zeros(len(self._sums), np.int64), [{} for _ in self._held]

    def _grow(self) -> None:
        if len(self._sums) > len(self._used):
            grown = np.zeros(2 * len(self._sums), np.int64)
            grown[: len(self._used)] = self._used
            self._used, self._cells = grown, grown.data

    def _totals(
        self, places: Sequence[int], sums: LimitedSums, numbers: Sequence[int], keys: LimitedKeys
    ) -> list[int] | None:
        """The sums as they will be where all surely fits; None where it does not, or needs a closer look."""
        cells, held = self._cells, self._held
        if len(set(places)) < len(places) or len(set(numbers)) < len(numbers):
            return None
        totals = []
        for place, (_, amount, limit) in zip(places, sums, strict=True):
            total = cells[place] + amount
            if (
                type(amount) is not int
                or amount < 0
                or total > LARGEST
                or (limit is not None and total > limit)
            ):
                return None
            totals.append(total)
        for number, (_, member, limit) in zip(numbers, keys, strict=True):
            if limit is not None and len(held[number]) >= limit and member not in held[number]:
                return None
        return totals

    def _add(self, entry: Entry, totals: Sequence[int] | None) -> None:
        """Add what fits; ``totals`` are the sums as they will be, where no counter is named twice."""
        places, amounts, numbers, members = entry
        cells = self._cells
        self.version += 1
        if totals is None:
            for place, amount in zip(places, amounts, strict=True):
                cells[place] += amount
        else:
            for place, total in zip(places, totals, strict=True):
                cells[place] = total
        for number, member in zip(numbers, members, strict=True):
            there = self._held[number]
            there[member] = there.get(member, 0) + 1

    def _refuse_missing(self, entry: Entry) -> None:
        """Refuse to take away more than there is; a counter may be named several times."""
        places, amounts, numbers, members = entry
        totals = Counter[int]()
        for place, amount in zip(places, amounts, strict=True):
            totals[place] += amount
        for place, total in totals.items():
            if self._cells[place] < total:
                what = f"{total} is to be released, {self._cells[place]} is charged"
                _refuse_release(self._sums.keys[place], what)
        for (number, member), times in Counter(zip(numbers, members, strict=True)).items():
            if self._held[number].get(member, 0) < times:
                _refuse_release(self._sets.keys[number], f"{member} is to be released, and is not there")


def _refuse_sort(key: CounterKey, others: KeyNumbers) -> None:
    if others.find(key):
        raise LedgerError("wrong_sort", f"{key_text(key)} is used both as a sum and as a set of keys")


def _refuse_release(key: CounterKey, what: str) -> NoReturn:
    raise LedgerError("never_charged", f"{key_text(key) or 'a counter that was never charged'}: {what}")
