"""Admission: the candidates of a request that the counters leave room for, and the charge that refuses each other one."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from negotiator.ledger.batch import ChargeBatch
from negotiator.ledger.charges import Charge, KeyCharge
from negotiator.ledger.copies import FITS, FittingCopies, fitting_copies
from negotiator.ledger.counters import Counters
from negotiator.ledger.few import FEW
from negotiator.ledger.grouping import Grouping
from negotiator.ledger.keys import Ints
from negotiator.ledger.lines import Rows
from negotiator.ledger.plain import plain_fit, plain_keys
from negotiator.ledger.plain_charges import PlainMatches
from negotiator.ledger.stops import GRANTED, Stops, find_stops


@attrs.frozen(eq=False)
class Admission:
    """What was granted to a request, G matches. Nothing is charged until it is committed.

    ``positions`` are indexes in the list of candidates, (G,), ``rows`` the slots there, (G,), ``copies`` the numbers of
    the copies that got them, (G,). ``stops`` has, for each candidate that was examined, the number of the first charge
    that refused it, or -1; ``copy_stops`` the same for copies and key charges. ``refused`` and ``copies_refused`` count
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
    plain: PlainMatches | None = None  # the charges of few matches, admitted in plain integers

    def __len__(self) -> int:
        return len(self.rows)

    def batch(self) -> ChargeBatch:
        """Return the charges of the matches. Counters that were never charged get their indexes.

        :raises LedgerError: ``bad_key``, ``wrong_sort``.
        """
        members: dict[int, list[str]] = {}
        for charge in self.key_charges:
            if id(charge.keys) not in members:
                members[id(charge.keys)] = [charge.keys[copy] for copy in self.copies.tolist()]
        sets = [self.counters.open_set(charge.counter) for charge in self.key_charges]
        columns = [_column(self.counters, charge, self.rows) for charge in self.charges]
        return ChargeBatch(
            len(self), columns, sets, [members[id(charge.keys)] for charge in self.key_charges]
        )


def admit(
    counters: Counters, charges: Sequence[Charge], key_charges: Sequence[KeyCharge], rows: Rows, copies: int
) -> Admission:
    """Grant slots to the copies of a request, in the order of both.

    ``rows`` are the candidate slots, (C,), in order of preference. Copies are served in order. A copy with a key charge
    that does not fit is skipped for good. Any other takes the next candidate on which all charges fit beside what was
    granted before; a candidate that does not fit is skipped for good. Admission ends with the last copy or the last
    candidate; what follows is not examined.

    :raises LedgerError: ``bad_charge``, ``wrong_sort``, ``bad_amount``, ``negative_amount``, ``overflow``; nothing has
        changed.
    """
    rows = np.asarray(rows, np.intp) if len(rows) else _ROWS[:0]
    sets = plain_keys(counters, key_charges, copies, most) if (most := min(copies, len(rows))) > 0 else None
    # Key charges depend on the copies, other charges on the candidates, and each copy takes the next candidate: the two
    # can be decided apart. Copies that fit are only counted as served while there are candidates left.
    served = fitting_copies(counters, key_charges, copies, len(rows)) if sets is None else None
    wanted = most if served is None else len(served.fitting)
    found = plain_fit(counters, charges, rows, wanted) if wanted and rows.ndim == 1 else None
    if found is not None and sets is not None and len(found.stops) == len(found.granted):
        matches = PlainMatches(found.granted, found.fresh, sets)
        return _without_refusals(counters, charges, key_charges, rows, matches)
    served = served or FittingCopies(range(most), [FITS] * most)
    stops = find_stops(counters, charges, rows, wanted) if found is None else np.array(found.stops, np.int32)
    positions = np.flatnonzero(stops == GRANTED)
    examined = _examined(served.fitting, len(served.stops), positions, len(rows))
    copy_stops = np.array(served.stops[:examined], np.int32)
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
        None if found is None or sets is None else PlainMatches(found.granted, found.fresh, sets),
    )


_ROWS, _FITS = np.arange(FEW), np.full(FEW, GRANTED, np.int32)
for _array in (_ROWS, _FITS):
    _array.setflags(write=False)


def _without_refusals(
    counters: Counters,
    charges: Sequence[Charge],
    key_charges: Sequence[KeyCharge],
    rows: Rows,
    matches: PlainMatches,
) -> Admission:
    """Return the admission of the first candidates: nearly always, quotas leave room for all copies."""
    size = len(matches.sums)
    first = _ROWS[:size] if size <= FEW else np.arange(size)
    fits = _FITS[:size] if size <= FEW else np.full(size, GRANTED, np.int32)
    return Admission(
        *(first, rows[:size], first, fits, fits, (0,) * len(charges), (0,) * len(key_charges)),
        *(tuple(charges), tuple(key_charges), counters, counters.version, matches),
    )


def _examined(fitting: Sequence[int], copies: int, positions: Rows, size: int) -> int:
    """Return how many copies were examined: none after the last candidate is taken, none after one that found none."""
    granted = len(positions)
    if not size:
        return 0
    if granted and positions[-1] == size - 1:
        return fitting[granted - 1] + 1
    return fitting[granted] + 1 if granted < len(fitting) else copies


def _count(stops: Stops, charges: int) -> tuple[int, ...]:
    return tuple(np.bincount(stops[stops >= 0], minlength=charges).tolist())


def _column(counters: Counters, charge: Charge, rows: Rows) -> tuple[int | Ints, int | Ints]:
    """Return the indexes of sums and the amounts of one charge on granted rows, (G,)."""
    amount = charge.amount[rows].astype(np.int64) if isinstance(charge.amount, np.ndarray) else charge.amount
    if not isinstance(charge.counter, Grouping):
        return counters.open_sum(charge.counter), amount
    codes = charge.counter.codes[rows].astype(np.int64)
    charged = (codes >= 0) & (np.asarray(amount) > 0)
    if charged.all():
        return counters.open_codes(charge.counter, codes), amount
    if not charged.any():
        return 0, 0
    indexes = np.zeros(len(codes), np.int64)
    indexes[charged] = counters.open_codes(charge.counter, codes[charged])
    return indexes, np.where(charged, amount, 0)
