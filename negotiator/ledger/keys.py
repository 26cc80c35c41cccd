"""Keys of counters: families of keys, the counter of each slot, and a number for each key."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TypeAlias, overload
from weakref import WeakKeyDictionary

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.ledger.errors import LedgerError

CounterKey: TypeAlias = tuple[str, ...]
Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
#: Numbers of slots, (N,).
Rows: TypeAlias = NDArray[np.intp]

#: The largest value of a sum.
LARGEST = 2**63 - 1
#: So many keys are looked up one by one; more are faster in columns over all keys of a grouping.
_FEW = 64
_STRINGS = {str}
_NOTHING_KNOWN = np.zeros(0, np.int64), np.zeros(0, np.int64), 0


@attrs.frozen(eq=False)
class Family(Sequence[CounterKey]):
    """Keys that differ in their last part only: ``(*prefix, member)`` for each member.

    A key is built when it is read, so that a quota for each of 5,000 hosts costs nothing to declare. Share one sequence
    of members between all families over the same hosts.
    """

    prefix: CounterKey
    members: Sequence[str]

    def __len__(self) -> int:
        return len(self.members)

    @overload
    def __getitem__(self, index: int) -> CounterKey: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[CounterKey]: ...
    def __getitem__(self, index: int | slice) -> CounterKey | Sequence[CounterKey]:
        if isinstance(index, slice):
            return Family(self.prefix, self.members[index])
        return (*self.prefix, self.members[index])


def key_text(key: CounterKey) -> str:
    """Return a counter's key for messages."""
    return " ".join(key)


@attrs.frozen(eq=False, slots=False)
class _Shape:
    """What groupings of the same slots over the same names have in common, whatever prefix their keys have.

    ``names`` are the last parts of the keys of a family, or the keys.
    """

    codes: NDArray[np.integer]
    names: Sequence[str] | Sequence[CounterKey]

    @cached_property
    def has_valid_codes(self) -> bool:
        codes = self.codes
        return not len(codes) or -1 <= int(codes.min()) <= int(codes.max()) < len(self.names)

    @cached_property
    def codes_of(self) -> Mapping[object, int]:
        """The code of each name; of several with one name the last."""
        return {name: code for code, name in enumerate(self.names)}

    @cached_property
    def has_strings(self) -> bool:
        return {*map(type, self.names)} <= {str}


@attrs.frozen(eq=False, slots=False)
class Grouping:
    """The counter that each slot is charged on.

    ``codes`` is (N,) of integers over the slots: the index in ``keys`` of the slot's counter, or -1 for a slot that is
    not charged. Groupings over the same hosts should share one array of codes: it is then sorted once; best of all, make one
    and the others by ``with_prefix``. Keys should differ in their last part only, or be a ``Family``: overlaps between groupings
    are then found faster.
    """

    codes: NDArray[np.integer]
    keys: Sequence[CounterKey]
    _given_shape: _Shape | None = attrs.field(default=None, repr=False, kw_only=True)
    _owned: dict[str, Grouping] = attrs.field(factory=dict, init=False, repr=False)

    def with_prefix(self, prefix: CounterKey) -> Grouping:
        """Return the same groups with other counters: those of a family with the same members and this prefix.

        :raises LedgerError: ``bad_key``, if the keys are not a ``Family``.
        """
        if not isinstance(self.keys, Family):
            raise LedgerError("bad_key", "the keys of a Grouping must be a Family to get another prefix")
        return Grouping(self.codes, Family(prefix, self.keys.members), given_shape=self._shape)

    def owned_by(self, owner: str) -> Grouping:
        """Return the same grouping with the owner's name before each key; one object for each name.

        Plugins cannot charge each other's counters then.
        """
        found = self._owned.get(owner)
        if found is None:
            keys = self.keys
            found = self._owned[owner] = (
                self.with_prefix((owner, *keys.prefix))
                if isinstance(keys, Family)
                else Grouping(self.codes, [(owner, *key) for key in keys])
            )
        return found

    def __attrs_post_init__(self) -> None:
        if self.codes.ndim != 1 or not np.issubdtype(self.codes.dtype, np.integer):
            raise LedgerError("bad_charge", "the codes of a grouping must be one integer for each slot")

    @cached_property
    def _shape(self) -> _Shape:
        keys = self.keys
        return self._given_shape or _Shape(self.codes, keys.members if isinstance(keys, Family) else keys)

    @cached_property
    def fault(self) -> str:
        """The error in the codes or the keys, or an empty string; computed once, as groupings are used many times."""
        keys = self.keys
        if not isinstance(keys, Family) and not all(type(key) is tuple and key for key in keys):
            return "expected tuples of strings, or a Family, as keys of a Grouping, got others"
        if not self._shape.has_valid_codes:
            return f"expected codes from -1 to {len(keys) - 1} in a Grouping, got others"
        return ""

    @property
    def has_valid_codes(self) -> bool:
        """True if each code is -1 or the index of a key."""
        return self._shape.has_valid_codes

    @property
    def distinct(self) -> bool:
        """True if no two codes name the same counter."""
        return len(self._shape.codes_of) == len(self.keys)

    @property
    def code_of_member(self) -> Mapping[object, int]:
        """The code of each last part of the keys of a family."""
        return self._shape.codes_of

    @property
    def has_strings(self) -> bool:
        """True if all parts of all keys of a family are strings."""
        keys = self.keys
        return isinstance(keys, Family) and self._shape.has_strings and {*map(type, keys.prefix)} <= {str}

    @cached_property
    def prefixes(self) -> frozenset[CounterKey]:
        """The keys without their last parts: groupings with no common prefix have no common counter."""
        keys = self.keys
        return frozenset((keys.prefix,) if isinstance(keys, Family) else {key[:-1] for key in keys})


class KeyList:
    """Keys in the order in which they were added, numbered from 0: one by one, or many of a family."""

    def __init__(self) -> None:
        self._parts: list[list[CounterKey] | Family] = []
        self._starts: list[int] = []  # the number of the first key of each part
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, number: int) -> CounterKey:
        part = bisect_right(self._starts, number) - 1
        return self._parts[part][number - self._starts[part]]

    def __iter__(self) -> Iterator[CounterKey]:
        for part in self._parts:
            yield from part

    def append(self, key: CounterKey) -> None:
        """Add a key."""
        last = self._parts[-1] if self._parts else None
        if isinstance(last, list):
            last.append(key)
            self._size += 1
        else:
            self._add([key])

    def extend(self, prefix: CounterKey, members: Sequence[str]) -> None:
        """Add the keys of some members of a family."""
        if members:
            self._add(Family(prefix, members))

    def _add(self, part: list[CounterKey] | Family) -> None:
        self._parts.append(part)
        self._starts.append(self._size)
        self._size += len(part)


class MemberNumbers:
    """The number of each member, by its name.

    Members that are added together are entered when a member is looked up: a quota for each of 5,000 hosts is often read
    by the codes of slots alone.
    """

    __slots__ = ("_added", "_numbers", "_size")

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._added: list[tuple[Sequence[str], range]] = []
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers by name, in the order in which members were added. Do not change them."""
        if self._added:
            for members, numbers in self._added:
                self._numbers.update(zip(members, numbers, strict=True))
            self._added.clear()
        return self._numbers

    def add(self, members: Sequence[str], numbers: range) -> None:
        """Add members without a number; they must be distinct."""
        self._added.append((members, numbers))
        self._size += len(numbers)


_NO_MEMBERS = MemberNumbers()


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
