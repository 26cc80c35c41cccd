"""Admission in plain integers, for few candidates or charges that are alike on all slots: what most requests need.

Charges that are the same on all slots leave room for a number of copies, whatever the slots. Others are examined slot by
slot, for few candidates and copies. Whatever needs more is left to ``columnar_admission``, which has the same results.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import gt
from typing import NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.ledger.charges import Charge, KeyCharge, has_shared_counters
from negotiator.ledger.counters import Counters, MatchEntry
from negotiator.ledger.keys import LARGEST, CounterKey, Grouping, Ints, Mask, Rows

#: The number of candidates that are examined one by one, and of copies that are served so; more are faster in columns.
FEW, FEW_COPIES = 64, 8
#: The candidates that are examined before all others are compared with the limits in columns: one of them nearly always fits.
_FIRST = 16
#: The counter, the amount and the limit of a charge that a slot is not subject to.
_NOT_CHARGED: tuple[CounterKey, int, int] = (), 0, LARGEST


class _NeedsColumnsError(Exception):
    """A charge needs columns, or is invalid: the admission in columns reports what is wrong with it."""


class SumCharges(NamedTuple):
    """The sums that a match on one slot is charged, one element for each charge.

    A counter that was never charged has the index 0. A charge that the slot is not subject to has the key ``()``, the
    index 0 and the amount 0. ``rooms`` are what the limits leave.
    """

    keys: Sequence[CounterKey]
    indexes: Sequence[int]
    amounts: Sequence[int]
    rooms: Sequence[int]

    @property
    def totals(self) -> Sequence[int]:
        """The amounts, or, if several charges are on one counter, what a match adds to the counter of each charge."""
        keys, indexes, amounts, _ = self
        if not _has_duplicates(indexes, keys):
            return amounts
        by_key = dict.fromkeys(keys, 0)
        for key, amount in zip(keys, amounts, strict=True):
            by_key[key] += amount
        return [by_key[key] for key in keys]

    def over(self, charges: Sequence[Charge], totals: Sequence[int]) -> Sequence[int]:
        """Return the numbers of the charges whose limits leave no room for some totals."""
        if not any(map(gt, totals, self.rooms)):
            return ()
        return [
            number
            for number, (total, room) in enumerate(zip(totals, self.rooms, strict=True))
            if total > room and (total or charges[number].probes)
        ]


class SetCharges(NamedTuple):
    """The keys that copies add to sets, one element for each key charge; a set that was never charged has the index 0.

    ``members`` are the keys of the copies.
    """

    counters: Sequence[CounterKey]
    indexes: Sequence[int]
    members: Sequence[Sequence[str]]


class GrantedSums(NamedTuple):
    """The charge that refused each candidate, -1 for none, until all copies are served; the sums of each match.

    ``fresh`` are sums that were never charged, in the order in which they get their indexes; it may be empty if all matches
    are charged the same.
    """

    stops: Sequence[int]
    granted: Sequence[SumCharges]
    fresh: Sequence[CounterKey] = ()


class MatchCharges(NamedTuple):
    """The sums that each of some matches is charged, and the sets; the first copies get the matches.

    ``fresh`` are sums that were never charged, in the order in which they get their indexes.
    """

    sums: Sequence[SumCharges]
    fresh: Sequence[CounterKey]
    sets: SetCharges

    def entries(self, counters: Counters) -> Sequence[tuple[MatchEntry, int]]:
        """Return the entries of the matches in their order, each with the number of matches in a row that have it.

        Counters that were never charged get their indexes.

        :raises LedgerError: ``bad_key``, ``wrong_sort``.
        """
        sums, fresh, sets = self
        for key in fresh:
            counters.open_sum(key)
        set_indexes = tuple(sets.indexes if all(sets.indexes) else map(counters.open_set, sets.counters))
        found: list[tuple[MatchEntry, int]] = []
        for number, own in enumerate(sums):
            members = tuple([each[number] for each in sets.members])
            if number and own is sums[number - 1] and members == found[-1][0][3]:
                found[-1] = found[-1][0], found[-1][1] + 1
            else:
                found.append(((*_open_sums(counters, own), set_indexes, members), 1))
        return found


def _open_sums(counters: Counters, sums: SumCharges) -> tuple[Sequence[int], Sequence[int]]:
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


def grant_sums(counters: Counters, charges: Sequence[Charge], rows: Rows, wanted: int) -> GrantedSums | None:
    """Grant slots to a number of copies, at least one, in the order of candidates, at least one.

    Return None if a charge is invalid, or neither all slots are charged alike nor the first ``FEW`` serve all copies.
    """
    try:
        if wanted == 1 and (found := _grant_one(counters, charges, rows, _FIRST)) is not None:
            return found
        if int(rows[0]) < 0 or (len(rows) > 1 and int(rows.min()) < 0):
            return None
        alike, varying = _sums(counters, charges, None)
        if not varying:
            return _grant_alike(charges, alike, len(rows), wanted)
        if wanted > FEW_COPIES:
            return None
        if has_shared_counters(charges):  # what a match adds to a counter is the total of its charges
            return _grant_one(counters, charges, rows, FEW) if wanted == 1 else None
        return _grant_few(counters, charges, alike, varying, rows, wanted)
    except (_NeedsColumnsError, IndexError):
        return None


def grant_sets(
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
    return None if _has_duplicates(indexes, names) else SetCharges(names, indexes, members)


def _has_duplicates(indexes: Sequence[int], keys: Sequence[CounterKey]) -> bool:
    """True if two charges are on one counter; counters that were never charged share the index 0."""
    return len({*indexes}) < len(indexes) and len({*keys}) < len(keys)


def _sums(counters: Counters, charges: Sequence[Charge], row: int | None) -> tuple[SumCharges, Sequence[int]]:
    """Return the sums that a match on a slot is charged, and the numbers of the charges that depend on the slot.

    Without a slot these charges are left out.
    """
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
            key, amount, limit = _NOT_CHARGED if row is None else _on_slot(key, amount, limit, row)
        elif not key or not 0 <= amount <= LARGEST:
            raise _NeedsColumnsError
        index = known.get(key) or counters.index_of(key)
        keys.append(key)
        indexes.append(index)
        amounts.append(amount)
        rooms.append(limit - cells[index])
    return SumCharges(keys, indexes, amounts, rooms), varying


def _on_slot(
    counter: CounterKey | Grouping, amount: int | Ints, limit: int | Ints, row: int
) -> tuple[CounterKey, int, int]:
    """Return the counter, the amount and the limit of a charge on one slot."""
    amount, limit = _value_on(amount, row), _value_on(limit, row)
    if not 0 <= amount <= LARGEST:
        raise _NeedsColumnsError
    if isinstance(counter, Grouping):
        code = int(counter.codes[row])
        if code < -1:
            raise _NeedsColumnsError
        return (counter.keys[code], amount, limit) if code >= 0 else _NOT_CHARGED
    if type(counter) is not tuple or not counter:
        raise _NeedsColumnsError
    return counter, amount, limit


def _value_on(value: int | Ints, row: int) -> int:
    if type(value) is int:
        return value
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "i":
        return int(value[row])
    raise _NeedsColumnsError


def _grant_alike(charges: Sequence[Charge], sums: SumCharges, size: int, wanted: int) -> GrantedSums | None:
    """Grant candidates that are charged alike: the first ones, as many as there is room for."""
    totals, rooms = sums.totals, sums.rooms
    most = min(size, wanted)
    over = sums.over(charges, totals if most == 1 else [total * most for total in totals])
    if not over:
        # In columns also a charge of 0 gives its counter an index.
        return GrantedSums(
            [-1] * most, [sums] * most, sums.keys if wanted > 1 and not all(sums.indexes) else ()
        )
    if (wanted > 1 or size > FEW) and any(
        charges[number].probes and not charges[number].amount for number in over
    ):
        return None  # in columns a probe comes before all others
    fits = min(max(0, rooms[number] // totals[number]) if totals[number] else 0 for number in over)
    refusing = next(number for number in over if totals[number] * (fits + 1) > rooms[number])
    return GrantedSums([-1] * fits + [refusing] * (size - fits), [sums] * fits)


def _grant_one(
    counters: Counters, charges: Sequence[Charge], rows: Rows, examined: int
) -> GrantedSums | None:
    """Grant the first candidate that fits: most requests have one job, and one of the first candidates nearly always fits.

    Return None if it is not among those that are ``examined``, or the first is refused and all are charged alike.
    """
    stops: list[int] = []
    for row in rows[:examined].tolist():
        if row < 0:
            raise _NeedsColumnsError
        sums, varying = _sums(counters, charges, row)
        over = sums.over(charges, sums.totals)
        if not over:
            return GrantedSums([*stops, -1], [sums])
        if not stops and not varying:
            return None
        stops.append(over[0])
    return GrantedSums(stops, []) if len(stops) == len(rows) else None


def _grant_few(
    counters: Counters,
    charges: Sequence[Charge],
    alike: SumCharges,
    varying: Sequence[int],
    rows: Rows,
    wanted: int,
) -> GrantedSums | None:
    """Grant slots to few copies; None if too many candidates would have to be examined one by one.

    :param alike: the sums that are charged alike on all slots.
    :param varying: the numbers of the charges that depend on the slot.
    """
    tight = [
        number
        for number, (key, _, amount, room) in enumerate(zip(*alike, strict=True))
        if key and amount * wanted > room
    ]
    columns = {number: _ScannedCharge.of(counters, charges[number], rows) for number in (*varying, *tight)}
    if wanted > 1 and any(column.probes and column.has_nothing() for column in columns.values()):
        return None  # in columns a probe comes before all others
    scan = _CandidateScan(sorted(columns.items()), wanted)
    scan.examine(range(min(_FIRST, len(rows))))
    if not scan.ended and len(rows) > _FIRST and not scan.examine_all(len(rows)):
        return None
    granted = [_sums(counters, charges, row)[0] for row in rows[scan.places].tolist()]
    fresh = _fresh(granted, columns, scan.places) if wanted > 1 else ()
    return GrantedSums(scan.stops, granted, fresh)


@attrs.define(eq=False)
class _CandidateScan:
    """The number of the charge that refuses each candidate, -1 for none, and the places of those that are granted."""

    columns: Sequence[tuple[int, _ScannedCharge]]
    wanted: int
    stops: list[int] = attrs.field(factory=list, init=False)
    places: list[int] = attrs.field(factory=list, init=False)

    @property
    def ended(self) -> bool:
        """True if all copies are served."""
        return len(self.places) == self.wanted

    def examine(self, places: Iterable[int]) -> None:
        """Examine candidates one by one, in order, until all copies are served."""
        for place in places:
            refusing = next((number for number, column in self.columns if column.refuses(place)), -1)
            self.stops.append(refusing)
            if refusing < 0:
                self.places.append(place)
                if self.ended:
                    break
                for _, column in self.columns:
                    column.take(place)

    def examine_all(self, size: int) -> bool:
        """Examine the other candidates; False if more than ``FEW`` of them must be examined one by one.

        Those that do not fit beside what was used before are refused together, in columns.
        """
        start, first = len(self.stops), self.columns[0][0]
        refusing = np.full(size - start, -1, np.int32)
        for number, column in reversed(self.columns):
            refusing[column.refused(start)] = number
        examined = 0
        # What was granted may refuse a candidate by an earlier charge than what was used before.
        for place in np.flatnonzero(refusing != first).tolist():
            if refusing[place] >= 0 and not self.places:
                continue
            if examined == FEW:
                return False
            self.stops += refusing[len(self.stops) - start : place].tolist()
            self.examine((start + place,))
            if self.ended:
                return True
            examined += 1
        self.stops += refusing[len(self.stops) - start :].tolist()
        return True


def _fresh(
    granted: Sequence[SumCharges], columns: Mapping[int, _ScannedCharge], places: Sequence[int]
) -> Sequence[CounterKey]:
    """Return the sums that were never charged, in the order in which columns open them: by charge, then by code."""
    if all(all(each.indexes) for each in granted):
        return ()
    found = {
        (number, int(columns[number].codes[place]) if number in columns else 0, key)
        for sums, place in zip(granted, places, strict=True)
        for number, (key, index, amount, _) in enumerate(zip(*sums, strict=True))
        if key and not index and (amount or number not in columns)
    }
    return [key for _, _, key in sorted(found)]


@attrs.define(eq=False)
class _ScannedCharge:
    """One charge over few candidates, an element for each; -1 is the code of one that is not charged.

    ``taken`` are the amounts of the candidates that were granted, by code.
    """

    counters: Counters
    counter: CounterKey | Grouping
    keys: Sequence[CounterKey]  # by code
    codes: NDArray[np.integer]
    amounts: int | Ints
    limits: int | Ints
    probes: bool
    taken: defaultdict[int, int] = attrs.field(factory=lambda: defaultdict(int), init=False)

    @classmethod
    def of(cls, counters: Counters, charge: Charge, rows: Rows) -> _ScannedCharge:
        """Return a charge over candidates.

        :raises _NeedsColumnsError: it is invalid.
        """
        counter, amounts = charge.counter, _value_on_each(charge.amount, rows)
        limits = LARGEST if charge.limit is None else _value_on_each(charge.limit, rows)
        least, most = (amounts, amounts) if isinstance(amounts, int) else (amounts.min(), amounts.max())
        if least < 0 or most > LARGEST:
            raise _NeedsColumnsError
        if not isinstance(counter, Grouping):
            if not counter:
                raise _NeedsColumnsError
            codes: NDArray[np.integer] = np.zeros(len(rows), np.int64)
            return cls(counters, counter, [counter], codes, amounts, limits, charge.probes)
        codes = counter.codes[rows]
        if not counter.has_valid_codes and codes.min() < -1:
            raise _NeedsColumnsError
        return cls(counters, counter, counter.keys, codes, amounts, limits, charge.probes)

    def refuses(self, place: int) -> bool:
        """True if the limit leaves no room for one more match on a candidate."""
        code, amount = int(self.codes[place]), _value_at(self.amounts, place)
        if code < 0 or not (amount or self.probes):
            return False
        used = self.counters.cells[self.counters.member_index(self.keys, code)]
        return amount > min(_value_at(self.limits, place), LARGEST) - used - self.taken[code]

    def refused(self, start: int) -> Mask:
        """Return the candidates from a place on that do not fit, regardless of those that were granted."""
        codes, counter = self.codes[start:], self.counter
        used: int | Ints = (
            self.counters.sums_of(counter, codes)
            if isinstance(counter, Grouping)
            else self.counters.sum_of(counter)
        )
        amounts = self.amounts if isinstance(self.amounts, int) else self.amounts[start:]
        limits = self.limits if isinstance(self.limits, int) else self.limits[start:]
        # No counter is below 0 or above 2^63 - 1, and no lower limit refuses more than -1.
        over = (amounts > np.clip(limits, -1, LARGEST) - used) & (codes >= 0)
        return over if self.probes else over & (np.asarray(amounts) > 0)

    def has_nothing(self) -> bool:
        """True if the amount of a candidate is 0."""
        return not np.all(self.amounts)

    def take(self, place: int) -> None:
        """Count a candidate as granted."""
        self.taken[int(self.codes[place])] += _value_at(self.amounts, place)


def _value_on_each(value: object, rows: Rows) -> int | Ints:
    """Return an amount or a limit, one integer or one for each candidate."""
    if type(value) is int:
        return value
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "i":
        return value[rows].astype(np.int64, copy=False)
    raise _NeedsColumnsError


def _value_at(column: int | Ints, place: int) -> int:
    return column if isinstance(column, int) else int(column[place])
