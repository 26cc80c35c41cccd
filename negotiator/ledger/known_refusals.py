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


@attrs.frozen
class KnownRefusals:
    """The refusals of a request's charges that are the same in any order of its candidates.

    The charges that are the same on all slots leave room for ``copies`` of the request's jobs. If that is not all of them, the
    charge of number ``then`` refuses each candidate after so many matches. ``varying`` is the number of the first charge that
    depends on the slot, None if no charge does: it refuses the slots whose counters are full (``full_slots``), whatever was
    granted before.
    """

    copies: int
    then: int | None
    varying: int | None


def known_refusals(
    counters: Counters, charges: Sequence[Charge], key_charges: Sequence[KeyCharge], copies: int
) -> KnownRefusals | None:
    """Return the known refusals of a request for a number of copies.

    An admission of ``KnownRefusals.copies`` over the slots that are not full grants the same as one of all copies over all slots.
    Return None if all slots are charged alike and there is room for all copies, or if that is not certain: if charges are invalid,
    probe or are on the same counters, amounts differ between slots, keys may not fit, or an earlier charge than the one named may
    refuse a candidate.

    :raises LedgerError: ``wrong_sort``.
    """
    varying, room, then = len(charges), copies, None
    known, cells = counters.known_sums, counters.cells
    for number, charge in enumerate(charges):
        amount, limit, key = charge.amount, charge.limit, charge.counter
        if charge.probes or type(amount) is not int or not 0 <= amount <= LARGEST:
            return None
        if limit is not None and type(limit) is not int:
            if not isinstance(limit, np.ndarray) or limit.dtype != np.int64 or limit.ndim != 1:
                return None
            varying = min(varying, number)
        if type(key) is not tuple:
            varying = min(varying, number)
            continue
        index = known.get(key) or counters.index_of(key)
        if type(limit) is int and amount:
            fits = max(0, (min(limit, LARGEST) - cells[index]) // amount)
            if fits < room:
                room, then = fits, number
    alike = varying == len(charges)
    if (then is None and alike) or (then is not None and then > varying):
        return None
    if (
        not alike
        and isinstance(grouping := charges[varying].counter, Grouping)
        and not grouping.has_valid_codes
    ):
        return None
    if has_shared_counters(charges) or plain_keys(counters, key_charges, copies, copies) is None:
        return None
    return KnownRefusals(room, then, None if alike else varying)


def full_slots(counters: Counters, charge: Charge, slots: int) -> Mask | None:
    """Return the slots, (N,), whose counters have no room for another match, of a charge with one amount and valid codes.

    Return None if it is not certain of any.
    """
    amount, limit, grouping = charge.amount, charge.limit, charge.counter
    if not isinstance(grouping, Grouping) or len(grouping.codes) != slots or not amount or limit is None:
        return None
    used = counters.sums_by_code(grouping)
    if isinstance(limit, np.ndarray):
        if len(limit) != slots:
            return None
        return np.asarray((amount > np.maximum(limit, -1) - used[grouping.codes]) & (grouping.codes >= 0))
    full = np.asarray(amount > max(-1, min(limit, LARGEST)) - used)
    full[-1] = False  # of slots that are not charged
    return np.asarray(full[grouping.codes])
