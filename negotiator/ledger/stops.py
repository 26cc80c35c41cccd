"""The candidates that are granted, by the fastest exact way on columns, and the charge that refuses each other one.

The ways are columns in rounds (``rounds``), and the loop over rows (``loop``), which also serves few candidates and shared counters. Before these, ``plain`` is tried.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations, repeat
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from negotiator.ledger.charges import Charge
from negotiator.ledger.counters import Counters
from negotiator.ledger.grouping import Grouping
from negotiator.ledger.keys import Ints, Mask
from negotiator.ledger.lines import ChargeLine, Reader, Rows
from negotiator.ledger.loop import ChargeColumn, greedy
from negotiator.ledger.rounds import admit_rounds

Stops: TypeAlias = NDArray[np.int32]

#: In the place of a charge's number: none refused.
GRANTED = -1
#: The number of candidates up to which the loop is faster than columns.
SMALL = 64


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
    reader: Reader | None = None
    for number, charge in enumerate(charges):
        if not charge.probes or charge.limit is None:
            continue
        reader = reader or Reader(counters, rows)
        line = reader.line(number, charge)
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


def has_shared_counters(charges: Sequence[Charge]) -> bool:
    """True if several charges, or several codes of a grouping, may name the same counter."""
    single = [charge.counter for charge in charges if not isinstance(charge.counter, Grouping)]
    groupings = [charge.counter for charge in charges if isinstance(charge.counter, Grouping)]
    return (
        len(set(single)) < len(single)
        or len(set(groupings)) < len(groupings)
        or not all(grouping.distinct for grouping in groupings)
        or any(
            key[:-1] in grouping.prefixes and key in grouping.keys for grouping in groupings for key in single
        )
        or any(_overlap(one, other) for one, other in combinations(groupings, 2))
    )


def _overlap(one: Grouping, other: Grouping) -> bool:
    """True if two groupings have a common counter."""
    return not one.prefixes.isdisjoint(other.prefixes) and not set(one.keys).isdisjoint(other.keys)


def _first_stops(
    counters: Counters, charges: Sequence[Charge], rows: Rows, wanted: int, *, shared: bool
) -> Stops:
    reader, size = Reader(counters, rows), len(rows)
    lines = [reader.line(number, charge) for number, charge in enumerate(charges)]
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
    return _attribute(lines, admit_rounds(lines, size, wanted), wanted)


def _by_rows(
    lines: Sequence[ChargeLine], names: Sequence[Iterable[Hashable]], size: int, wanted: int, *, shared: bool
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
    return np.array(greedy(columns, size, wanted, shared=shared), np.int32)


def _names(charge: Charge, rows: Rows) -> Iterable[Hashable]:
    """Return the key of each candidate's counter."""
    if not isinstance(charge.counter, Grouping):
        return repeat(charge.counter)
    keys = charge.counter.keys
    return [keys[code] if code >= 0 else () for code in charge.counter.codes[rows].tolist()]


def _numbers(line: ChargeLine, size: int) -> Iterable[Hashable]:
    """Return the counter of each candidate, by line and group."""
    codes = line.groups.codes
    return zip(repeat(line.number, size), repeat(0) if codes is None else codes.tolist(), strict=False)


def _attribute(lines: Sequence[ChargeLine], granted: Mask, wanted: int) -> Stops:
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
