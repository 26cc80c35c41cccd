"""Counters: sums of 64-bit integers, and sets of keys counted by reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.ledger.errors import LedgerError
from negotiator.ledger.keys import CounterKey, Grouping, Ints, KeyNumbers, Mask, key_text

#: The charges of one match: indexes of sums, their amounts, indexes of sets, the keys added to them.
MatchEntry: TypeAlias = tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[str]]


@attrs.frozen(eq=False)
class ChargeBatch:
    """The charges of ``size`` matches.

    ``columns`` has, for each charge, the indexes of sums and the amounts, one integer or (size,) each; both are 0 for a
    match that is not charged. ``sets`` are the indexes of sets of keys, ``members`` the keys added to each, (size,).
    """

    size: int
    columns: Sequence[tuple[int | Ints, int | Ints]]
    sets: Sequence[int] = ()
    members: Sequence[Sequence[str]] = ()

    def entry(self, row: int) -> MatchEntry:
        """Return the charges of one match."""
        sums = [at if isinstance(at, int) else int(at[row]) for at, _ in self.columns]
        amounts = [amount if isinstance(amount, int) else int(amount[row]) for _, amount in self.columns]
        return sums, amounts, self.sets, [members[row] for members in self.members]

    def add_to(self, used: Ints, rows: Mask | None = None) -> None:
        """Add the amounts of all rows, or of those in a mask, (size,), to the sums.

        A sum that grows too large wraps around.
        """
        size = self.size if rows is None else int(rows.sum())
        for sums, amounts in self.columns:
            at = sums if isinstance(sums, int) or rows is None else sums[rows]
            amount = amounts if isinstance(amounts, int) or rows is None else amounts[rows]
            if isinstance(at, int):
                total = amount * size if isinstance(amount, int) else int(amount.sum())
                used[at] += total
            else:
                # Not ``used[at] += amount``, which adds only once if several matches are charged on one sum.
                np.add.at(used, at, amount)


class Counters:
    """Sums and sets of keys, by key. A sum is never negative and never exceeds 2^63 - 1.

    A counter that was never charged is 0. Index 0 of sums and of sets belongs to no key, and stays empty.
    """

    def __init__(self) -> None:
        self.version = 0  # increases with each change
        self._sums, self._sets = KeyNumbers(), KeyNumbers()
        self._members: list[dict[str, int]] = [{}]  # of each set: its keys, and how often each was added
        self._used: Ints = np.zeros(64, np.int64)
        self._cells = self._used.data  # the same memory: single elements are read faster than from an array

    def __iter__(self) -> Iterator[tuple[CounterKey, int]]:
        """Yield all sums other than 0."""
        for index in np.flatnonzero(self._used[: len(self._sums)]).tolist():
            yield self._sums.keys[index], self._cells[index]

    def key_sets(self) -> Iterator[tuple[CounterKey, Mapping[str, int]]]:
        """Yield all sets that are not empty: their keys, and how often each was added."""
        for key, members in zip(self._sets.keys, self._members, strict=True):
            if members:
                yield key, dict(members)

    def used(self, key: CounterKey) -> int:
        """Return a sum, or the size of a set of keys."""
        return self._cells[self._sums.find(key)] or len(self._members[self._sets.find(key)])

    def members(self, key: CounterKey) -> Mapping[str, int]:
        """Return the keys in a set, and how often each was added. Do not change it."""
        return self._members[self._sets.find(key)]

    def sum_of(self, key: CounterKey) -> int:
        """Return a sum.

        :raises LedgerError: ``wrong_sort``.
        """
        return self._cells[self.index_of(key)]

    def sums_by_code(self, grouping: Grouping) -> Ints:
        """Return the sums of a grouping, (K + 1,); the last one is that of the code -1, 0."""
        return self._used[self._sums.by_code(grouping)]

    def sums_of(self, grouping: Grouping, codes: NDArray[np.integer]) -> Ints:
        """Return the sums of a grouping that have some codes, (n,), 0 for the code -1."""
        return self._used[self._sums.of_codes(grouping, codes)]

    def member_index(self, keys: Sequence[CounterKey], code: int) -> int:
        """Return the index of the sum of a grouping that has this code, 0 if it was never charged."""
        return self._sums.of_member(keys, code)

    def index_of(self, key: CounterKey) -> int:
        """Return the index of a sum, 0 if it was never charged.

        :raises LedgerError: ``wrong_sort``.
        """
        index = self._sums.find(key)
        if not index:  # a key that is a sum was checked when it became one
            _refuse_sort(key, self._sets)
        return index

    def key_of(self, index: int) -> CounterKey:
        """Return the key of a sum."""
        return self._sums.keys[index]

    def key_of_set(self, index: int) -> CounterKey:
        """Return the key of a set of keys."""
        return self._sets.keys[index]

    @property
    def sums(self) -> Ints:
        """The sums by index, to read until the next charge."""
        return self._used[: len(self._sums)]

    @property
    def cells(self) -> memoryview[int]:
        """The sums by index, to read until the next charge."""
        return self._cells

    @property
    def known_sums(self) -> Mapping[CounterKey, int]:
        """The indexes of sums that were looked up before; for hot loops, beside ``index_of``."""
        return self._sums.found

    @property
    def known_sets(self) -> Mapping[CounterKey, int]:
        """The indexes of sets that were looked up before; for hot loops, beside ``set_index_of``."""
        return self._sets.found

    @property
    def contents(self) -> Sequence[Mapping[str, int]]:
        """The keys in each set, by the set's index, and how often each was added. Do not change them."""
        return self._members

    def set_index_of(self, key: CounterKey) -> int:
        """Return the index of a set of keys, 0 if it was never charged."""
        return self._sets.find(key)

    def open_sum(self, key: CounterKey) -> int:
        """Return the index of a sum, a new one if it was never charged.

        :raises LedgerError: ``bad_key``, ``wrong_sort``.
        """
        index = self.index_of(key)
        if not index:
            index = self._sums.open(key)
            self._grow()
        return index

    def open_set(self, key: CounterKey) -> int:
        """Return the index of a set of keys, a new one if it was never charged.

        :raises LedgerError: ``bad_key``, ``wrong_sort``.
        """
        index = self._sets.find(key)
        if index:
            return index
        _refuse_sort(key, self._sums)
        index = self._sets.open(key)
        if index == len(self._members):
            self._members.append({})
        return index

    def open_codes(self, grouping: Grouping, codes: Ints) -> Ints:
        """Return the indexes of the sums of a grouping that have some codes, (n,), new ones for sums that were never charged.

        :raises LedgerError: ``bad_key``, ``wrong_sort``.
        """
        if self._sets.has_prefix(grouping.prefixes):
            for code in np.unique(codes).tolist():
                _refuse_sort(grouping.keys[code], self._sets)
        indexes = self._sums.open_codes(grouping, codes)
        self._grow()
        return indexes

    def add(self, entry: MatchEntry, times: int = 1) -> None:
        """Charge matches that an admission granted. Its limits leave no room for a sum that is too large."""
        self.version += 1
        cells = self._cells
        sums, amounts, sets, keys = entry
        for index, amount in zip(sums, amounts, strict=True):
            cells[index] += amount * times
        for index, key in zip(sets, keys, strict=True):
            members = self._members[index]
            members[key] = members.get(key, 0) + times

    def add_batch(self, batch: ChargeBatch) -> None:
        """Charge the matches that an admission granted. Its limits leave no room for a sum that is too large."""
        self.version += 1
        batch.add_to(self._used)
        for index, keys in zip(batch.sets, batch.members, strict=True):
            members = self._members[index]
            for member, count in Counter(keys).items():
                members[member] = members.get(member, 0) + count

    def remove(self, entry: MatchEntry) -> None:
        """Subtract the charges of one match."""
        self.version += 1
        cells = self._cells
        sums, amounts, sets, keys = entry
        for index, amount in zip(sums, amounts, strict=True):
            cells[index] -= amount
        for index, key in zip(sets, keys, strict=True):
            members = self._members[index]
            count = members[key]
            if count == 1:
                del members[key]
            else:
                members[key] = count - 1

    def empty_copy(self) -> tuple[Ints, list[dict[str, int]]]:
        """Return sums and sets by index, all empty, to add receipts to and to compare with."""
        return np.zeros(len(self._sums), np.int64), [{} for _ in self._members]

    def compare(self, used: Ints, sets: Sequence[Mapping[str, int]]) -> tuple[CounterKey, ...]:
        """Return the keys of counters that are negative or differ from the given sums and sets, both by index."""
        here = self._used[: len(used)]
        wrong = [self._sums.keys[index] for index in np.flatnonzero((here != used) | (here < 0)).tolist()]
        pairs = zip(self._sets.keys, self._members, sets, strict=True)
        return (*wrong, *(key for key, ours, theirs in pairs if ours != theirs))

    def _grow(self) -> None:
        if len(self._sums) > len(self._used):
            grown = np.zeros(2 * len(self._sums), np.int64)
            grown[: len(self._used)] = self._used
            self._used, self._cells = grown, grown.data


def _refuse_sort(key: CounterKey, others: KeyNumbers) -> None:
    if others.find(key):
        raise LedgerError("wrong_sort", f"{key_text(key)} is used both as a sum and as a set of keys")
