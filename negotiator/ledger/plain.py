"""Admission in plain integers: what most requests need, and what columns are too heavy for.

Charges that are the same on all slots leave room for a number of copies, whatever the slots. Others are examined slot by slot,
for few candidates (``few``). The result is that of the ways that work on columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from negotiator.ledger.charges import Charge, KeyCharge
from negotiator.ledger.counters import Counters
from negotiator.ledger.few import FEW, FEW_COPIES, FIRST, NOT_CHARGED, fit_few
from negotiator.ledger.keys import LARGEST, CounterKey
from negotiator.ledger.lines import Rows
from negotiator.ledger.one import fit_one
from negotiator.ledger.plain_charges import NotPlainError, PlainFit, SetCharges, SumCharges, has_duplicates


def plain_fit(counters: Counters, charges: Sequence[Charge], rows: Rows, wanted: int) -> PlainFit | None:
    """Grant slots to a number of copies, at least one, in the order of candidates, at least one.

    Return None if a charge is invalid, or neither all slots are charged alike nor the first ``FEW`` serve all copies.
    """
    try:
        if wanted == 1 and (found := fit_one(counters, charges, rows, FIRST)) is not None:
            return found
        if int(rows[0]) < 0 or (len(rows) > 1 and int(rows.min()) < 0):
            return None
        sums, varying = _sums_alike(counters, charges)
        if not varying:
            return _fit_alike(charges, sums, len(rows), wanted)
        return fit_few(counters, charges, sums, varying, rows, wanted) if wanted <= FEW_COPIES else None
    except (NotPlainError, IndexError):
        return None


def plain_keys(
    counters: Counters, charges: Sequence[KeyCharge], copies: int, served: int
) -> SetCharges | None:
    """Return the sets that the first copies are charged, as many as can be served, if all of them fit.

    Return None if one does not fit, two charges are on one set, or a charge has too few keys: the general way counts or
    reports them.
    """
    known, contents = counters.known_sets, counters.contents
    names: list[CounterKey] = []
    indexes: list[int] = []
    members: list[Sequence[str]] = []
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
    return None if has_duplicates(indexes, names) else SetCharges(names, indexes, members)


def _sums_alike(counters: Counters, charges: Sequence[Charge]) -> tuple[SumCharges, list[int]]:
    """Return the sums that are charged alike on all slots, and the numbers of the charges that depend on the slot."""
    known, cells = counters.known_sums, counters.cells
    keys: list[CounterKey] = []
    indexes: list[int] = []
    amounts: list[int] = []
    rooms: list[int] = []
    varying: list[int] = []
    # One pass in plain operations: most requests have few jobs, and each has a dozen charges.
    for charge in charges:
        key, amount, limit = charge.counter, charge.amount, charge.limit
        if limit is None or (type(limit) is int and limit > LARGEST):
            limit = LARGEST
        if type(key) is not tuple or type(amount) is not int or type(limit) is not int:
            varying.append(len(keys))
            key, amount, limit = NOT_CHARGED
        elif not key or not 0 <= amount <= LARGEST:
            raise NotPlainError
        index = known.get(key) or counters.index_of(key)
        keys.append(key)
        indexes.append(index)
        amounts.append(amount)
        rooms.append(limit - cells[index])
    return SumCharges(keys, indexes, amounts, rooms), varying


def _fit_alike(charges: Sequence[Charge], sums: SumCharges, size: int, wanted: int) -> PlainFit | None:
    """Grant candidates that are charged alike: the first ones, as many as there is room for."""
    totals, rooms = sums.totals, sums.rooms
    most = min(size, wanted)
    over = sums.over(charges, totals if most == 1 else [total * most for total in totals])
    if not over:
        # In columns also a charge of 0 gives its counter an index.
        return PlainFit([-1] * most, [sums] * most, sums.keys if wanted > 1 and not all(sums.indexes) else ())
    if (wanted > 1 or size > FEW) and any(
        charges[number].probes and not charges[number].amount for number in over
    ):
        return None  # in columns a probe comes before all others
    fits = min(max(0, rooms[number] // totals[number]) if totals[number] else 0 for number in over)
    refusing = next(number for number in over if totals[number] * (fits + 1) > rooms[number])
    return PlainFit([-1] * fits + [refusing] * (size - fits), [sums] * fits)
