"""Where counters are: a number for each key, given once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from weakref import WeakKeyDictionary

import numpy as np

from negotiator.ledger.charges import Grouping
from negotiator.ledger.errors import LedgerError
from negotiator.ledger.keys import CounterKey, Family, Ints

_NOBODY: dict[str, int] = {}
_TEXTS = {str}


class KeyNumbers:
    """Numbers of keys, from 1 on, in the order in which they came; 0 is the place of what has none yet.

    Keys are kept by all their parts but the last, and then by that: the members of a family are found by text alone.
    ``found`` holds those that were looked up one by one, whole; it may be read from outside, where a call is too slow.
    """

    def __init__(self) -> None:
        self.keys: list[CounterKey] = [()]
        self.found: dict[CounterKey, int] = {}
        self._families: dict[CounterKey, dict[str, int]] = {}
        self._resolved: WeakKeyDictionary[Grouping, tuple[Ints, int]] = WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, key: CounterKey) -> int:
        """The place of a key, 0 where it has none."""
        place = self.found.get(key, 0)
        if not place and self._families:
            place = self._families.get(key[:-1], _NOBODY).get(key[-1], 0) if key else 0
            if place:
                self.found[key] = place
        return place

    def open(self, key: CounterKey) -> int:
        """The place of a key; a new one where it has none.

        :raises LedgerError: ``bad_key``.
        """
        place = self.find(key)
        if not place:
            if type(key) is not tuple or not key or not {*map(type, key)} <= _TEXTS:
                raise LedgerError(
                    "bad_key", f"{key!r} names no counter: a key is a tuple of one or more strings"
                )
            self.found[key] = place = len(self.keys)
            self._families.setdefault(key[:-1], {})[key[-1]] = place
            self.keys.append(key)
        return place

    def has_prefix(self, prefixes: frozenset[CounterKey]) -> bool:
        """Whether there may be a key of a grouping."""
        return any(prefix in self._families for prefix in prefixes)

    def of(self, grouping: Grouping) -> Ints:
        """The places of all keys of a grouping, (K,); not to be changed."""
        places, stamp = self._resolved.get(grouping, (None, -1))
        now = self._stamp(grouping.keys)
        if places is None:
            places = self._look_up(grouping.keys) if now else np.zeros(len(grouping.keys), np.int64)
        elif stamp != now:
            missing = np.flatnonzero(places == 0)
            places[missing] = self._look_up(_some(grouping.keys, missing.tolist()))
        self._resolved[grouping] = places, now
        return places

    def open_all(self, grouping: Grouping, codes: Ints) -> Ints:
        """Do the same when the keys with these codes, (n,), have places."""
        places = self.of(grouping)
        missing = np.unique(codes[places[codes] == 0])
        if not len(missing):
            return places
        keys = _some(grouping.keys, missing.tolist())
        if isinstance(keys, Family) and grouping.distinct:
            places[missing] = self._open_members(keys.prefix, keys.members)
        else:
            places[missing] = [self.open(key) for key in keys]
        self._resolved[grouping] = places, self._stamp(grouping.keys)
        return places

    def _open_members(self, prefix: CounterKey, members: Sequence[str]) -> range:
        """Give places to several that have none, all distinct."""
        if not all(type(part) is str for part in (*prefix, *members)):
            raise LedgerError("bad_key", f"{prefix!r}: the parts of a key are strings")
        fresh = range(len(self.keys), len(self.keys) + len(members))
        self._families.setdefault(prefix, {}).update(zip(members, fresh, strict=True))
        self.keys += [(*prefix, member) for member in members]
        return fresh

    def _look_up(self, keys: Sequence[CounterKey]) -> Ints:
        if isinstance(keys, Family):
            family = self._families.get(keys.prefix, _NOBODY)
            return np.fromiter(map(family.get, keys.members, repeat(0)), np.int64, len(keys))
        return np.fromiter(map(self.find, keys), np.int64, len(keys))

    def _stamp(self, keys: Sequence[CounterKey]) -> int:
        """A number that changes where a key of these may have got a place; 0 where none has one."""
        if isinstance(keys, Family):
            return len(self._families.get(keys.prefix, _NOBODY))
        return len(self.keys) - 1


def _some(keys: Sequence[CounterKey], codes: Sequence[int]) -> Sequence[CounterKey]:
    """The keys with some codes."""
    if isinstance(keys, Family):
        return Family(keys.prefix, [keys.members[code] for code in codes])
    return [keys[code] for code in codes]
