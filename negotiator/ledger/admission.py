"""Admission: the candidates of a request that the counters leave room for, and the charge that refuses each other one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import attrs
import numpy as np

from negotiator.ledger.charges import AlikeCharges, Charge, KeyCharge, has_shared_counters
from negotiator.ledger.columnar_admission import GRANTED, Stops, find_stops
from negotiator.ledger.counters import ChargeBatch, Counters, MatchEntry
from negotiator.ledger.errors import LedgerError
from negotiator.ledger.keys import LARGEST, Grouping, Ints, Mask, Rows
from negotiator.ledger.scalar_admission import FEW, MatchCharges, grant_sets, grant_sums


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
    #: Returns the entries of the matches, each with the number of matches in a row that have it; None for those of ``batch``.
    entries: Callable[[], Sequence[tuple[MatchEntry, int]]] | None = None

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
    sets = grant_sets(counters, key_charges, copies, most) if (most := min(copies, len(rows))) > 0 else None
    # Key charges depend on the copies, other charges on the candidates, and each copy takes the next candidate: the two
    # can be decided apart. Copies that fit are only counted as served while there are candidates left.
    served = fitting_copies(counters, key_charges, copies, len(rows)) if sets is None else None
    wanted = most if served is None else len(served.fitting)
    found = grant_sums(counters, charges, rows, wanted) if wanted and rows.ndim == 1 else None
    served = served or FittingCopies(range(most), [GRANTED] * most)
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
        None
        if found is None or sets is None or len(positions) > FEW  # many matches are charged in columns
        else partial(MatchCharges(found.granted, found.fresh, sets).entries, counters),
    )


_ROWS, _FITS = np.arange(FEW), np.full(FEW, GRANTED, np.int32)
for _array in (_ROWS, _FITS):
    _array.setflags(write=False)


def admit_alike(
    alike: AlikeCharges, amounts: Sequence[int], members: Sequence[Sequence[str]], rows: Rows, copies: int
) -> Admission | None:
    """Grant the first candidates to the copies of a request, as ``admit`` does; None if it is not certain that all fit.

    :param amounts: see ``AlikeCharges``, as for ``members``.
    :raises LedgerError: ``wrong_sort``.
    """
    size = min(copies, len(rows))
    if size <= 0 or not alike.have_room(amounts, members, size):
        return None
    first = _ROWS[:size] if size <= FEW else np.arange(size)
    fits = _FITS[:size] if size <= FEW else np.full(size, GRANTED, np.int32)
    return Admission(
        *(first, rows[:size], first, fits, fits, (0,) * len(alike.sums), (0,) * len(alike.sets), (), ()),
        *(alike.counters, alike.counters.version),
        entries=partial(alike.entries, amounts, members, size),
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


@attrs.frozen(eq=False)
class FittingCopies:
    """The copies that fit, and the number of the charge that refused each copy that was examined, GRANTED if none did."""

    fitting: Sequence[int]
    stops: Sequence[int]


def fitting_copies(
    counters: Counters, charges: Sequence[KeyCharge], copies: int, wanted: int
) -> FittingCopies:
    """Examine copies in order until ``wanted`` of them fit, each counted as if it were granted.

    :raises LedgerError: ``bad_charge``, ``wrong_sort``.
    """
    if copies < 0:
        raise LedgerError("bad_charge", f"invalid number of copies {copies}: it must not be negative")
    if not charges:
        end = min(copies, wanted)
        return FittingCopies(range(end), [GRANTED] * end)
    short = [len(charge.keys) for charge in charges if len(charge.keys) < copies]
    if short:
        raise LedgerError("bad_charge", f"a charge has {min(short)} keys for {copies} copies")
    return _walk(_KeySets(counters, charges), charges, copies, wanted)


def _walk(sets: _KeySets, charges: Sequence[KeyCharge], copies: int, wanted: int) -> FittingCopies:
    fitting: list[int] = []
    stops: list[int] = []
    columns = list({id(charge.keys): charge.keys for charge in charges}.values())
    numbers = {id(keys): number for number, keys in enumerate(columns)}
    which = [numbers[id(charge.keys)] for charge in charges]
    # Copies with the same keys have the same result until another copy adds a key: results are kept with the age of
    # the sets. A result GRANTED stays valid, since the keys of that copy are in the sets from then on.
    known: dict[tuple[str, ...], tuple[int, int]] = {}
    for _, keys in zip(range(copies), zip(*columns, strict=False), strict=False):
        stop, age = known.get(keys, (0, -1))
        if age != sets.age and (stop != GRANTED or age < 0):
            stop = sets.add([keys[number] for number in which])
            known[keys] = stop, sets.age
        if stop == GRANTED:
            fitting.append(len(stops))
        stops.append(stop)
        if len(fitting) >= wanted:
            break
    return FittingCopies(fitting, stops)


class _KeySets:
    """The sets of some charges, with the keys that copies add to them; ``age`` increases with each addition."""

    def __init__(self, counters: Counters, charges: Sequence[KeyCharge]) -> None:
        sets = {charge.counter: (counters.members(charge.counter), set[str]()) for charge in charges}
        self.age = 0
        self._charges = [(*sets[charge.counter], charge.limit) for charge in charges]
        self._is_shared = len(sets) < len(charges)

    def add(self, keys: Sequence[str]) -> int:
        """Add one copy's keys, one for each charge, if all fit; return the number of the charge that does not."""
        fresh = [
            (charge, added, key)
            for charge, ((members, added, _), key) in enumerate(zip(self._charges, keys, strict=True))
            if key not in members and key not in added
        ]
        # A key that is in its set already needs no room. In shared sets all charges are examined: one charge's new key
        # may exceed the limit of another charge on the same set.
        for charge in range(len(keys)) if self._is_shared else [charge for charge, _, _ in fresh]:
            members, added, limit = self._charges[charge]
            new = self._new(fresh, added)
            if new and limit is not None and len(members) + len(added) + new > limit:
                return charge
        if fresh:
            self.age += 1
        for _, added, key in fresh:
            added.add(key)
        return GRANTED

    def _new(self, fresh: Sequence[tuple[int, set[str], str]], added: set[str]) -> int:
        """Return how many keys a copy adds to a set: one, unless several charges are on it."""
        return len({key for _, other, key in fresh if other is added}) if self._is_shared else 1


