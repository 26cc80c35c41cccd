"""Admission in columns, for many candidates: the charge that refuses each of them, in the order of preference.

Few candidates, and charges on shared counters, are decided one by one (``grant_by_row``, the definition of admission).
Others are decided in rounds, exact all the same. Before each open candidate, the amounts charged have two bounds: those
granted so far (lower), and those plus all open candidates before it (upper). A candidate that fits above the upper bound
is granted, independent of the others; one that does not fit above the lower bound is refused. For the first open candidate
both bounds are equal, so that each round decides at least one, and usually most. When a round decides only a few, the rest
is decided one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import repeat
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.ledger.charges import (
    CandidateCharge,
    CandidateGroups,
    Charge,
    ChargeReader,
    has_shared_counters,
)
from negotiator.ledger.counters import Counters
from negotiator.ledger.keys import LARGEST, Grouping, Ints, Mask, Rows

Stops: TypeAlias = NDArray[np.int32]

#: In the place of a charge's number: none refused.
GRANTED = -1
#: The number of candidates up to which deciding them one by one is faster than columns.
SMALL = 64
# A row costs about 2 µs in the loop, and a quarter of that in a round: a round must decide FEW rows and one in PART.
FEW = 128
PART = 8

_Row: TypeAlias = tuple[tuple[Hashable, int, int], ...]
_Taken: TypeAlias = defaultdict[Hashable, int]


def find_stops(counters: Counters, charges: Sequence[Charge], rows: Rows, wanted: int) -> Stops:
    """Return the charge that refused each candidate, in order, until as many as wanted are granted."""
    if not wanted or not len(rows):
        return np.zeros(0, np.int32)
    # Probes depend on the counters alone, not on earlier grants: candidates they refuse are removed beforehand.
    full = _probe(counters, charges, rows)
    if full is None:
        return _find_stops(counters, charges, rows, wanted)
    stops = full.copy()
    open_ = np.flatnonzero(full == GRANTED)
    found = _find_stops(counters, charges, rows[open_], wanted)
    stops[open_[: len(found)]] = found
    ended = np.count_nonzero(found == GRANTED) == wanted
    return stops[: open_[len(found) - 1] + 1] if ended else stops


def _probe(counters: Counters, charges: Sequence[Charge], rows: Rows) -> Stops | None:
    """Return the first probing charge of amount 0 that refuses each candidate; None if there is none."""
    stops: Stops | None = None
    reader: ChargeReader | None = None
    for number, charge in enumerate(charges):
        if not charge.probes or charge.limit is None:
            continue
        reader = reader or ChargeReader(counters, rows)
        line = reader.read(number, charge)
        over = np.broadcast_to(np.asarray(line.room) < 0, len(rows))
        if line.groups.charged is not None:
            over = over & line.groups.charged
        if not isinstance(charge.amount, int):
            over = over & (charge.amount[rows] == 0)
        elif charge.amount:
            continue
        if over.any():
            stops = np.full(len(rows), GRANTED, np.int32) if stops is None else stops
            stops[over & (stops == GRANTED)] = number
    return stops


def _find_stops(counters: Counters, charges: Sequence[Charge], rows: Rows, wanted: int) -> Stops:
    """Do the same for charges with an amount."""
    if not len(rows):
        return np.zeros(0, np.int32)
    shared = has_shared_counters(charges)
    size = 0
    while True:
        # A result depends only on the candidates before it, so that few copies seldom need to examine all.
        size = min(len(rows), max(SMALL, 2 * wanted, 8 * size))
        stops = _first_stops(counters, charges, rows[:size], wanted, shared=shared)
        if size == len(rows) or np.count_nonzero(stops == GRANTED) == wanted:
            return stops


def _first_stops(
    counters: Counters, charges: Sequence[Charge], rows: Rows, wanted: int, *, shared: bool
) -> Stops:
    reader, size = ChargeReader(counters, rows), len(rows)
    lines = [reader.read(number, charge) for number, charge in enumerate(charges)]
    if shared:  # the total that a row adds to one counter is only known row by row
        names = [_names(charge, rows) for charge in charges]
        return _by_rows(lines, names, size, wanted, shared=True)
    # A line that no candidate can exceed, even if all wanted copies are charged on one counter, refuses nothing.
    lines = [line for line in lines if line.most() and not line.is_slack(min(wanted, size))]
    if size <= SMALL:
        names = [_numbers(line, size) for line in lines]
        stops = _by_rows(lines, names, size, wanted, shared=False)
        numbers = np.array([*(line.number for line in lines), GRANTED], np.int32)
        return numbers[stops]
    return _attribute(lines, _grant_in_rounds(lines, size, wanted), wanted)


def _by_rows(
    lines: Sequence[CandidateCharge],
    names: Sequence[Iterable[Hashable]],
    size: int,
    wanted: int,
    *,
    shared: bool,
) -> Stops:
    """Examine row by row; return indexes of lines."""
    everyone = np.ones(size, np.bool_)
    columns = [
        ChargeColumn(
            name,
            line.amounts(everyone).tolist(),
            repeat(line.room) if isinstance(line.room, int) else line.room.tolist(),
        )
        for line, name in zip(lines, names, strict=True)
    ]
    return np.array(grant_by_row(columns, size, wanted, shared=shared), np.int32)


def _names(charge: Charge, rows: Rows) -> Iterable[Hashable]:
    """Return the key of each candidate's counter."""
    if not isinstance(charge.counter, Grouping):
        return repeat(charge.counter)
    keys = charge.counter.keys
    return [keys[code] if code >= 0 else () for code in charge.counter.codes[rows].tolist()]


