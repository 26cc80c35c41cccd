"""The index of each counter: a number for each key, never changed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from weakref import WeakKeyDictionary

import numpy as np

from negotiator.ledger.charges import Grouping
from negotiator.ledger.errors import LedgerError
from negotiator.ledger.keys import CounterKey, Family, Ints

_NO_MEMBERS: dict[str, int] = {}
_STRINGS = {str}


class KeyNumbers:
    """Numbers of keys, from 1 on, in the order in which keys were opened; 0 is the number of unknown keys.

    Keys are stored by prefix (all parts but the last), then by their last part. The members of a family are so looked
    up by one string each, without building a tuple for each of 5,000 hosts; the tuple is built when a counter is first
    charged. Tuples that were looked up one by one are cached in ``found``, which hot
    loops read directly: one dictionary access for the common case, without a call.
    """

    def __init__(self) -> None:
        self.keys: list[CounterKey] = [()]
        self.found: dict[CounterKey, int] = {}
        self._families: dict[CounterKey, dict[str, int]] = {}
        # The numbers of each grouping's keys, with the size of the family when they were looked up: numbers never
        # change, so that they are looked up again only for keys that were unknown, and only if the family has grown.
        self._resolved: WeakKeyDictionary[Grouping, tuple[Ints, int]] = WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, key: CounterKey) -> int:
        """Return the number of a key, 0 if it has none."""
        number = self.found.get(key, 0)
        # Members of a family that were opened in bulk are not in ``found`` until they are looked up by their tuple.
        if not number and self._families:
            number = self._families.get(key[:-1], _NO_MEMBERS).get(key[-1], 0) if key else 0
            if number:
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
            self._families.setdefault(key[:-1], {})[key[-1]] = number
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
            missing = np.flatnonzero(numbers == 0)
            numbers[missing] = self._look_up(_select(grouping.keys, missing.tolist()))
        self._resolved[grouping] = numbers, size
        return numbers

    def open_all(self, grouping: Grouping, codes: Ints) -> Ints:
        """Return the numbers of all keys of a grouping, (K,), with new ones for the keys with these codes, (n,)."""
        numbers = self.of(grouping)
        missing = np.unique(codes[numbers[codes] == 0])
        if not len(missing):
            return numbers
        keys = _select(grouping.keys, missing.tolist())
        if isinstance(keys, Family) and grouping.distinct:
            numbers[missing] = self._open_members(keys.prefix, keys.members)
        else:
            numbers[missing] = [self.open(key) for key in keys]
        self._resolved[grouping] = numbers, self._size(grouping.keys)
        return numbers

    def _open_members(self, prefix: CounterKey, members: Sequence[str]) -> range:
        """Give numbers to members without one; they must be distinct."""
        if not all(type(part) is str for part in (*prefix, *members)):
            raise LedgerError("bad_key", f"invalid key {prefix!r}: its parts must be strings")
        fresh = range(len(self.keys), len(self.keys) + len(members))
        self._families.setdefault(prefix, {}).update(zip(members, fresh, strict=True))
        self.keys += [(*prefix, member) for member in members]
        return fresh

    def _look_up(self, keys: Sequence[CounterKey]) -> Ints:
        if isinstance(keys, Family):
            family = self._families.get(keys.prefix, _NO_MEMBERS)
            return np.fromiter(map(family.get, keys.members, repeat(0)), np.int64, len(keys))
        return np.fromiter(map(self.find, keys), np.int64, len(keys))

    def _size(self, keys: Sequence[CounterKey]) -> int:
        """Return the number of known keys among which these may be; it grows when one of them gets its number."""
        if isinstance(keys, Family):
            return len(self._families.get(keys.prefix, _NO_MEMBERS))
        return len(self.keys) - 1


def _select(keys: Sequence[CounterKey], codes: Sequence[int]) -> Sequence[CounterKey]:
    """Return the keys with some codes."""
    if isinstance(keys, Family):
        return Family(keys.prefix, [keys.members[code] for code in codes])
    return [keys[code] for code in codes]
