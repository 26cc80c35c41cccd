"""The index of each counter: a number for each key, never changed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
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

    A number never changes. Keys are stored by prefix (all parts but the last), then by their last part: the members of a
    family are so looked up by one string each, without building a tuple for each of 5,000 hosts. Tuples that were looked
    up one by one are cached in ``found``, which hot loops read directly: one dictionary access, without a call.
    """

    def __init__(self) -> None:
        self.keys = KeyList()
        self.keys.append(())
        self.found: dict[CounterKey, int] = {}
        self._families: dict[CounterKey, MemberNumbers] = {}
        # Of each grouping: the codes of its keys that have a number, the numbers, and how many keys there were then.
        # Others are looked up again only if there are more keys.
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

    def of_member(self, keys: Sequence[CounterKey], code: int) -> int:
        """Return the number of one key of a grouping, 0 if it has none."""
        return self._of_few(keys, (code,))[0]

    def of_codes(self, grouping: Grouping, codes: NDArray[np.integer]) -> Ints:
        """Return the numbers of the keys of a grouping that have some codes, (n,), 0 for unknown keys and for the code -1."""
        if len(codes) <= _FEW:
            return np.array(self._of_few(grouping.keys, codes.tolist()), np.int64)
        if not self._size(grouping.keys):
            return np.zeros(len(codes), np.int64)
        return np.asarray(self.by_code(grouping)[codes], np.int64)

    def by_code(self, grouping: Grouping) -> Ints:
        """Return the numbers of the keys of a grouping, (K + 1,), 0 for unknown keys; the last one is that of the code -1."""
        numbers = np.zeros(len(grouping.keys) + 1, np.int64)
        known, found = self._known_of(grouping)
        numbers[known] = found
        return numbers

    def open_codes(self, grouping: Grouping, codes: Ints) -> Ints:
        """Return the numbers of the keys with some codes of a grouping, (n,), new ones for unknown keys.

        :raises LedgerError: ``bad_key``.
        """
        numbers = self.of_codes(grouping, codes)
        unknown = codes[numbers == 0]
        if len(unknown):
            self._open_missing(grouping, np.array(sorted({*unknown.tolist()}), np.int64))
            numbers = self.of_codes(grouping, codes)
        return numbers

    def _of_few(self, keys: Sequence[CounterKey], codes: Sequence[int]) -> list[int]:
        if isinstance(keys, Family):  # their tuples need not be built
            number_of, members = self._families.get(keys.prefix, _NO_MEMBERS).numbers.get, keys.members
            return [number_of(members[code], 0) if code >= 0 else 0 for code in codes]
        return [self.find(keys[code]) if code >= 0 else 0 for code in codes]

    def _known_of(self, grouping: Grouping) -> tuple[Ints, Ints]:
        """Return the codes of the keys of a grouping that have a number, (m,), and the numbers, (m,)."""
        codes, numbers, seen = self._known.get(grouping, _NOTHING_KNOWN)
        if seen != self._size(grouping.keys):
            found = self._fresh(grouping, codes, seen)
            fresh = np.array(found, np.int64).reshape(-1, 2)
            codes, numbers = self._add_known(grouping, fresh[:, 0], fresh[:, 1])
        return codes, numbers

    def _add_known(self, grouping: Grouping, codes: Ints, numbers: Ints) -> tuple[Ints, Ints]:
        """Add keys of a grouping, (n,), that have got their numbers since it was looked up; no other has."""
        codes_before, numbers_before, _ = self._known.get(grouping, _NOTHING_KNOWN)
        known = np.concatenate((codes_before, codes)), np.concatenate((numbers_before, numbers))
        self._known[grouping] = *known, self._size(grouping.keys)
        return known

    def _fresh(self, grouping: Grouping, known: Ints, seen: int) -> list[tuple[int, int]]:
        """Return code and number of the keys of a grouping that have got theirs since there were ``seen`` keys."""
        keys = grouping.keys
        if isinstance(keys, Family) and grouping.distinct:
            codes = grouping.code_of_member
            fresh = islice(self._families[keys.prefix].numbers.items(), seen, None)
            return [(codes[member], number) for member, number in fresh if member in codes]
        missing = np.ones(len(keys), np.bool_)
        missing[known] = False
        found = ((code, self.find(keys[code])) for code in np.flatnonzero(missing).tolist())
        return [(code, number) for code, number in found if number]

    def _open_missing(self, grouping: Grouping, codes: Ints) -> None:
        """Give numbers to the keys of a grouping that have some codes, (n,), distinct and ascending."""
        keys = grouping.keys
        if not isinstance(keys, Family) or not grouping.distinct or not grouping.has_strings:
            for code in codes.tolist():
                self.open(keys[code])
            return
        members = list(map(keys.members.__getitem__, codes.tolist()))
        numbers = range(len(self.keys), len(self.keys) + len(members))
        known = self._known.get(grouping, _NOTHING_KNOWN)[2] == self._size(keys)
        self._family(keys.prefix).add(members, numbers)
        self.keys.extend(keys.prefix, members)
        if known:  # it needs not be looked up again
            self._add_known(grouping, codes, np.arange(numbers.start, numbers.stop))

    def _family(self, prefix: CounterKey) -> MemberNumbers:
        found = self._families.get(prefix)
        if found is None:
            found = self._families[prefix] = MemberNumbers()
        return found

    def _size(self, keys: Sequence[CounterKey]) -> int:
        """Return the number of known keys among which these may be; it grows when one of them gets its number."""
        if isinstance(keys, Family):
            return len(self._families.get(keys.prefix, _NO_MEMBERS))
        return len(self.keys) - 1