def _numbers(line: CandidateCharge, size: int) -> Iterable[Hashable]:
    """Return the counter of each candidate, by line and group."""
    codes = line.groups.codes
    return zip(repeat(line.number, size), repeat(0) if codes is None else codes.tolist(), strict=False)


def _attribute(lines: Sequence[CandidateCharge], granted: Mask, wanted: int) -> Stops:
    """Return, for each candidate that was examined, the first charge that refused it, in the order of the charges."""
    positions = np.flatnonzero(granted)
    examined = int(positions[wanted - 1]) + 1 if len(positions) == wanted else len(granted)
    stops = np.full(examined, GRANTED, np.int32)
    open_ = np.flatnonzero(~granted[:examined])
    # The amounts granted before a candidate decide; of lines with one amount, those over the same groups share the count.
    counts: dict[tuple[int, int], Ints] = {}
    for line in lines:
        if not len(open_):
            break
        if isinstance(line.amount, int):
            part = (id(line.groups), id(line.charged))
            if part not in counts:
                counts[part] = line.groups.before(line.counts(granted))
            taken = counts[part][open_] * line.amount
        else:
            taken = line.groups.before(line.amounts(granted))[open_]
        over = line.refuses(taken, open_)
        stops[open_[over]] = line.number
        open_ = open_[~over]
    return stops


@attrs.frozen(eq=False)
class ChargeColumn:
    """One charge over the rows, each part (C,): the counter of a row, its amount, and the free amount of the counter.

    ``free`` is the limit minus the usage before this admission; it may be negative.
    """

    counters: Iterable[Hashable]
    amounts: Iterable[int]
    free: Iterable[int]


def grant_by_row(columns: Sequence[ChargeColumn], size: int, wanted: int, *, shared: bool) -> list[int]:
    """Grant each row whose charges all fit, in order, until as many as wanted are granted.

    ``shared`` means that several columns may name the same counter. Return, for each row that was examined, the number
    of the first column that did not fit, or -1 if it was granted.
    """
    if not columns:
        return [-1] * min(size, wanted)
    charge = _charge_totals if shared else _charge
    taken: _Taken = defaultdict(int)
    stops: list[int] = []
    left = wanted
    parts = (zip(column.counters, column.amounts, column.free, strict=False) for column in columns)
    # A column with one value for all rows is an endless iterator: the size ends the loop.
    for row in zip(*parts, strict=False):
        if not left or len(stops) == size:
            break
        stops.append(charge(taken, row))
        left -= stops[-1] < 0
    return stops


def _charge(taken: _Taken, row: _Row) -> int:
    """Charge one row if all of it fits, and return -1; else return the number of the column that does not."""
    # Check all columns before charging any: a row is charged all or none.
    for number, (counter, amount, free) in enumerate(row):
        if amount and amount > free - taken[counter]:
            return number
    for counter, amount, _ in row:
        if amount:
            taken[counter] += amount
    return -1


def _charge_totals(taken: _Taken, row: _Row) -> int:
    """Do the same if a row may add to one counter by several columns."""
    totals: _Taken = defaultdict(int)
    for counter, amount, _ in row:
        totals[counter] += amount
    for number, (counter, _, free) in enumerate(row):
        if totals[counter] and totals[counter] > free - taken[counter]:
            return number
    for counter, total in totals.items():
        taken[counter] += total
    return -1


