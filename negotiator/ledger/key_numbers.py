"""The index of each counter: a number for each key, never changed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, repeat
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from negotiator.ledger.errors import LedgerError
from negotiator.ledger.grouping import Grouping
from negotiator.ledger.key_list import KeyList
from negotiator.ledger.keys import CounterKey, Family, Ints
from negotiator.ledger.member_numbers import MemberNumbers

#: So many keys are looked up one by one; more are faster in columns over all keys of a grouping.
_FEW = 64
_NO_MEMBERS = MemberNumbers()
_STRINGS = {str}
_NOTHING_KNOWN = np.zeros(0, np.int64), np.zeros(0, np.int64), 0


class KeyNumbers:
    """Numbers of keys, from 1 on, in the order in which keys were opened; 0 is the number of unknown keys.

    Keys are stored by prefix (all parts but the last), then by their last part. The members of a family are so looked
    up by one string each, without building a tuple for each of 5,000 hosts. Tuples that were looked up one by one are cached in ``found``, which hot
    loops read directly: one dictionary access for the common case, without a call.
    """

    def __init__(self) -> None:
        self.keys = KeyList()
        self.keys.append(())
        self.found: dict[CounterKey, int] = {}
        self._families: dict[CounterKey, MemberNumbers] = {}
        # The numbers of each grouping's keys, with the size of the family when they were looked up: numbers never
        # change, so that they are looked up again only for keys that were unknown, and only if the family has grown.
        self._resolved: WeakKeyDictionary[Grouping, tuple[Ints, int]] = WeakKeyDictionary()
        # The same without the keys that have no number: codes, numbers, and the size of the family.
        self._known: WeakKeyDictionary[Grouping, tuple[Ints, Ints, int]] = WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, key: CounterKey) -> int:
        """Return the number of a key, 0 if it has none."""
        number = self.found.get(key, 0)
        if number or not key:
            return number
        # Members of a family that were opened in bulk are not in ``found`` until they are looked up by their tuple.
        family = self._families.get(key[:-1])
        if family is not None and (number := family.numbers.get(key[-1], 0)):
            self.found[key] = number
        return number

    def open(self, key: CounterKey) -> int:
        """Return the number of a key, a new one if it has none.

        :raises LedgerError: ``bad_key``.
        """
        number = self.find(key)
        if not number:
            if type(key) is not tuple or not key or not {*map(type, key)} <= _STRINGS:
                raise LedgerError(
                    "bad_key", f"invalid key {key!r}: it must be a tuple of one or more strings"
                )
            self.found[key] = number = len(self.keys)
            self._family(key[:-1]).add((key[-1],), range(number, number + 1))
            self.keys.append(key)
        return number

    def has_prefix(self, prefixes: frozenset[CounterKey]) -> bool:
        """True if a key with one of these prefixes may have a number."""
        return any(prefix in self._families for prefix in prefixes)

    def of(self, grouping: Grouping) -> Ints:
        """Return the numbers of all keys of a grouping, (K,). Do not change it."""
        numbers, seen = self._resolved.get(grouping, (None, -1))
        size = self._size(grouping.keys)
        if numbers is None:
            numbers = self._look_up(grouping.keys) if size else np.zeros(len(grouping.keys), np.int64)
        elif seen != size:
            self._add_fresh(numbers, grouping, seen)
        self._resolved[grouping] = numbers, size
        return numbers

    def known_of(self, grouping: Grouping) -> tuple[Ints, Ints]:
        """Return the codes of the keys of a grouping that have a number, (m,), and the numbers, (m,). Do not change them."""
        keys = grouping.keys
        if not isinstance(keys, Family) or not grouping.distinct:
            numbers = self.of(grouping)
            codes = np.flatnonzero(numbers)
            return codes, numbers[codes]
        codes, numbers, seen = self._known.get(grouping, _NOTHING_KNOWN)
        size = self._size(keys)
        if seen != size:
            fresh = self._fresh(keys, grouping, seen)
            codes = np.concatenate((codes, np.array([code for code, _ in fresh], np.int64)))
            numbers = np.concatenate((numbers, np.array([number for _, number in fresh], np.int64)))
            self._known[grouping] = codes, numbers, size
        return codes, numbers

    def of_member(self, keys: Sequence[CounterKey], code: int) -> int:
        """Return the number of one key of a grouping, 0 if it has none."""
        return self._of_few(keys, (code,))[0]

    def of_codes(self, grouping: Grouping, codes: NDArray[np.integer]) -> Ints:
        """Return the numbers of the keys of a grouping that have some codes, (n,), 0 for unknown keys and for the code -1."""
        keys = grouping.keys
        if len(codes) <= _FEW:
            return np.array(self._of_few(keys, codes.tolist()), np.int64)
        numbers = np.zeros(len(keys) + 1, np.int64)  # the last one is of the code -1
        known, found = self.known_of(grouping)
        numbers[known] = found
        return np.asarray(numbers[codes], np.int64)

    def _of_few(self, keys: Sequence[CounterKey], codes: Sequence[int]) -> list[int]:
        if isinstance(keys, Family):  # their tuples need not be built
            number_of, members = self._families.get(keys.prefix, _NO_MEMBERS).numbers.get, keys.members
            return [number_of(members[code], 0) if code >= 0 else 0 for code in codes]
        return [self.find(keys[code]) if code >= 0 else 0 for code in codes]

    def open_codes(self, grouping: Grouping, codes: Ints) -> Ints:
        """Return the numbers of the keys with some codes of a grouping, (n,), new ones for unknown keys.

        :raises LedgerError: ``bad_key``.
        """
        numbers = self.of_codes(grouping, codes)
        unknown = codes[numbers == 0]
        if len(unknown):
            self._open_missing(grouping, sorted({*unknown.tolist()}))
            numbers = self.of_codes(grouping, codes)
        return numbers

    def _open_missing(self, grouping: Grouping, codes: Sequence[int]) -> None:
        """Give numbers to the keys of a grouping that have some codes, (n,), distinct and ascending."""
        fresh = _select(grouping.keys, codes)
        if isinstance(fresh, Family) and grouping.distinct and grouping.has_strings:
            opened = self._open_members(fresh.prefix, fresh.members)
            numbers = np.arange(opened.start, opened.stop)
        else:
            numbers = np.array([self.open(key) for key in fresh], np.int64)
        self._known_further(grouping, np.array(codes, np.int64), numbers)

    def _known_further(self, grouping: Grouping, codes: Ints, numbers: Ints) -> None:
        """Note the numbers that keys of a grouping just got, if it was up to date before."""
        if not grouping.is_distinct_family:
            return
        codes_before, numbers_before, seen = self._known.get(grouping, _NOTHING_KNOWN)
        size = self._size(grouping.keys)
        if size - seen == len(codes):
            known = np.concatenate((codes_before, codes)), np.concatenate((numbers_before, numbers))
            self._known[grouping] = *known, size

    def _open_members(self, prefix: CounterKey, members: Sequence[str]) -> range:
        """Give numbers to members without one; they must be distinct strings."""
        fresh = range(len(self.keys), len(self.keys) + len(members))
        self._family(prefix).add(members, fresh)
        self.keys.extend(prefix, members)
        return fresh

    def _family(self, prefix: CounterKey) -> MemberNumbers:
        found = self._families.get(prefix)
        if found is None:
            found = self._families[prefix] = MemberNumbers()
        return found

    def _look_up(self, keys: Sequence[CounterKey]) -> Ints:
        if isinstance(keys, Family):
            family = self._families.get(keys.prefix, _NO_MEMBERS).numbers
            return np.fromiter(map(family.get, keys.members, repeat(0)), np.int64, len(keys))
        return np.fromiter(map(self.find, keys), np.int64, len(keys))

    def _add_fresh(self, numbers: Ints, grouping: Grouping, seen: int) -> None:
        """Enter the numbers of the keys that have got theirs since the family had a size."""
        keys = grouping.keys
        if isinstance(keys, Family) and grouping.distinct:
            found = self._fresh(keys, grouping, seen)
            if found:
                numbers[[code for code, _ in found]] = [number for _, number in found]
        else:
            missing = np.flatnonzero(numbers == 0)
            numbers[missing] = self._look_up(_select(keys, missing.tolist()))

    def _fresh(self, keys: Family, grouping: Grouping, seen: int) -> list[tuple[int, int]]:
        """Return code and number of the members of a grouping among those that a family got since it had a size."""
        codes = grouping.code_of_member
        fresh = islice(self._families[keys.prefix].numbers.items(), seen, None)
        return [(codes[member], number) for member, number in fresh if member in codes]

    def _size(self, keys: Sequence[CounterKey]) -> int:
        """Return the number of known keys among which these may be; it grows when one of them gets its number."""
        if isinstance(keys, Family):
            return len(self._families.get(keys.prefix, _NO_MEMBERS))
        return len(self.keys) - 1


def _select(keys: Sequence[CounterKey], codes: Sequence[int]) -> Sequence[CounterKey]:
    """Return the keys with some codes."""
    if isinstance(keys, Family):
        return Family(keys.prefix, list(map(keys.members.__getitem__, codes)))
    return [keys[code] for code in codes]
