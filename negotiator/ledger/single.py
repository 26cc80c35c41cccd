"""Admission of one copy: what most requests ask for, and what columns are too heavy for.

Nothing is granted to one copy before the first candidate that fits, so that each candidate is examined by itself, in
plain integers. The result is that of the ways that work on columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import gt
from typing import NamedTuple

import numpy as np

from negotiator.ledger.batch import MatchEntry
from negotiator.ledger.charges import Charge, Grouping, KeyCharge
from negotiator.ledger.counters import Counters
from negotiator.ledger.keys import LARGEST, CounterKey
from negotiator.ledger.lines import Rows

#: The number of candidates that are examined one by one; more are faster in columns.
FEW = 64


class SumCharges(NamedTuple):
    """The sums that a match on one slot is charged, one element for each charge.

    A counter that was never charged has the index 0. A charge that the slot is not subject to has the key ``()``, the
    index 0 and the amount 0. ``rooms`` are what the limits leave.
    """

    keys: Sequence[CounterKey]
    indexes: Sequence[int]
    amounts: Sequence[int]
    rooms: Sequence[int]


class SetCharges(NamedTuple):
    """The key that one copy adds to each set, one element for each key charge.

    A set that was never charged has the index 0. ``refusing`` is the number of the first charge that does not fit, or
    -1.
    """

    counters: Sequence[CounterKey]
    indexes: Sequence[int]
    members: Sequence[str]
    refusing: int


class FirstFit(NamedTuple):
    """The charge that refused each candidate up to the first that fits, -1 for that one; the charges of the last."""

    stops: list[int]
    sums: SumCharges


_NO_SUMS = SumCharges((), (), (), ())


class _NotPlainError(Exception):
    """A charge is invalid: the ways on columns report what is wrong with it."""


def first_fit(counters: Counters, charges: Sequence[Charge], rows: Rows) -> FirstFit | None:
    """Return the first candidate that fits; None if it is not among the first ``FEW``, or a charge is invalid."""
    stops: list[int] = []
    sums = _NO_SUMS
    try:
        for row in rows[:FEW].tolist():
            sums = _sums_at(counters, charges, row)
            stops.append(_refusing(charges, sums))
            if stops[-1] < 0:
                return FirstFit(stops, sums)
    except (_NotPlainError, IndexError, TypeError):
        return None
    return FirstFit(stops, sums) if len(stops) == len(rows) else None


def first_keys(counters: Counters, charges: Sequence[KeyCharge]) -> SetCharges | None:
    """Return the sets that the first copy is charged.

    Return None if two charges are on one set, or a charge has no keys: the general way counts or reports them.
    """
    known, contents = counters.known_sets, counters.contents
    names, indexes, members, refusing = [], [], [], -1
    for number, charge in enumerate(charges):
        name, keys, limit = charge.counter, charge.keys, charge.limit
        if not len(keys):
            return None
        index, member = known.get(name) or counters.set_index_of(name), keys[0]
        inside = contents[index]
        if limit is not None and len(inside) >= limit and member not in inside and refusing < 0:
            refusing = number
        names.append(name)
        indexes.append(index)
        members.append(member)
    return None if _has_duplicates(indexes, names) else SetCharges(names, indexes, members, refusing)


def open_match(counters: Counters, sums: SumCharges, sets: SetCharges) -> MatchEntry:
    """Return the entry of a match. Counters that were never charged get their indexes.

    :raises LedgerError: ``bad_key``, ``wrong_sort``.
    """
    # Whatever can raise comes before the charge, so that an invalid one changes no counter.
    indexes, amounts, set_indexes = sums.indexes, sums.amounts, sets.indexes
    if not all(indexes) or not all(amounts):
        charged = [
            (index or counters.open_sum(key), amount)
            for key, index, amount in zip(sums.keys, indexes, amounts, strict=True)
            if amount
        ]
        indexes, amounts = [index for index, _ in charged], [amount for _, amount in charged]
    if not all(set_indexes):
        set_indexes = [counters.open_set(name) for name in sets.counters]
    return tuple(indexes), tuple(amounts), tuple(set_indexes), tuple(sets.members)


def _sums_at(counters: Counters, charges: Sequence[Charge], row: int) -> SumCharges:
    """Return the sums that a match on a slot is charged."""
    if row < 0:
        raise _NotPlainError
    known, cells = counters.known_sums, counters.cells
    keys, indexes, amounts, rooms = [], [], [], []
    # One pass in plain operations: most jobs are by themselves, and each has a dozen charges.
    for charge in charges:
        key, amount, limit = charge.counter, charge.amount, charge.limit
        if type(amount) is not int:
            amount = _at(amount, row)
        if not 0 <= amount <= LARGEST:
            raise _NotPlainError
        if type(limit) is not int:
            limit = LARGEST if limit is None else _at(limit, row)
        elif limit > LARGEST:
            limit = LARGEST
        if type(key) is not tuple:
            key = _key_at(key, row)
            if not key:
                amount, limit = 0, LARGEST
        elif not key:
            raise _NotPlainError
        index = known.get(key) or counters.index_of(key)
        keys.append(key)
        indexes.append(index)
        amounts.append(amount)
        rooms.append(limit - cells[index])
    return SumCharges(keys, indexes, amounts, rooms)


def _refusing(charges: Sequence[Charge], sums: SumCharges) -> int:
    """Return the number of the first charge that does not fit on a slot, or -1."""
    keys, indexes, totals, rooms = sums
    if _has_duplicates(indexes, keys):  # the total on each counter must fit each limit
        by_key = dict.fromkeys(keys, 0)
        for key, amount in zip(keys, totals, strict=True):
            by_key[key] += amount
        totals = [by_key[key] for key in keys]
    if any(map(gt, totals, rooms)):
        for number, charge in enumerate(charges):
            if totals[number] > rooms[number] and (totals[number] or charge.probes):
                return number
    return -1


def _has_duplicates(indexes: Sequence[int], keys: Sequence[CounterKey]) -> bool:
    """True if two charges are on one counter; counters that were never charged share the index 0."""
    return len({*indexes}) < len(indexes) and len({*keys}) < len(keys)


def _key_at(counter: object, row: int) -> CounterKey:
    """Return the counter of a slot in a grouping, ``()`` for a slot that is not charged."""
    if not isinstance(counter, Grouping):
        raise _NotPlainError
    code = int(counter.codes[row])
    if code < -1:
        raise _NotPlainError
    return counter.keys[code] if code >= 0 else ()


def _at(value: object, row: int) -> int:
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "i":
        return int(value[row])
    raise _NotPlainError
