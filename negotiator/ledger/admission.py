"""Admission: which candidates of a request the counters leave room for, and what says stop to the others."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from negotiator.ledger.batch import PostingBatch
from negotiator.ledger.charges import Charge, Grouping, KeyCharge
from negotiator.ledger.copies import fitting_copies
from negotiator.ledger.counters import Counters
from negotiator.ledger.keys import Ints
from negotiator.ledger.lines import Rows
from negotiator.ledger.single import Charged, Found, first_fit
from negotiator.ledger.stops import GRANTED, Stops, find_stops


@attrs.frozen(eq=False)
class Admission:
    """What was granted to a request, G matches; nothing is charged before it is committed.

    ``positions`` are places in the list of candidates, (G,), ``rows`` the slots there, (G,), ``copies`` the numbers of
    the copies that got them, (G,). Of the candidates and the copies that were looked at, ``stops`` and ``copy_stops``
    have the number of the first charge that did not fit, -1 where all did; ``refused`` and ``copies_refused`` count
    them for each charge.
    """

    positions: Rows
    rows: Rows
    copies: Rows
    stops: Stops
    copy_stops: Stops
    refused: tuple[int, ...]
    copies_refused: tuple[int, ...]
    charges: Sequence[Charge]
    key_charges: Sequence[KeyCharge]
    counters: Counters
    version: int  # of the counters
    charged: Charged | None = None  # what the one match is charged, of an admission of one copy

    def __len__(self) -> int:
        return len(self.rows)

    def batch(self) -> PostingBatch:
        """The postings of the matches; counters that were never charged get their places.

        :raises LedgerError: ``bad_key``, ``wrong_sort``.
        """
        members: dict[int, list[str]] = {}
        for charge in self.key_charges:
            if id(charge.keys) not in members:
                members[id(charge.keys)] = [charge.keys[copy] for copy in self.copies.tolist()]
        sets = [self.counters.open_set(charge.counter) for charge in self.key_charges]
        columns = [_column(self.counters, charge, self.rows) for charge in self.charges]
        return PostingBatch(
            len(self), columns, sets, [members[id(charge.keys)] for charge in self.key_charges]
        )


def admit(
    counters: Counters, charges: Sequence[Charge], key_charges: Sequence[KeyCharge], rows: Rows, copies: int
) -> Admission:
    """Grant slots to the copies of a request, in the order of both.

    ``rows`` are the candidate slots, (C,), in order of preference. Copies are served in their order: one whose key
    charges do not all fit is passed over for good, any other takes the next candidate whose charges all fit beside what
    was granted to those before; a candidate that does not fit is passed over for good. It ends when there are no more
    copies or no more candidates: what comes after is not looked at. Takes time in proportion to C log C where each
    counter has one amount and one limit and groups lie within groups.

    :raises LedgerError: ``bad_charge``, ``wrong_sort``, ``bad_amount``, ``negative_amount``, ``overflow``; nothing has
        changed.
    """
    rows = np.asarray(rows, np.intp) if len(rows) else np.zeros(0, np.intp)
    if copies == 1 and not key_charges and len(rows):
        found = first_fit(counters, charges, rows)
        if found is not None:
            return _of_one(counters, charges, rows, found)
    served = fitting_copies(counters, key_charges, copies, len(rows))
    stops = find_stops(counters, charges, rows, len(served.fitting))
    positions = np.flatnonzero(stops == GRANTED)
    looked = _looked(served.fitting, len(served.stops), positions, len(rows))
    copy_stops = np.array(served.stops[:looked], np.int32)
    return Admission(
        positions,
        rows[positions],
        np.array(served.fitting[: len(positions)], np.intp),
        stops,
        copy_stops,
        _count(stops, len(charges)),
        _count(copy_stops, len(key_charges)),
        tuple(charges),
        tuple(key_charges),
        counters,
        counters.version,
    )


_FIRST, _NONE = np.zeros(1, np.intp), np.zeros(0, np.intp)
_FITS = np.full(1, GRANTED, np.int32)
for _each in (_FIRST, _NONE, _FITS):
    _each.setflags(write=False)


def _of_one(counters: Counters, charges: Sequence[Charge], rows: Rows, found: Found) -> Admission:
    """What was granted to one copy, whose lot is known for each candidate up to the first that fits."""
    stops, size = found.stops, len(found.stops)
    fits = stops[-1] == GRANTED
    refused = [0] * len(charges)
    for stop in stops[:-1] if fits else stops:
        refused[stop] += 1
    return Admission(
        np.array([size - 1], np.intp) if fits else _NONE,
        rows[size - 1 : size] if fits else _NONE,
        _FIRST if fits else _NONE,
        np.array(stops, np.int32),
        _FITS,
        tuple(refused),
        (),
        tuple(charges),
        (),
        counters,
        counters.version,
        found.charged,
    )


def _looked(fitting: Sequence[int], copies: int, positions: Rows, size: int) -> int:
    """How many copies were looked at: none after the last candidate is gone, and none after one that found none."""
    granted = len(positions)
    if not size:
        return 0
    if granted and positions[-1] == size - 1:
        return fitting[granted - 1] + 1
    return fitting[granted] + 1 if granted < len(fitting) else copies


def _count(stops: Stops, charges: int) -> tuple[int, ...]:
    return tuple(np.bincount(stops[stops >= 0], minlength=charges).tolist())


def _column(counters: Counters, charge: Charge, rows: Rows) -> tuple[int | Ints, int | Ints]:
    """The places and the amounts of one charge on granted rows, (G,)."""
    amount = charge.amount[rows].astype(np.int64) if isinstance(charge.amount, np.ndarray) else charge.amount
    if not isinstance(charge.counter, Grouping):
        return counters.open_sum(charge.counter), amount
    codes = charge.counter.codes[rows].astype(np.int64)
    charged = (codes >= 0) & (np.asarray(amount) > 0)
    places = counters.open_grouping(charge.counter, codes[charged])
    if charged.all():
        return places[codes], amount
    if not charged.any():
        return 0, 0
    return np.where(charged, places[codes], 0), np.where(charged, amount, 0)
