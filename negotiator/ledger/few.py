"""Admission of few copies, candidate by candidate, for charges that depend on the slot: a counter for each host, a limit by formula."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.ledger.charges import Charge
from negotiator.ledger.counters import Counters
from negotiator.ledger.grouping import Grouping
from negotiator.ledger.keys import LARGEST, CounterKey, Ints, Mask
from negotiator.ledger.lines import Rows
from negotiator.ledger.one import fit_one
from negotiator.ledger.plain_charges import NotPlainError, PlainFit, SumCharges
from negotiator.ledger.stops import has_shared_counters

#: The number of candidates that are examined one by one, and of copies that are served so; more are faster in columns.
FEW, FEW_COPIES = 64, 8
#: The candidates that are examined before all others are compared with the limits in columns: one of them nearly always fits.
FIRST = 16

#: The counter, the amount and the limit of a charge that a slot is not subject to.
NOT_CHARGED: tuple[CounterKey, int, int] = (), 0, LARGEST


def fit_few(
    counters: Counters,
    charges: Sequence[Charge],
    alike: SumCharges,
    varying: Sequence[int],
    rows: Rows,
    wanted: int,
) -> PlainFit | None:
    """Grant slots to a number of copies; None if too many candidates would have to be examined one by one.

    :param alike: the sums that are charged alike on all slots.
    :param varying: the numbers of the charges that depend on the slot.
    """
    if has_shared_counters(charges):  # what a match adds to a counter is the total of its charges
        return fit_one(counters, charges, rows, FEW) if wanted == 1 else None
    lines = {number: _Line.of(counters, charges[number], rows) for number in varying}
    for number, (key, _, amount, room) in enumerate(zip(*alike, strict=True)):
        if key and amount * wanted > room:
            lines[number] = _Line.of(counters, charges[number], rows)
    if wanted > 1 and any(line.probes and line.has_nothing() for line in lines.values()):
        return None  # in columns a probe comes before all others
    stops = _Stops(sorted(lines.items()), wanted)
    stops.examine(range(min(FIRST, len(rows))))
    if not stops.ended and len(rows) > FIRST and not stops.examine_all(len(rows)):
        return None
    granted = [_sums(alike, lines, place) for place in stops.places]
    return PlainFit(stops.stops, granted, _fresh(granted, lines, stops.places) if wanted > 1 else ())


@attrs.define(eq=False)
class _Stops:
    """The number of the charge that refuses each candidate, -1 for none, and the places of those that are granted."""

    lines: Sequence[tuple[int, _Line]]
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
            refusing = next((number for number, line in self.lines if line.refuses(place)), -1)
            self.stops.append(refusing)
            if refusing < 0:
                self.places.append(place)
                if self.ended:
                    break
                for _, line in self.lines:
                    line.take(place)

    def examine_all(self, size: int) -> bool:
        """Examine the other candidates; False if more than ``FEW`` of them must be examined one by one.

        Those that do not fit beside what was used before are refused together, in columns.
        """
        start, first = len(self.stops), self.lines[0][0]
        refusing = np.full(size - start, -1, np.int32)
        for number, line in reversed(self.lines):
            refusing[line.refused(start)] = number
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


def _sums(alike: SumCharges, lines: Mapping[int, _Line], place: int) -> SumCharges:
    """Return the sums that a match on a candidate is charged."""
    return alike.replaced({number: line.at(place) for number, line in lines.items()})


def _fresh(
    granted: Sequence[SumCharges], lines: Mapping[int, _Line], places: Sequence[int]
) -> Sequence[CounterKey]:
    """Return the sums that were never charged, in the order in which columns open them: by charge, then by code."""
    if all(all(each.indexes) for each in granted):
        return ()
    found = {
        (number, int(lines[number].codes[place]) if number in lines else 0, key)
        for sums, place in zip(granted, places, strict=True)
        for number, (key, index, amount, _) in enumerate(zip(*sums, strict=True))
        if key and not index and (amount or number not in lines)
    }
    return [key for _, _, key in sorted(found)]


@attrs.define(eq=False)
class _Line:
    """One charge over few candidates, an element for each; -1 is the code of one that is not charged.

    ``taken`` are the amounts of the candidates that were granted, by code.
    """

    counters: Counters
    grouping: Grouping | None  # None for one counter
    keys: Sequence[CounterKey]  # by code
    codes: NDArray[np.integer]
    amounts: int | Ints
    limits: int | Ints
    probes: bool
    taken: defaultdict[int, int] = attrs.field(factory=lambda: defaultdict(int), init=False)

    @classmethod
    def of(cls, counters: Counters, charge: Charge, rows: Rows) -> _Line:
        """Return a charge over candidates.

        :raises NotPlainError: it is invalid.
        """
        counter, amounts = charge.counter, _column(charge.amount, rows)
        limits = LARGEST if charge.limit is None else _column(charge.limit, rows)
        least, most = (amounts, amounts) if isinstance(amounts, int) else (amounts.min(), amounts.max())
        if least < 0 or most > LARGEST:
            raise NotPlainError
        if not isinstance(counter, Grouping):
            if not counter:
                raise NotPlainError
            return cls(
                counters, None, [counter], np.zeros(len(rows), np.int64), amounts, limits, charge.probes
            )
        codes = counter.codes[rows]
        if not counter.has_valid_codes and codes.min() < -1:
            raise NotPlainError
        return cls(counters, counter, counter.keys, codes, amounts, limits, charge.probes)

    def refuses(self, place: int) -> bool:
        """True if the limit leaves no room for one more match on a candidate."""
        code, amount = int(self.codes[place]), _at(self.amounts, place)
        if code < 0 or not (amount or self.probes):
            return False
        used = self.counters.cells[self.counters.member_index(self.keys, code)]
        return amount > min(_at(self.limits, place), LARGEST) - used - self.taken[code]

    def refused(self, start: int) -> Mask:
        """Return the candidates from a place on that do not fit, regardless of those that were granted."""
        codes, used = self.codes[start:], None
        if self.grouping is not None:
            used = self.counters.sums_of(self.grouping, codes)
        elif self.keys:
            used = np.full(len(codes), self.counters.sum_of(self.keys[0]), np.int64)
        amounts = self.amounts if isinstance(self.amounts, int) else self.amounts[start:]
        limits = self.limits if isinstance(self.limits, int) else self.limits[start:]
        # No counter is below 0 or above 2^63 - 1, and no lower limit refuses more than -1.
        room = np.clip(limits, -1, LARGEST) - (0 if used is None else used)
        over = (amounts > room) & (codes >= 0)
        return over if self.probes else over & (np.asarray(amounts) > 0)

    def has_nothing(self) -> bool:
        """True if the amount of a candidate is 0."""
        return not np.all(self.amounts)

    def take(self, place: int) -> None:
        """Count a candidate as granted."""
        code = int(self.codes[place])
        self.taken[code] += _at(self.amounts, place)

    def at(self, place: int) -> tuple[CounterKey, int, int, int]:
        """Return the counter of one candidate, its index, the amount, and the room before any grant."""
        code = int(self.codes[place])
        if code < 0:
            key, amount, limit = NOT_CHARGED
            return key, 0, amount, limit
        index = self.counters.member_index(self.keys, code)
        room = min(_at(self.limits, place), LARGEST) - self.counters.cells[index]
        return self.keys[code], index, _at(self.amounts, place), room


def _column(value: object, rows: Rows) -> int | Ints:
    """Return an amount or a limit, one integer or one for each candidate."""
    if type(value) is int:
        return value
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "i":
        return value[rows].astype(np.int64, copy=False)
    raise NotPlainError


def _at(column: int | Ints, place: int) -> int:
    return column if isinstance(column, int) else int(column[place])
