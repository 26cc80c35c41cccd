"""What a policy declares for a request: on which counters a match is charged, how much, and up to which limit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.ledger.errors import LedgerError
from negotiator.ledger.keys import CounterKey, Family, Ints


@attrs.frozen(eq=False)
class Grouping:
    """Which counter each slot is charged on.

    ``codes`` is (N,) of integers over the slots: the place of the slot's counter in ``keys``, or -1 for a slot that is
    not charged. Groupings over the same hosts should share one array of codes: it is then sorted once. Where keys
    differ, let them differ in their last part, or use a ``Family``: counters are told apart faster.
    """

    codes: NDArray[np.integer]
    keys: Sequence[CounterKey]
    _owned: dict[str, Grouping] = attrs.field(factory=dict, init=False, repr=False)

    def owned_by(self, owner: str) -> Grouping:
        """The same with a name before each key, so that nobody charges what is another's; one object for each name."""
        found = self._owned.get(owner)
        if found is None:
            keys = self.keys
            own: Sequence[CounterKey] = (
                Family((owner, *keys.prefix), keys.members)
                if isinstance(keys, Family)
                else [(owner, *key) for key in keys]
            )
            found = self._owned[owner] = Grouping(self.codes, own)
        return found

    def __attrs_post_init__(self) -> None:
        if self.codes.ndim != 1 or not np.issubdtype(self.codes.dtype, np.integer):
            raise LedgerError("bad_charge", "the codes of a grouping are one integer a slot")

    @cached_property
    def fault(self) -> str:
        """What is wrong with the codes or the keys, empty if nothing is; computed once, as groupings are used many times."""
        keys, codes = self.keys, self.codes
        if not isinstance(keys, Family) and not all(type(key) is tuple and key for key in keys):
            return "expected tuples of strings, or a Family, as keys of a Grouping, got others"
        if len(codes) and not -1 <= int(codes.min()) <= int(codes.max()) < len(keys):
            return f"expected codes from -1 to {len(keys) - 1} in a Grouping, got others"
        return ""

    @cached_property
    def distinct(self) -> bool:
        """Whether no two codes name the same counter."""
        keys = self.keys
        return len(set(keys.members if isinstance(keys, Family) else keys)) == len(keys)

    @cached_property
    def prefixes(self) -> frozenset[CounterKey]:
        """The keys without their last parts: groupings that have none in common have no counter in common."""
        keys = self.keys
        return frozenset((keys.prefix,) if isinstance(keys, Family) else {key[:-1] for key in keys})


@attrs.frozen(eq=False)
class Charge:
    """An amount that a match adds to a sum.

    ``amount`` and ``limit`` are one integer, or (N,) of int64 over the slots. An amount of 0 is no charge, and is
    never refused; unless the charge ``probes``: then a match that adds nothing is refused all the same where more is
    used than the limit allows. What a match adds to one counter, by all its charges together, must fit every limit that these
    charges name. A limit of None only counts (up to 2^63 - 1); one that is below what is used lets nothing pass.
    ``label`` is the caller's, and is never looked at.
    """

    counter: CounterKey | Grouping
    amount: int | Ints
    limit: int | Ints | None
    label: object = None
    probes: bool = False


@attrs.frozen(eq=False)
class KeyCharge:
    """A key that a match adds to a set of keys, such as the running applications of a user.

    ``keys`` is (M,): the key of each copy of the request, in their order. A key that is in the set costs nothing,
    another one costs 1; a limit is on the size of the set. Alike copies may have different keys. Several charges with
    the same keys should share one sequence.
    """

    counter: CounterKey
    keys: Sequence[str]
    limit: int | None
    label: object = None
