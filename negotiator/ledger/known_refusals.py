"""The refusals of an admission that are known before its candidates are sorted: they do not depend on their order."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from negotiator.ledger.charges import Charge, KeyCharge
from negotiator.ledger.counters import Counters
from negotiator.ledger.grouping import Grouping
from negotiator.ledger.keys import LARGEST, Mask
from negotiator.ledger.plain import plain_keys
from negotiator.ledger.stops import has_shared_counters


@attrs.frozen(eq=False)
class KnownRefusals:
    """The refusals of a request's charges that are the same in any order of its candidates.

    The charges that are the same on all slots leave room for ``copies`` of the request's jobs. If that is not all of them, the
    charge of number ``then`` refuses each candidate after so many matches. The first charge that depends on the slot, of number
    ``varying`` (None: no charge does), refuses the slots ``full``, (N,), whatever was granted before; None if it is not known of
    any. Do not change them, and read them before the next charge.
    """

    copies: int
    then: int | None
    varying: int | None
    full: Mask | None


def known_refusals(
    counters: Counters, charges: Sequence[Charge], key_charges: Sequence[KeyCharge], copies: int, slots: int
) -> KnownRefusals | None:
    """Return the known refusals of a request for a number of copies over a number of slots.

    An admission of ``copies`` over the other candidates grants the same as one over all of them. Return None if all slots are
    charged alike and there is room for all copies, or if that is not certain: if charges are invalid, probe or are on the same counters, amounts differ between slots, keys may not fit, or an
    earlier charge than the one named may refuse a candidate.

    :raises LedgerError: ``wrong_sort``.
    """
    varying = _first_varying(charges)
    if varying is None:
        return None
    room, then = _room(counters, charges, copies)
    alike = varying == len(charges)
    if (then is None and alike) or (then is not None and then > varying):
        return None
    if has_shared_counters(charges) or plain_keys(counters, key_charges, copies, copies) is None:
        return None
    if alike:
        return KnownRefusals(room, then, None, None)
    charge = charges[varying]
    if not isinstance(charge.counter, Grouping) or len(charge.counter.codes) != slots:
        return KnownRefusals(room, then, varying, None)
    if not charge.counter.has_valid_codes:
        return None
    return KnownRefusals(room, then, varying, _full(counters, charge, charge.counter) if room else None)


def _first_varying(charges: Sequence[Charge]) -> int | None:
    """Return the number of the first charge that depends on the slot, or of charges; None if one needs a check on each slot."""
    first = len(charges)
    for number, charge in enumerate(charges):
        amount, limit = charge.amount, charge.limit
        if charge.probes or type(amount) is not int or not 0 <= amount <= LARGEST:
            return None
        if limit is not None and type(limit) is not int:
            if not isinstance(limit, np.ndarray) or limit.dtype != np.int64 or limit.ndim != 1:
                return None
        elif type(charge.counter) is tuple:
            continue
        first = min(first, number)
    return first


def _room(counters: Counters, charges: Sequence[Charge], copies: int) -> tuple[int, int | None]:
    """Return for how many copies the charges alike on all slots have room, and the first that refuses one more."""
    room, then, known, cells = copies, None, counters.known_sums, counters.cells
    for number, charge in enumerate(charges):
        amount, limit, key = charge.amount, charge.limit, charge.counter
        if type(key) is not tuple or not isinstance(amount, int):
            continue
        index = known.get(key) or counters.index_of(
            key
        )  # an invalid one is reported also if none is examined
        if type(limit) is int and amount:
            fits = max(0, (min(limit, LARGEST) - cells[index]) // amount)
            if fits < room:
                room, then = fits, number
    return room, then


def _full(counters: Counters, charge: Charge, grouping: Grouping) -> Mask | None:
    """Return the slots, (N,), whose counters are full, of a charge with one amount; None if it is not known of any."""
    amount, limit = charge.amount, charge.limit
    if not isinstance(amount, int) or not amount or limit is None:
        return None
    if isinstance(limit, np.ndarray):
        if limit.shape != grouping.codes.shape:
            return None
        used = counters.used_by(grouping)
        room = np.maximum(limit, -1) - (0 if used is None else used[grouping.codes])
        return np.asarray((amount > room) & (grouping.codes >= 0))
    if amount > limit:  # also counters that were never charged are full
        return np.asarray(grouping.codes >= 0)
    return counters.full_slots(grouping, min(limit, LARGEST) - amount)
