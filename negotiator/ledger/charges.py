"""The charges of a request, as a policy declares them: counters, amounts and limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NoReturn

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.ledger.errors import LedgerError
from negotiator.ledger.keys import LARGEST, CounterKey, Family, Ints


@attrs.frozen(eq=False)
class Grouping:
    """The counter that each slot is charged on.

    ``codes`` is (N,) of integers over the slots: the index in ``keys`` of the slot's counter, or -1 for a slot that is
    not charged. Groupings over the same hosts should share one array of codes: it is then sorted once. Keys should
    differ in their last part only, or be a ``Family``: overlaps between groupings are then found faster.
    """

    codes: NDArray[np.integer]
    keys: Sequence[CounterKey]
    _owned: dict[str, Grouping] = attrs.field(factory=dict, init=False, repr=False)

    def owned_by(self, owner: str) -> Grouping:
        """Return the same grouping with the owner's name before each key; one object for each name.

        Plugins cannot charge each other's counters then.
        """
        found = self._owned.get(owner)
        if found is None:
            keys = self.keys
            prefixed: Sequence[CounterKey] = (
                Family((owner, *keys.prefix), keys.members)
                if isinstance(keys, Family)
                else [(owner, *key) for key in keys]
            )
            found = self._owned[owner] = Grouping(self.codes, prefixed)
        return found

    def __attrs_post_init__(self) -> None:
        if self.codes.ndim != 1 or not np.issubdtype(self.codes.dtype, np.integer):
            raise LedgerError("bad_charge", "the codes of a grouping must be one integer for each slot")

    @cached_property
    def fault(self) -> str:
        """The error in the codes or the keys, or an empty string; computed once, as groupings are used many times."""
        keys, codes = self.keys, self.codes
        if not isinstance(keys, Family) and not all(type(key) is tuple and key for key in keys):
            return "expected tuples of strings, or a Family, as keys of a Grouping, got others"
        if len(codes) and not -1 <= int(codes.min()) <= int(codes.max()) < len(keys):
            return f"expected codes from -1 to {len(keys) - 1} in a Grouping, got others"
        return ""

    @cached_property
    def distinct(self) -> bool:
        """True if no two codes name the same counter."""
        keys = self.keys
        return len(set(keys.members if isinstance(keys, Family) else keys)) == len(keys)

    @cached_property
    def has_strings(self) -> bool:
        """True if all parts of all keys of a family are strings."""
        keys = self.keys
        return isinstance(keys, Family) and {*map(type, keys.prefix), *map(type, keys.members)} <= {str}

    @cached_property
    def prefixes(self) -> frozenset[CounterKey]:
        """The keys without their last parts: groupings with no common prefix have no common counter."""
        keys = self.keys
        return frozenset((keys.prefix,) if isinstance(keys, Family) else {key[:-1] for key in keys})


@attrs.frozen(eq=False)
class Charge:
    """An amount that a match adds to a sum.

    ``amount`` and ``limit`` are one integer, or (N,) of int64 over the slots. An amount of 0 is never refused, unless
    the charge ``probes``: a match that adds nothing is then refused if more is used than the limit. All charges of a
    match on one counter are added up, and the total must fit each of their limits. A limit of None is 2^63 - 1; one
    below the sum refuses everything. The ledger does not read ``label``.
    """

    counter: CounterKey | Grouping
    amount: int | Ints
    limit: int | Ints | None
    label: object = None
    probes: bool = False


@attrs.frozen(eq=False)
class KeyCharge:
    """A key that a match adds to a set of keys, such as the running applications of a user.

    ``keys`` is (M,): the key of each copy of the request, in order. A key that the set already holds costs nothing, any
    other costs 1; the limit is on the size of the set. Charges with the same keys should share one sequence.
    """

    counter: CounterKey
    keys: Sequence[str]
    limit: int | None
    label: object = None


def check_amounts(amounts: Iterable[int]) -> None:
    """Raise for the first amount that is not an integer from 0 to 2^63 - 1.

    :raises LedgerError: ``bad_amount``, ``negative_amount``, ``overflow``.
    """
    for amount in amounts:
        if type(amount) is not int or not 0 <= amount <= LARGEST:
            _refuse_amount(amount)


def _refuse_amount(amount: object) -> NoReturn:
    if type(amount) is not int:
        raise LedgerError("bad_amount", f"invalid amount {amount!r}: it must be an integer")
    if amount < 0:
        raise LedgerError("negative_amount", f"invalid amount {amount}: release a receipt instead")
    raise LedgerError("overflow", f"invalid amount {amount}: the largest is 2^63 - 1")