@attrs.define(eq=False)
class _OpenCandidates:
    """The open candidates, (n,); each line has its groups, its amounts, (n,), and the free amounts, (n,).

    Free is the room minus the amounts granted to earlier candidates.
    """

    rows: NDArray[np.intp]  # among all candidates
    lines: list[tuple[CandidateGroups, Ints, Ints]]

    def keep(self, mask: Mask) -> None:
        """Keep the candidates of a mask, (n,)."""
        if mask.all():
            return
        # Lines share groups: pick from each once, so that the sorted order of a group is computed once too.
        parts: dict[int, CandidateGroups] = {}
        for groups, _, _ in self.lines:
            if id(groups) not in parts:
                parts[id(groups)] = groups.pick(mask)
        self.lines = [(parts[id(groups)], amounts[mask], free[mask]) for groups, amounts, free in self.lines]
        self.rows = self.rows[mask]

    def possible(self) -> Mask:
        """Return those that fit above the lower bound: they are not refused yet."""
        fits = np.ones(len(self.rows), np.bool_)
        for _, amounts, free in self.lines:
            fits &= (amounts <= free) | (amounts == 0)
        return fits

    def certain(self) -> Mask:
        """Return those that fit above the upper bound: they are granted."""
        fits = np.ones(len(self.rows), np.bool_)
        for groups, amounts, free in self.lines:
            fits &= (amounts <= free - groups.before(amounts)) | (amounts == 0)
        return fits

    def grant(self, mask: Mask) -> None:
        """Subtract the amounts of granted candidates from the free amounts of later ones."""
        self.lines = [
            (groups, amounts, free - groups.before(np.where(mask, amounts, 0)))
            for groups, amounts, free in self.lines
        ]

    def is_countable(self) -> bool:
        """True if no sum of amounts can exceed 64 bits."""
        return all(int(amounts.max(initial=0)) * len(self.rows) <= LARGEST for _, amounts, _ in self.lines)

    def drop_slack(self) -> None:
        """Remove the lines that can no longer refuse a candidate."""
        count = len(self.rows)
        self.lines = [
            (groups, amounts, free)
            for groups, amounts, free in self.lines
            if int(amounts.max(initial=0)) * count > int(free.min(where=amounts > 0, initial=LARGEST))
        ]


def _grant_in_rounds(lines: Sequence[CandidateCharge], size: int, wanted: int) -> Mask:
    """Return the candidates that are granted, (C,)."""
    left = _OpenCandidates(np.arange(size), _merged(lines, size))
    if wanted < size:  # the number of copies is one more charge: 1 for each candidate, at most ``wanted``
        left.lines.append((CandidateGroups(None), np.ones(size, np.int64), np.full(size, wanted)))
    left.keep(left.possible())
    granted = np.zeros(size, np.bool_)
    decided = size
    while len(left.rows) and left.is_countable() and decided >= FEW + len(left.rows) // PART:
        # Grant what fits in the worst case, subtract it from what is free, then drop what no longer fits.
        certain = left.certain()
        granted[left.rows[certain]] = True
        left.grant(certain)
        count = len(left.rows)
        left.keep(left.possible() & ~certain)
        decided = count - len(left.rows)
    granted[left.rows[_rest_by_row(left)]] = True
    return granted


def _merged(lines: Sequence[CandidateCharge], size: int) -> list[tuple[CandidateGroups, Ints, Ints]]:
    """Merge the lines with the same groups and amounts. Where an amount is constant, matches are counted instead."""
    # Fewer lines make cheaper rounds: limits on the same groups and amounts (levels of queues) are their minimum.
    everyone = np.ones(size, np.bool_)
    merged: dict[tuple[int, int, int], tuple[CandidateGroups, Ints, Ints]] = {}
    for line in lines:
        if isinstance(line.amount, int):
            key = id(line.groups), id(line.charged), 0
            amounts, room = line.counts(everyone), line.room // line.amount
        else:
            key = id(line.groups), 0, id(line.amount)
            amounts, room = line.amount, line.room
        room = np.zeros(size, np.int64) + room
        if key in merged:
            np.minimum(merged[key][2], room, out=merged[key][2])
        else:
            merged[key] = line.groups, amounts, room
    return list(merged.values())


def _rest_by_row(left: _OpenCandidates) -> Mask:
    """Return which of the open candidates are granted, row by row."""
    left.drop_slack()
    columns = [
        ChargeColumn(
            _counter_numbers(groups, number, len(left.lines), len(left.rows)), amounts.tolist(), free.tolist()
        )
        for number, (groups, amounts, free) in enumerate(left.lines)
    ]
    return np.array(grant_by_row(columns, len(left.rows), len(left.rows), shared=False), np.int64) < 0


def _counter_numbers(groups: CandidateGroups, number: int, step: int, size: int) -> list[int]:
    """Return a number for the counter of each candidate that no other line uses."""
    return [number] * size if groups.codes is None else ((groups.codes + 1) * step + number).tolist()
