"""The ledger: the counters of all hard quotas of the pool, and a receipt for each match."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from operator import attrgetter
from typing import NewType, TypeAlias, cast

import attrs
import numpy as np

from negotiator.ledger.admission import Admission, KnownRefusals, admit, full_slots, known_refusals
from negotiator.ledger.charges import Charge, KeyCharge
from negotiator.ledger.counters import ChargeBatch, Counters, MatchEntry
from negotiator.ledger.errors import LedgerError
from negotiator.ledger.keys import CounterKey, Ints, Mask, Rows, key_text
from negotiator.records import Mode

_ENFORCE = Mode.ENFORCE  # reading an attribute of an enumeration is slow

#: The number of one match's charges. No number is used twice.
Receipt = NewType("Receipt", int)


@attrs.frozen(eq=False)
class _BatchReceipts:
    """The charges of an admission: its receipts are numbered from ``first`` on; ``live`` (size,) are not released."""

    counters: Counters
    batch: ChargeBatch
    first: int
    live: Mask


#: The charges of one match, on the shadow counters or not. There are a hundred thousand receipts: tuples of numbers and
#: strings cost the garbage collector nothing.
_Single: TypeAlias = tuple[bool, MatchEntry]
_Charged: TypeAlias = _Single | _BatchReceipts


class Ledger:
    """Enforcing counters, shadow counters (modes warn and dryrun), and the receipts of all charges on them.

    A call that raises changes nothing. The ledger reads no clock and no file: the same calls give the same numbers.
    """

    def __init__(self) -> None:
        self._pair = Counters(), Counters()  # enforcing, shadow
        self._singles: dict[int, _Single] = {}  # by receipt
        self._batches: list[_BatchReceipts] = []  # in the order of their receipts
        self._next = 1

    def counters(self, mode: Mode = Mode.ENFORCE) -> Counters:
        """Return the counters of a mode, to read."""
        return self._pair[mode is not _ENFORCE]

    def admit(
        self,
        charges: Sequence[Charge],
        key_charges: Sequence[KeyCharge],
        rows: Rows,
        copies: int,
        mode: Mode = Mode.ENFORCE,
    ) -> Admission:
        """Grant slots to the copies of a request, without charging anything: see ``admission.admit``."""
        return admit(self.counters(mode), charges, key_charges, rows, copies)

    def known_refusals(
        self, charges: Sequence[Charge], key_charges: Sequence[KeyCharge], copies: int
    ) -> KnownRefusals | None:
        """Return what the enforcing counters refuse in any order of candidates: see ``admission.known_refusals``."""
        return known_refusals(self._pair[0], charges, key_charges, copies)

    def full_slots(self, charge: Charge, slots: int) -> Mask | None:
        """Return the slots that a charge refuses whatever is granted before: see ``admission.full_slots``."""
        return full_slots(self._pair[0], charge, slots)

    def commit(self, admission: Admission) -> Sequence[Receipt]:
        """Charge the granted matches, and return a receipt for each, in order.

        :raises LedgerError: ``stale`` if the counters have changed since, or are another ledger's; ``bad_key``,
            ``wrong_sort``.
        """
        counters = admission.counters
        if counters not in self._pair:
            raise LedgerError(
                "stale", "the admission is of another ledger: admit and commit with the same one"
            )
        if counters.version != admission.version:
            raise LedgerError("stale", "counters have changed since the admission: admit again")
        first, size = self._next, len(admission)
        if admission.entries is not None:  # few matches, or alike ones, need no columns
            for entry, times in admission.entries() if size else ():
                counters.add(entry, times)
                single = counters is self._pair[1], entry
                for receipt in range(self._next, self._next + times):
                    self._singles[receipt] = single
                self._next += times
        elif size:
            batch = admission.batch()
            counters.add_batch(batch)
            self._next += size
            self._batches.append(_BatchReceipts(counters, batch, first, np.ones(size, np.bool_)))
        return cast("Sequence[Receipt]", range(first, self._next))

    def release(self, receipt: Receipt) -> None:
        """Subtract exactly the charges of a match.

        :raises LedgerError: ``already_released``, ``never_charged``.
        """
        self._remove(receipt, self._charged_for(receipt))

    def release_all(self, receipts: Iterable[Receipt]) -> None:
        """Subtract exactly the charges of some matches: of all of them, or of none if one receipt is not held.

        :raises LedgerError: ``already_released``, ``never_charged``.
        """
        held = {receipt: self._charged_for(receipt) for receipt in receipts}
        for receipt, charged in held.items():
            self._remove(receipt, charged)

    def amounts(self, receipt: Receipt, mode: Mode = Mode.ENFORCE) -> Iterator[tuple[CounterKey, int]]:
        """Yield what a match holds on each sum of a mode.

        :raises LedgerError: ``already_released``, ``never_charged``.
        """
        charged = self._charged_for(receipt)
        if isinstance(charged, tuple):
            counters, entry = self._pair[charged[0]], charged[1]
        else:
            counters, entry = charged.counters, charged.batch.entry(receipt - charged.first)
        if counters is self.counters(mode):
            for index, amount in zip(entry[0], entry[1], strict=True):
                if index:
                    yield counters.key_of(index), amount

    def verify(self) -> None:
        """Compare each counter with the sum of its receipts.

        :raises LedgerError: ``unbalanced``, with the counters that differ.
        """
        for shadow, counters in enumerate(self._pair):
            wrong = _differences(counters, self._singles.values(), self._batches, shadow=bool(shadow))
            if wrong:
                names = "; ".join(map(key_text, wrong[:5])) + (" ..." if len(wrong) > 5 else "")
                problem = f"{len(wrong)} counters are not the sum of their receipts: {names}"
                raise LedgerError("unbalanced", f"{problem}; rebuild the ledger")

    def _remove(self, receipt: Receipt, charged: _Charged) -> None:
        if isinstance(charged, tuple):
            shadow, entry = charged
            self._pair[shadow].remove(entry)
            del self._singles[receipt]
        else:
            row = receipt - charged.first
            charged.counters.remove(charged.batch.entry(row))
            charged.live[row] = False

    def _charged_for(self, receipt: Receipt) -> _Charged:
        single = self._singles.get(receipt)
        if single is not None:
            return single
        place = bisect_right(self._batches, receipt, key=attrgetter("first")) - 1
        if place >= 0:
            batch = self._batches[place]
            row = receipt - batch.first
            if row < len(batch.live) and batch.live[row]:
                return batch
        if 0 < receipt < self._next:
            raise LedgerError("already_released", f"receipt {receipt} was released before")
        raise LedgerError("never_charged", f"unknown receipt {receipt}")


def _differences(
    counters: Counters, singles: Iterable[_Single], batches: Iterable[_BatchReceipts], *, shadow: bool
) -> tuple[CounterKey, ...]:
    """Return the counters that differ from the sum of their receipts."""
    used, sets = counters.empty_copy()
    # Single matches are few kinds of entries, many times; batches are summed in columns over their live rows.
    pairs = _add_entries(Counter(entry for is_shadow, entry in singles if is_shadow is shadow), used)
    for receipts in batches:
        if receipts.counters is not counters:
            continue
        batch, live = receipts.batch, np.flatnonzero(receipts.live).tolist()
        batch.add_to(used, receipts.live)
        for index, members in zip(batch.sets, batch.members, strict=True):
            pairs.update(zip(repeat(index), map(members.__getitem__, live), strict=False))
    for (index, member), count in pairs.items():
        sets[index][member] = count
    return counters.compare(used, sets)


def _add_entries(times: Counter[MatchEntry], used: Ints) -> Counter[tuple[int, str]]:
    """Add entries to sums by index, and return how often each key is in each set.

    Jobs of one application have equal entries, so that each is added once, multiplied.
    """
    indexes = np.fromiter(chain.from_iterable(entry[0] for entry in times), np.int64)
    amounts = np.fromiter(chain.from_iterable(entry[1] for entry in times), np.int64)
    counts = np.fromiter(times.values(), np.int64, len(times))
    lengths = np.fromiter((len(entry[0]) for entry in times), np.int64, len(times))
    np.add.at(used, indexes, amounts * np.repeat(counts, lengths))
    pairs = Counter[tuple[int, str]]()
    for entry, count in times.items():
        for pair in zip(entry[2], entry[3], strict=True):
            pairs[pair] += count
    return pairs
