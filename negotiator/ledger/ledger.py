"""The ledger: every hard quota of the pool, in one place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import NewType, TypeAlias, cast

import attrs
import numpy as np

from negotiator.ledger.admission import Admission, admit
from negotiator.ledger.batch import PostingBatch
from negotiator.ledger.charges import Charge, KeyCharge
from negotiator.ledger.counters import Counters, CountersState
from negotiator.ledger.errors import LedgerError
from negotiator.ledger.keys import CounterKey, Ints
from negotiator.ledger.lines import Rows
from negotiator.ledger.postings import Entry, LimitedKeys, LimitedSums, Postings, RefusedCharge, key_text
from negotiator.records import Mode

_ENFORCE = Mode.ENFORCE  # attributes of an enumeration are slow to find

#: The number of what one match was charged; no number is given twice.
Receipt = NewType("Receipt", int)


@attrs.frozen(eq=False)
class _Granted:
    """What an admission charged: its receipts are numbered from ``first`` on."""

    counters: Counters
    batch: PostingBatch
    first: int


#: What a receipt stands for: what one match was charged by itself (whether on the shadow counters, and what), or one
#: match of an admission. There are a hundred thousand: tuples of numbers and texts cost the garbage collector nothing.
_Held: TypeAlias = tuple[bool, Entry] | _Granted


@attrs.frozen(eq=False)
class LedgerState:
    """What a ledger was at one moment; only the ledger that made it understands it."""

    counters: tuple[CountersState, ...]
    receipts: Mapping[int, _Held]


class Ledger:
    """Counters of what enforces, those of what only watches (modes warn and dryrun), and what was charged on them.

    What it refuses changes nothing. It reads no clock and no file: the same calls give the same numbers.
    """

    def __init__(self) -> None:
        self._pair = Counters(), Counters()  # enforcing, shadow
        self._receipts: dict[int, _Held] = {}
        self._next = 1

    def __len__(self) -> int:
        """How many receipts are held."""
        return len(self._receipts)

    def counters(self, mode: Mode = Mode.ENFORCE) -> Counters:
        """The counters of a mode, to be read."""
        return self._pair[mode is not _ENFORCE]

    def admit(
        self,
        charges: Sequence[Charge],
        key_charges: Sequence[KeyCharge],
        rows: Rows,
        copies: int,
        mode: Mode = Mode.ENFORCE,
    ) -> Admission:
        """Grant slots to the copies of a request as ``admission.admit`` says; nothing is charged yet."""
        return admit(self.counters(mode), charges, key_charges, rows, copies)

    def commit(self, admission: Admission) -> Sequence[Receipt]:
        """Charge what was granted; gives a receipt for each match, in its order.

        :raises LedgerError: ``stale`` where the counters have changed since, or were another ledger's; ``bad_key``,
            ``wrong_sort``.
        """
        counters = admission.counters
        if counters not in self._pair:
            raise LedgerError(
                "stale", "the admission was made by another ledger: admit with the one that commits"
            )
        if counters.version != admission.version:
            raise LedgerError("stale", "counters have changed since the admission was made: admit anew")
        first, size = self._next, len(admission)
        if admission.charged is not None:  # a batch of one is the heavier way to say it
            if size:
                self._keep((counters is self._pair[1], counters.charge_one(admission.charged)))
        elif size:
            batch = admission.batch()
            counters.add_batch(batch)
            self._next += size
            self._receipts.update(dict.fromkeys(range(first, self._next), _Granted(counters, batch, first)))
        return cast("Sequence[Receipt]", range(first, self._next))

    def try_charge(
        self, sums: LimitedSums, keys: LimitedKeys = (), mode: Mode = Mode.ENFORCE
    ) -> RefusedCharge | Receipt:
        """Charge one match if all of it fits: (counter, amount, limit) of sums, (counter, key, limit) of sets of keys.

        What adds nothing to a counter is never refused.

        :raises LedgerError: ``bad_key``, ``wrong_sort``, ``bad_amount``, ``negative_amount``, ``overflow``.
        """
        shadow = mode is not _ENFORCE
        entry = self._pair[shadow].try_add(sums, keys)
        return entry if isinstance(entry, RefusedCharge) else self._keep((shadow, entry))

    def headroom(
        self,
        sums: Sequence[tuple[CounterKey, int | None]],
        key_sets: Sequence[tuple[CounterKey, int | None]] = (),
        mode: Mode = Mode.ENFORCE,
    ) -> list[int | None]:
        """What limits leave, of sums and then of the sizes of sets; negative where more is used, None without a limit."""
        return self.counters(mode).headroom(sums, key_sets)

    def release(self, receipt: Receipt) -> None:
        """Give back exactly what a receipt says.

        :raises LedgerError: ``already_released``, ``never_charged``.
        """
        counters, entry = self._entry(receipt)
        counters.remove(entry)
        del self._receipts[receipt]

    def postings(self, receipt: Receipt) -> Postings:
        """What a receipt says, amounts of 0 left out.

        :raises LedgerError: ``already_released``, ``never_charged``.
        """
        counters, entry = self._entry(receipt)
        return counters.named(entry)

    def receipts(self) -> Iterable[Receipt]:
        """All that are held, oldest first."""
        return (Receipt(number) for number in sorted(self._receipts))

    def snapshot(self) -> LedgerState:
        """What the ledger is now."""
        states = tuple(counters.snapshot() for counters in self._pair)
        return LedgerState(states, dict(self._receipts))

    def restore(self, state: LedgerState) -> None:
        """Make the ledger what it was: receipts given since are no longer held, those released since are again."""
        for counters, one in zip(self._pair, state.counters, strict=True):
            counters.restore(one)
        self._receipts = dict(state.receipts)

    def verify(self) -> None:
        """Hold every counter against the sum of its receipts.

        :raises LedgerError: ``unbalanced``, with the counters that are off.
        """
        for shadow, counters in enumerate(self._pair):
            wrong = _differences(counters, self._receipts.items(), shadow=bool(shadow))
            if wrong:
                names = "; ".join(map(key_text, wrong[:5])) + (" ..." if len(wrong) > 5 else "")
                what = f"{len(wrong)} counters are not the sum of their receipts: {names}"
                raise LedgerError("unbalanced", f"{what}; build the ledger anew")

    def _keep(self, held: _Held) -> Receipt:
        number = self._next
        self._next += 1
        self._receipts[number] = held
        return Receipt(number)

    def _entry(self, receipt: Receipt) -> tuple[Counters, Entry]:
        held = self._receipts.get(receipt)
        if isinstance(held, tuple):
            return self._pair[held[0]], held[1]
        if held is not None:
            return held.counters, held.batch.entry(receipt - held.first)
        if 0 < receipt < self._next:
            raise LedgerError("already_released", f"receipt {receipt} is no longer held: it was released")
        raise LedgerError("never_charged", f"there was never a receipt {receipt}")


def _differences(
    counters: Counters, receipts: Iterable[tuple[int, _Held]], *, shadow: bool
) -> tuple[CounterKey, ...]:
    """The counters that are not what their receipts say."""
    used, sets = counters.nothing()
    singles: list[Entry] = []
    rows: dict[_Granted, list[int]] = {}
    for number, held in receipts:
        if isinstance(held, tuple):
            if held[0] is shadow:
                singles.append(held[1])
        elif held.counters is counters:
            rows.setdefault(held, []).append(number - held.first)
    pairs = _add_alike(Counter(singles), used)
    for granted, live in rows.items():
        batch = granted.batch
        mask = np.zeros(batch.size, np.bool_)
        mask[live] = True
        batch.add_to(used, mask)
        for place, members in zip(batch.sets, batch.members, strict=True):
            pairs.update(zip(repeat(place), map(members.__getitem__, live), strict=False))
    for (place, member), count in pairs.items():
        sets[place][member] = count
    return counters.compare(used, sets)


def _add_alike(times: Counter[Entry], used: Ints) -> Counter[tuple[int, str]]:
    """Add entries to sums by place; gives how often each key is in each set. Jobs of an application are charged alike."""
    places = np.fromiter(chain.from_iterable(entry[0] for entry in times), np.int64)
    amounts = np.fromiter(chain.from_iterable(entry[1] for entry in times), np.int64)
    counts = np.fromiter(times.values(), np.int64, len(times))
    lengths = np.fromiter((len(entry[0]) for entry in times), np.int64, len(times))
    np.add.at(used, places, amounts * np.repeat(counts, lengths))
    pairs = Counter[tuple[int, str]]()
    for entry, count in times.items():
        for pair in zip(entry[2], entry[3], strict=True):
            pairs[pair] += count
    return pairs
