"""Admission in plain integers: what most requests need, and what columns are too heavy for.

Charges that are the same on all slots leave room for a number of copies, whatever the slots. Others are examined slot by slot,
for few candidates. The result is that of the ways that work on columns.
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
    """The keys that copies add to sets, one element for each key charge; a set that was never charged has the index 0.

    ``members`` are the keys of the copies.
    """

    counters: Sequence[CounterKey]
    indexes: Sequence[int]
    members: Sequence[Sequence[str]]


class PlainFit(NamedTuple):
    """The charge that refused each candidate, -1 for none, until all copies are served; the sums of each match."""

    stops: Sequence[int]
    granted: Sequence[SumCharges]


class PlainMatches(NamedTuple):
    """The sums that each of some matches is charged, and the sets; the first copies get the matches."""

    sums: Sequence[SumCharges]
    sets: SetCharges


class _NotPlainError(Exception):
    """A charge needs columns, or is invalid: the ways on columns report what is wrong with it."""


def plain_fit(counters: Counters, charges: Sequence[Charge], rows: Rows, wanted: int) -> PlainFit | None:
    """Grant slots to a number of copies, at least one, in the order of candidates, at least one.

    Return None if a charge is invalid, or neither all slots are charged alike nor the first ``FEW`` serve all copies.
    """
    try:
        sums, varying = _sums_at(counters, charges, int(rows[0]))
        if not varying and (len(rows) == 1 or min(rows.tolist()) >= 0):
            return _fit_alike(charges, sums, len(rows), wanted)
        return _fit_few(counters, charges, (sums, varying), rows, wanted) if wanted <= FEW else None
    except (_NotPlainError, IndexError, TypeError):
        return None


def plain_keys(
    counters: Counters, charges: Sequence[KeyCharge], copies: int, served: int
) -> SetCharges | None:
    """Return the sets that the first copies are charged, as many as can be served, if all of them fit.

    Return None if one does not fit, two charges are on one set, or a charge has too few keys: the general way counts or
    reports them.
    """
    known, contents = counters.known_sets, counters.contents
    names, indexes, members = list[CounterKey](), list[int](), list[Sequence[str]]()
    for charge in charges:
        name, keys, limit = charge.counter, charge.keys, charge.limit
        if len(keys) < copies:
            return None
        index = known.get(name) or counters.set_index_of(name)
        if limit is not None and len(contents[index]) + served > limit:
            inside = contents[index]  # the copies may have few keys, or some that are in the set already
            if len(inside) + len({*keys[:served]}.difference(inside)) > limit:
                return None
        names.append(name)
        indexes.append(index)
        members.append(keys)
    return None if _has_duplicates(indexes, names) else SetCharges(names, indexes, members)


def open_matches(counters: Counters, matches: PlainMatches) -> Sequence[tuple[MatchEntry, int]]:
    """Return the entries of matches in their order, each with the number of matches in a row that have it.

    Counters that were never charged get their indexes.

    :raises LedgerError: ``bad_key``, ``wrong_sort``.
    """
    sums, sets = matches
    size, members = len(sums), sets.members
    set_indexes = sets.indexes if all(sets.indexes) else [counters.open_set(name) for name in sets.counters]
    if not members or all(each is members[0] for each in members):  # the applications of the copies
        column = members[0] if members else ("",) * size
        keys = [(member,) * len(members) for member in column[:size]]
    else:
        keys = list(zip(*(each[:size] for each in members), strict=True))
    found = list[tuple[MatchEntry, int]]()
    for number, own in enumerate(sums):
        if number and own is sums[number - 1] and keys[number] == keys[number - 1]:
            found[-1] = found[-1][0], found[-1][1] + 1
        else:
            found.append(((*_opened(counters, own), tuple(set_indexes), keys[number]), 1))
    return found


def _opened(counters: Counters, sums: SumCharges) -> tuple[Sequence[int], Sequence[int]]:
    """Return the indexes of the sums that a match is charged, and the amounts."""
    indexes, amounts = sums.indexes, sums.amounts
    if all(indexes) and all(amounts):
        return tuple(indexes), tuple(amounts)
    charged = [
        (index or counters.open_sum(key), amount)
        for key, index, amount in zip(sums.keys, indexes, amounts, strict=True)
        if amount
    ]
    return tuple(index for index, _ in charged), tuple(amount for _, amount in charged)


def _sums_at(counters: Counters, charges: Sequence[Charge], row: int) -> tuple[SumCharges, list[int]]:
    """Return the sums that a match on a slot is charged, and the numbers of charges that depend on the slot."""
    if row < 0:
        raise _NotPlainError
    known, cells = counters.known_sums, counters.cells
    keys, indexes, amounts, rooms = list[CounterKey](), list[int](), list[int](), list[int]()
    varying: list[int] = []
    # One pass in plain operations: most requests have few jobs, and each has a dozen charges.
    for charge in charges:
        key, amount, limit = charge.counter, charge.amount, charge.limit
        if limit is None or (type(limit) is int and limit > LARGEST):
            limit = LARGEST
        if type(key) is not tuple or not key or type(amount) is not int or type(limit) is not int:
            varying.append(len(keys))
            key, amount, limit = _at(charge, row)
        if not 0 <= amount <= LARGEST:
            raise _NotPlainError
        index = known.get(key) or counters.index_of(key)
        keys.append(key)
        indexes.append(index)
        amounts.append(amount)
        rooms.append(limit - cells[index])
    return SumCharges(keys, indexes, amounts, rooms), varying


def _fit_alike(charges: Sequence[Charge], sums: SumCharges, size: int, wanted: int) -> PlainFit | None:
    """Grant candidates that are charged alike: the first ones, as many as there is room for."""
    totals, rooms = _totals(sums), sums.rooms
    most = min(size, wanted)
    over = _over(charges, totals if most == 1 else [total * most for total in totals], rooms)
    if not over:
        return PlainFit([-1] * most, [sums] * most)
    if (wanted > 1 or size > FEW) and any(
        charges[number].probes and not charges[number].amount for number in over
    ):
        return None  # in columns a probe comes before all others
    fits = min(max(0, rooms[number] // totals[number]) if totals[number] else 0 for number in over)
    refusing = next(number for number in over if totals[number] * (fits + 1) > rooms[number])
    return PlainFit([-1] * fits + [refusing] * (size - fits), [sums] * fits)


def _fit_few(
    counters: Counters,
    charges: Sequence[Charge],
    first: tuple[SumCharges, Sequence[int]],
    rows: Rows,
    wanted: int,
) -> PlainFit | None:
    """Examine few candidates one by one, given the sums of the first one and the charges that depend on the slot."""
    sums, varying = first
    stops, granted, taken = list[int](), list[SumCharges](), dict[CounterKey, int]()
    for row in rows[:FEW].tolist():
        if stops:
            sums = _moved(counters, charges, sums, varying, row)
        rooms, totals = sums.rooms, _totals(sums)
        if wanted > 1:
            if totals is not sums.amounts:
                return None
            if taken:
                rooms = [room - taken.get(key, 0) for key, room in zip(sums.keys, rooms, strict=True)]
        over = _over(charges, totals, rooms)
        if over and wanted > 1 and any(not totals[number] for number in over):
            return None  # in columns a probe comes before all others
        stops.append(over[0] if over else -1)
        if not over:
            granted.append(sums)
            if len(granted) == wanted:
                break
            for key, amount in zip(sums.keys, totals, strict=True):
                taken[key] = taken.get(key, 0) + amount
    return PlainFit(stops, granted) if len(granted) == wanted or len(stops) == len(rows) else None


def _moved(
    counters: Counters, charges: Sequence[Charge], sums: SumCharges, varying: Sequence[int], row: int
) -> SumCharges:
    """Return the sums on another slot."""
    found, _ = _sums_at(counters, [charges[number] for number in varying], row)
    keys, indexes, amounts, rooms = [*sums.keys], [*sums.indexes], [*sums.amounts], [*sums.rooms]
    for place, number in enumerate(varying):
        keys[number], indexes[number] = found.keys[place], found.indexes[place]
        amounts[number], rooms[number] = found.amounts[place], found.rooms[place]
    return SumCharges(keys, indexes, amounts, rooms)


def _over(charges: Sequence[Charge], totals: Sequence[int], rooms: Sequence[int]) -> Sequence[int]:
    """Return the numbers of the charges that do not fit."""
    if not any(map(gt, totals, rooms)):
        return ()
    return [
        number
        for number, (total, room) in enumerate(zip(totals, rooms, strict=True))
        if total > room and (total or charges[number].probes)
    ]


def _totals(sums: SumCharges) -> Sequence[int]:
    """Return the amounts, or, if two charges are on one counter, what a match adds to the counter of each charge."""
    keys, indexes, amounts, _ = sums
    if len({*indexes}) == len(indexes):
        return amounts
    charged = [key for key in keys if key]
    if len({*charged}) == len(charged):
        return amounts
    by_key = dict.fromkeys(keys, 0)
    for key, amount in zip(keys, amounts, strict=True):
        by_key[key] += amount
    return [by_key[key] for key in keys]


def _has_duplicates(indexes: Sequence[int], keys: Sequence[CounterKey]) -> bool:
    """True if two charges are on one counter; counters that were never charged share the index 0."""
    return len({*indexes}) < len(indexes) and len({*keys}) < len(keys)


def _at(charge: Charge, row: int) -> tuple[CounterKey, int, int]:
    """Return the counter, the amount and the limit of a charge on a slot; ``()`` and 0 for a slot that is not charged."""
    key, amount, limit = charge.counter, charge.amount, charge.limit
    amount = amount if type(amount) is int else _number_at(amount, row)
    limit = (
        LARGEST if limit is None else min(limit, LARGEST) if type(limit) is int else _number_at(limit, row)
    )
    if type(key) is tuple:
        if not key:
            raise _NotPlainError
        return key, amount, limit
    key = _key_at(key, row)
    return (key, amount, limit) if key else ((), 0 if 0 <= amount <= LARGEST else amount, LARGEST)


def _key_at(counter: object, row: int) -> CounterKey:
    """Return the counter of a slot in a grouping, ``()`` for a slot that is not charged."""
    if not isinstance(counter, Grouping):
        raise _NotPlainError
    code = int(counter.codes[row])
    if code < -1:
        raise _NotPlainError
    return counter.keys[code] if code >= 0 else ()


def _number_at(value: object, row: int) -> int:
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "i":
        return int(value[row])
    raise _NotPlainError
