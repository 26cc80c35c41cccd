"""A counter for each of several groups of slots, such as one for each host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.ledger.errors import LedgerError
from negotiator.ledger.keys import CounterKey, Family


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
