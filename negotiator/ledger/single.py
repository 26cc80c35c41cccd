"""Admission of one copy: what most requests ask for, and what columns are too heavy for.

Nothing is granted to one copy before the first candidate that fits, so that each candidate is examined by itself, in
plain integers. The result is that of the ways that work on columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from negotiator.ledger.charges import Charge, Grouping, KeyCharge
from negotiator.ledger.counters import Counters
from negotiator.ledger.keys import LARGEST, CounterKey
from negotiator.ledger.lines import Rows

#: The number of candidates that are examined one by one; more are faster in columns.
FEW = 64

#: What a match adds to each counter: its key, the amount, and its index, 0 if it was never charged.
Charged: TypeAlias = Sequence[tuple[CounterKey, int, int]]


class FirstFit(NamedTuple):
    """The charge that refused each candidate up to the first that fits, -1 for that one; and what that one is charged."""

    stops: list[int]
    charged: Charged


class _NotPlainError(Exception):
    """A charge is invalid: the ways on columns report what is wrong with it."""


def first_fit(counters: Counters, charges: Sequence[Charge], rows: Rows) -> FirstFit | None:
    """Return the first candidate that fits; None if it is not among the first ``FEW``, or a charge is invalid."""
    stops: list[int] = []
    try:
        for row in rows[:FEW].tolist():
            charged = _charged(counters, charges, row)
            stops.append(_stop(counters, charges, charged, row))
            if stops[-1] < 0:
                return FirstFit(stops, [part for part in charged if part[1]])
    except (_NotPlainError, IndexError, TypeError):
        return None
    return FirstFit(stops, ()) if len(stops) == len(rows) else None


def refusing_key(counters: Counters, charges: Sequence[KeyCharge]) -> int | None:
    """Return the number of the first key charge that refuses the first copy, or -1.

    Return None if two charges are on one set, or a charge has no keys: the general way counts or reports them.
    """
    if len({charge.counter for charge in charges}) < len(charges):
        return None
    refusing = -1
    for number, charge in enumerate(charges):
        if not len(charge.keys):
            return None
        members, limit = counters.members(charge.counter), charge.limit
        if refusing < 0 and limit is not None and len(members) >= limit and charge.keys[0] not in members:
            refusing = number
    return refusing


def _charged(counters: Counters, charges: Sequence[Charge], row: int) -> list[tuple[CounterKey, int, int]]:
    """Return key, amount and index of each charge on a slot; the key ``()`` if the slot is not charged."""
    if row < 0:
        raise _NotPlainError
    found = []
    known = counters.known_sums
    for charge in charges:
        amount, key = charge.amount, charge.counter
        if type(amount) is not int:
            amount = _at(amount, row)
        if isinstance(key, Grouping):
            code = int(key.codes[row])
            if code < -1:
                raise _NotPlainError
            key = key.keys[code] if code >= 0 else ()
        elif not key:
            raise _NotPlainError
        if not 0 <= amount <= LARGEST:
            raise _NotPlainError
        found.append((key, amount, known.get(key) or counters.index_of(key)) if key else ((), 0, 0))
    return found


def _stop(counters: Counters, charges: Sequence[Charge], charged: Charged, row: int) -> int:
    """Return the number of the first charge that does not fit on a slot, or -1."""
    # In nearly all requests each charge has its own counter: the totals are then the amounts.
    totals = {key: amount for key, amount, _ in charged}
    if len(totals) < len(charged):  # several charges are on one counter
        totals = {}
        for key, amount, _ in charged:
            totals[key] = totals.get(key, 0) + amount
    cells = counters.cells
    for number, (key, _, index) in enumerate(charged):
        charge = charges[number]
        total = totals[key]
        if not key or not (total or charge.probes):
            continue
        limit = charge.limit
        if type(limit) is not int:
            limit = LARGEST if limit is None else _at(limit, row)
        used = cells[index]
        if total > limit - used or total > LARGEST - used:
            return number
    return -1


def _at(value: object, row: int) -> int:
    if type(value) is int:
        return value
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "i":
        return int(value[row])
    raise _NotPlainError
