"""Admission of one copy: what most requests ask for, and what columns are too heavy for.

Of one copy nothing is granted before the first candidate that fits, so that each candidate is looked at by itself, in
plain numbers. It says the same as the ways that work on columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from negotiator.ledger.charges import Charge, Grouping
from negotiator.ledger.counters import Counters
from negotiator.ledger.keys import LARGEST, CounterKey
from negotiator.ledger.lines import Rows

#: So many candidates are looked at one by one; more of them are faster taken together.
FEW = 64

#: What a match adds to each counter, and the counter's place, 0 where it was never charged.
Charged: TypeAlias = Sequence[tuple[CounterKey, int, int]]


class Found(NamedTuple):
    """What refused each candidate up to the first that fits, -1 for that one; and what that one is charged."""

    stops: list[int]
    charged: Charged


class _OtherWayError(Exception):
    """A charge is none that can be counted: the other ways say what is wrong with it."""


def first_fit(counters: Counters, charges: Sequence[Charge], rows: Rows) -> Found | None:
    """Look for the first candidate that fits. None where it is none of the first, or where a charge can't be counted."""
    stops: list[int] = []
    try:
        for row in rows[:FEW].tolist():
            charged = _charged(counters, charges, row)
            stops.append(_stop(counters, charges, charged, row))
            if stops[-1] < 0:
                return Found(stops, [part for part in charged if part[1]])
    except (_OtherWayError, IndexError, TypeError):
        return None
    return Found(stops, ()) if len(stops) == len(rows) else None


def _charged(counters: Counters, charges: Sequence[Charge], row: int) -> list[tuple[CounterKey, int, int]]:
    """The counter, the amount and the place of each charge on a slot; one that does not charge it has the counter ``()``."""
    if row < 0:
        raise _OtherWayError
    found = []
    for charge in charges:
        amount, key = charge.amount, charge.counter
        if type(amount) is not int:
            amount = _at(amount, row)
        if isinstance(key, Grouping):
            code = int(key.codes[row])
            if code < -1:
                raise _OtherWayError
            key = key.keys[code] if code >= 0 else ()
        if not 0 <= amount <= LARGEST:
            raise _OtherWayError
        found.append((key, amount, counters.place_of(key)) if key else ((), 0, 0))
    return found


def _stop(counters: Counters, charges: Sequence[Charge], charged: Charged, row: int) -> int:
    """The number of the first charge that does not fit on a slot, -1 where all do."""
    totals = {key: amount for key, amount, _ in charged}
    if len(totals) < len(charged):  # several charge one counter
        totals = {}
        for key, amount, _ in charged:
            totals[key] = totals.get(key, 0) + amount
    for number, (key, _, place) in enumerate(charged):
        charge = charges[number]
        total = totals[key]
        if not key or not (total or charge.probes):
            continue
        limit = charge.limit
        if type(limit) is not int:
            limit = LARGEST if limit is None else _at(limit, row)
        if total > min(limit, LARGEST) - counters.at(place):
            return number
    return -1


def _at(value: object, row: int) -> int:
    if type(value) is int:
        return value
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "i":
        return int(value[row])
    raise _OtherWayError
