"""Admission of one copy, candidate by candidate: most requests have one job, and one of the first candidates nearly always fits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from negotiator.ledger.charges import Charge
from negotiator.ledger.counters import Counters
from negotiator.ledger.grouping import Grouping
from negotiator.ledger.keys import LARGEST, CounterKey
from negotiator.ledger.lines import Rows
from negotiator.ledger.plain_charges import NotPlainError, PlainFit, SumCharges


def fit_one(counters: Counters, charges: Sequence[Charge], rows: Rows, examined: int) -> PlainFit | None:
    """Grant the first candidate that fits.

    Return None if it is not among those that are ``examined``, or the first is refused and all are charged alike.

    :raises NotPlainError: a charge is invalid on a candidate that was examined.
    """
    stops: list[int] = []
    for row in rows[:examined].tolist():
        sums = _sums_at(counters, charges, row)
        over = sums.over(charges, sums.totals)
        if not over:
            return PlainFit([*stops, -1], [sums])
        if not stops and all(map(_is_uniform, charges)):
            return None
        stops.append(over[0])
    return PlainFit(stops, []) if len(stops) == len(rows) else None


def _sums_at(counters: Counters, charges: Sequence[Charge], row: int) -> SumCharges:
    """Return the sums that a match on a slot is charged."""
    if row < 0:
        raise NotPlainError
    known, cells = counters.known_sums, counters.cells
    keys: list[CounterKey] = []
    indexes: list[int] = []
    amounts: list[int] = []
    rooms: list[int] = []
    # One pass in plain operations: each job has a dozen charges.
    for charge in charges:
        key, amount, limit = charge.counter, charge.amount, charge.limit
        if type(amount) is not int:
            amount = _at(amount, row)
        if not 0 <= amount <= LARGEST:
            raise NotPlainError
        if type(limit) is not int:
            limit = LARGEST if limit is None else _at(limit, row)
        elif limit > LARGEST:
            limit = LARGEST
        if type(key) is not tuple:
            key = _key_at(key, row)
            if not key:
                amount, limit = 0, LARGEST
        elif not key:
            raise NotPlainError
        index = known.get(key) or counters.index_of(key)
        keys.append(key)
        indexes.append(index)
        amounts.append(amount)
        rooms.append(limit - cells[index])
    return SumCharges(keys, indexes, amounts, rooms)


def _is_uniform(charge: Charge) -> bool:
    """True if all slots are charged alike."""
    return not any(
        isinstance(each, Grouping | np.ndarray) for each in (charge.counter, charge.amount, charge.limit)
    )


def _key_at(counter: object, row: int) -> CounterKey:
    """Return the counter of a slot in a grouping, ``()`` for a slot that is not charged."""
    if not isinstance(counter, Grouping):
        raise NotPlainError
    code = int(counter.codes[row])
    if code < -1:
        raise NotPlainError
    return counter.keys[code] if code >= 0 else ()


def _at(value: object, row: int) -> int:
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "i":
        return int(value[row])
    raise NotPlainError