@attrs.frozen
class KnownRefusals:
    """The refusals of a request's charges that are the same in any order of its candidates.

    The charges that are the same on all slots leave room for ``copies`` of the request's jobs. If that is not all of them, the
    charge of number ``then`` refuses each candidate after so many matches. ``varying`` is the number of the first charge that
    depends on the slot, None if no charge does: it refuses the slots whose counters are full (``full_slots``), whatever was
    granted before.
    """

    copies: int
    then: int | None
    varying: int | None


def known_refusals(
    counters: Counters, charges: Sequence[Charge], key_charges: Sequence[KeyCharge], copies: int
) -> KnownRefusals | None:
    """Return the known refusals of a request for a number of copies.

    An admission of ``KnownRefusals.copies`` over the slots that are not full grants the same as one of all copies over all slots.
    Return None if all slots are charged alike and there is room for all copies, or if that is not certain: if charges are invalid,
    probe or are on the same counters, amounts differ between slots, keys may not fit, or an earlier charge than the one named may
    refuse a candidate.

    :raises LedgerError: ``wrong_sort``.
    """
    varying, room, then = len(charges), copies, None
    known, cells = counters.known_sums, counters.cells
    for number, charge in enumerate(charges):
        amount, limit, key = charge.amount, charge.limit, charge.counter
        if charge.probes or type(amount) is not int or not 0 <= amount <= LARGEST:
            return None
        if limit is not None and type(limit) is not int:
            if not isinstance(limit, np.ndarray) or limit.dtype != np.int64 or limit.ndim != 1:
                return None
            varying = min(varying, number)
        if type(key) is not tuple:
            varying = min(varying, number)
            continue
        index = known.get(key) or counters.index_of(key)
        if type(limit) is int and amount:
            fits = max(0, (min(limit, LARGEST) - cells[index]) // amount)
            if fits < room:
                room, then = fits, number
    alike = varying == len(charges)
    if (then is None and alike) or (then is not None and then > varying):
        return None
    if (
        not alike
        and isinstance(grouping := charges[varying].counter, Grouping)
        and not grouping.has_valid_codes
    ):
        return None
    if has_shared_counters(charges) or grant_sets(counters, key_charges, copies, copies) is None:
        return None
    return KnownRefusals(room, then, None if alike else varying)


def full_slots(counters: Counters, charge: Charge, slots: int) -> Mask | None:
    """Return the slots, (N,), whose counters have no room for another match, of a charge with one amount and valid codes.

    Return None if it is not certain of any.
    """
    amount, limit, grouping = charge.amount, charge.limit, charge.counter
    if not isinstance(grouping, Grouping) or len(grouping.codes) != slots or not amount or limit is None:
        return None
    used = counters.sums_by_code(grouping)
    if isinstance(limit, np.ndarray):
        if len(limit) != slots:
            return None
        return np.asarray((amount > np.maximum(limit, -1) - used[grouping.codes]) & (grouping.codes >= 0))
    full = np.asarray(amount > max(-1, min(limit, LARGEST)) - used)
    full[-1] = False  # of slots that are not charged
    return np.asarray(full[grouping.codes])
