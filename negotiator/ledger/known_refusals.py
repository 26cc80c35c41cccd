"""The refusals of an admission that are known before its candidates are sorted: they do not depend on their order."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from negotiator.ledger.charges import Charge, KeyCharge
from negotiator.ledger.counters import Counters
from negotiator.ledger.grouping import Grouping
from negotiator.ledger.keys import LARGEST
from negotiator.ledger.lines import Rows
from negotiator.ledger.plain import plain_keys
from negotiator.ledger.stops import has_shared_counters

_NO_ROWS = np.zeros(0, np.intp)
_NO_ROWS.setflags(write=False)


@attrs.frozen(eq=False)
class KnownRefusals:
    """The refusals of a request's charges that are the same in any order of its candidates.

    The charges that are the same on all slots leave room for ``copies`` of the request's jobs. If that is not all of them, the
    charge of number ``then`` refuses each candidate after so many matches. The first charge that depends on the slot, of number
    ``varying``, refuses the slots ``full``, (F,), whatever was granted before.
    """

    copies: int
    then: int | None
    varying: int
    full: Rows


def known_refusals(
    counters: Counters, charges: Sequence[Charge], key_charges: Sequence[KeyCharge], copies: int, slots: int
) -> KnownRefusals | None:
    """Return the known refusals of a request for a number of copies over a number of slots.

    An admission of ``copies`` over the other candidates grants the same as one over all of them. Return None if that is not
    certain: if charges are invalid, probe or are on the same counters, amounts differ between slots, keys may not fit, or an
    earlier charge than the one named may refuse a candidate.

    :raises LedgerError: ``wrong_sort``.
    """
    varying = _first_varying(charges)
    if varying is None:
        return None
    room, then = _room(counters, charges, copies)
    if then is not None and then > varying:
        return None
    if has_shared_counters(charges) or plain_keys(counters, key_charges, copies, copies) is None:
        return None
    charge = charges[varying]
    if not isinstance(charge.counter, Grouping) or len(charge.counter.codes) != slots:
        return KnownRefusals(room, then, varying, _NO_ROWS)
    if not charge.counter.has_valid_codes:
        return None
    return KnownRefusals(room, then, varying, _full(counters, charge, charge.counter) if room else _NO_ROWS)


def _first_varying(charges: Sequence[Charge]) -> int | None:
    """Return the number of the first charge that depends on the slot; None if there is none, or one needs a check on each."""
    first: int | None = None
    for number, charge in enumerate(charges):
        amount, limit = charge.amount, charge.limit
        if charge.probes or type(amount) is not int or not 0 <= amount <= LARGEST:
            return None
        if limit is not None and type(limit) is not int:
            if not isinstance(limit, np.ndarray) or limit.dtype != np.int64 or limit.ndim != 1:
                return None
        elif type(charge.counter) is tuple:
            continue
        if first is None:
            first = number
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


def _full(counters: Counters, charge: Charge, grouping: Grouping) -> Rows:
    """Return the slots whose counters are full, of a charge with one amount."""
    amount, limit = charge.amount, charge.limit
    if not isinstance(amount, int) or not amount or limit is None:
        return _NO_ROWS
    if isinstance(limit, np.ndarray):
        if limit.shape != grouping.codes.shape:
            return _NO_ROWS
        used = counters.used_by(grouping)
        room = np.maximum(limit, -1) - (0 if used is None else used[grouping.codes])
        return np.flatnonzero((amount > room) & (grouping.codes >= 0))
    if amount > limit:  # also counters that were never charged are full
        return np.flatnonzero(grouping.codes >= 0)
    codes, sums = counters.charged_of(grouping)
    full = codes[sums > min(limit, LARGEST) - amount]
    return grouping.slots_of(full) if len(full) else _NO_ROWS
