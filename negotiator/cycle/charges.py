"""The charges that plugins declare for a request, ready for the ledger, and the reasons why they do not fit.

What running jobs of slots hold on the counters is known by claim: a match that ends a job releases it, and charges anew.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.cycle.reasons import quota_reason, scaled
from negotiator.hooks.charges import Charge, Grouping, KeyCharge, Quota, RequestedCharge
from negotiator.hooks.manager import Attributed
from negotiator.hooks.overruns import Overrun
from negotiator.hooks.records import Mask, Request
from negotiator.hooks.watched_request import ApplicationKeys
from negotiator.ledger import (
    Admission,
    AlikeCharges,
    CounterKey,
    Counters,
    ExceededCounter,
    Ints,
    KnownRefusals,
    Ledger,
    Receipt,
    Rows,
    admit_alike,
)
from negotiator.records import Mode, Reason
from negotiator.records.text import printable


@attrs.frozen(eq=False)
class _ReceiptBlock:
    """Receipts of one commit: those of alike jobs are consecutive numbers. ``rows`` (K,) are the slots they run on."""

    rows: Rows
    receipts: Sequence[Receipt]


@attrs.define(eq=False)
class ClaimReceipts:
    """The receipts of everything in use, by the row of its slot among all slots of the pool.

    Jobs whose slot is not in the pool are under the row -1, and are never released. Nothing is made per job: a block
    holds an array and a range, and the index over all blocks is sorted when the first row is looked up.
    """

    _blocks: list[_ReceiptBlock] = attrs.field(factory=list, init=False)
    _index: tuple[Rows, NDArray[np.int64]] | None = attrs.field(default=None, init=False)

    def add(self, rows: Rows, receipts: Sequence[Receipt]) -> None:
        """Store the receipts of the jobs on some slots: (K,) rows, and as many receipts in their order."""
        if len(rows):
            self._blocks.append(_ReceiptBlock(rows, receipts))
            self._index = None

    def of(self, row: int) -> tuple[Receipt, ...]:
        """Return the receipts of what runs on a slot, oldest first: of both modes, and of every job there."""
        if row < 0:
            return ()
        rows, receipts = self._sorted()
        first, end = np.searchsorted(rows, [row, row + 1])
        return tuple(map(Receipt, receipts[first:end].tolist()))

    def each(self) -> Iterator[tuple[int, Receipt]]:
        """Yield the row of a slot and a receipt of what runs there, for all receipts, by row."""
        rows, receipts = self._sorted()
        for row, receipt in zip(rows.tolist(), receipts.tolist(), strict=True):
            if row >= 0:
                yield row, Receipt(receipt)

    def release(self, row: int, ledger: Ledger) -> tuple[Receipt, ...]:
        """Release all charges of the jobs on a slot, and return the receipts; all or nothing.

        :raises LedgerError: ``already_released``; nothing was released.
        """
        receipts = self.of(row)
        ledger.release_all(receipts)
        return receipts

    def _sorted(self) -> tuple[Rows, NDArray[np.int64]]:
        """Return the rows, ascending, and the receipt at each place."""
        if self._index is None:
            empty = np.zeros(0, np.int64)
            rows = np.concatenate([empty, *(block.rows for block in self._blocks)])
            receipts = np.concatenate([empty, *(np.asarray(block.receipts) for block in self._blocks)])
            order = np.argsort(rows, kind="stable")
            self._index = rows[order], receipts[order]
        return self._index


@attrs.frozen(eq=False)
class HeldAmounts:
    """The amounts of slots on the counters of one mode: for each counter some rows of slots, (K,), and their amounts.

    ``ended`` (S,) are the slots whose jobs matches have ended: they hold nothing any more. ``parts`` (E,) are slots, and the slots
    that hold what their jobs hold too, as a match with these ends them.
    """

    ended: Mask
    by_counter: Mapping[CounterKey, tuple[Rows, Ints]]
    parts: tuple[Rows, Rows] | None = None
    _of_groupings: dict[int, tuple[Grouping, Ints | None]] = attrs.field(factory=dict, init=False)

    @classmethod
    def of_claims(
        cls, receipts: ClaimReceipts, ledger: Ledger, slots: Rows, mode: Mode = Mode.ENFORCE
    ) -> HeldAmounts:
        """Return what the claims of some slots hold; ``slots`` (S,) are their rows in the pool."""
        found: dict[CounterKey, dict[int, int]] = {}
        places = {row: place for place, row in enumerate(slots.tolist())}
        for row, receipt in receipts.each():
            place = places.get(row)
            if place is None:
                continue
            for counter, amount in ledger.amounts(receipt, mode):
                own = found.setdefault(counter, {})
                own[place] = own.get(place, 0) + amount
        return cls(
            np.zeros(len(slots), np.bool_),
            {
                counter: (np.array(list(own), np.intp), np.array(list(own.values()), np.int64))
                for counter, own in found.items()
            },
        )

    def with_parts(self, parts: tuple[Rows, Rows] | None) -> HeldAmounts:
        """Return the amounts of slots with those of others that matches with them end."""
        return self if parts is None else HeldAmounts(self.ended, self.by_counter, parts)

    def end(self, rows: Rows) -> Rows:
        """Note that matches end the jobs of some slots; return the rows of those that had not ended before."""
        running = np.unique(rows[~self.ended[rows]])
        self.ended[running] = True
        return running

    def of(self, counter: CounterKey | Grouping) -> Ints | None:
        """Return what each slot holds on its counter, (S,); None if none holds anything."""
        codes = None
        if isinstance(counter, Grouping):
            codes = counter.codes
            known = self._of_groupings.get(id(counter))
            if known is None:  # with the grouping itself, so that its identity stays its own
                known = self._of_groupings[id(counter)] = counter, self._of_grouping(counter)
            found = known[1]
        else:
            found = self._of_counter(counter)
        if found is None:
            return None
        found = np.where(self.ended, 0, found)
        if self.parts is not None:
            rows, wholes = self.parts
            if codes is not None:  # a part on another counter is not released on that of the whole
                alike = codes[rows] == codes[wholes]
                rows, wholes = rows[alike], wholes[alike]
            np.add.at(found, wholes, found[rows])
        return found

    def _of_counter(self, counter: CounterKey) -> Ints | None:
        if counter not in self.by_counter:
            return None
        found = np.zeros(len(self.ended), np.int64)
        rows, amounts = self.by_counter[counter]
        found[rows] = amounts
        return found

    def _of_grouping(self, grouping: Grouping) -> Ints | None:
        found = np.zeros(len(self.ended), np.int64)
        for code, key in enumerate(grouping.keys):
            if key in self.by_counter:
                rows, amounts = self.by_counter[key]
                own = grouping.codes[rows] == code
                found[rows[own]] = amounts[own]
        return found if found.any() else None


#: No machine has as much: where no limit refuses it, it is counted as that, so that few jobs cannot fill a counter.
_MOST = 1 << 50


@attrs.frozen(eq=False, slots=False)
class Charges:
    """The charges of one mode, on the counters of the plugins that declared them.

    :param declared_sums: of all requests that a plugin does not tell apart; so are ``declared_keys``.
    :param request: one of them, whose amounts and applications are charged; None if they are as declared.
    :param of_alike: those of all of these requests.
    """

    declared_sums: tuple[Attributed[Charge], ...]
    declared_keys: tuple[Attributed[KeyCharge], ...]
    request: Request | None = None
    of_alike: Charges | None = None

    @classmethod
    def of(cls, records: Sequence[Attributed[Charge | KeyCharge]], *, enforcing: bool) -> Charges:
        """Return the charges that enforce, or the others."""
        enforce = Mode.ENFORCE
        sums: list[Attributed[Charge]] = []
        keys: list[Attributed[KeyCharge]] = []
        for each in records:
            record = each.record
            if (quota_of(each).mode is enforce) is not enforcing:
                continue
            if isinstance(record, Charge):
                sums.append(_owned(each, record))
            else:
                keys.append(_owned_keys(each, record))
        return cls(tuple(sums), tuple(keys))

    def __len__(self) -> int:
        return len(self.declared_sums) + len(self.declared_keys)

    def of_request(self, request: Request) -> Charges:
        """Return the charges of one of alike requests: with its amounts, and its applications as keys."""
        return (
            Charges(self.declared_sums, self.declared_keys, request, self)
            if self._depends_on_request
            else self
        )

    @cached_property
    def sums(self) -> tuple[Attributed[Charge], ...]:
        """What a match adds to sums."""
        if self.request is None:
            return self.declared_sums
        resources = self.request.resources
        return tuple([_requested(each, resources) for each in self.declared_sums])

    @cached_property
    def keys(self) -> tuple[Attributed[KeyCharge], ...]:
        """What matches add to sets of keys."""
        if self.request is None:
            return self.declared_keys
        names = self.request.applications
        return tuple(
            [
                each._replace(
                    record=KeyCharge(each.record.counter, names, each.record.limit, each.record.label)
                )
                if type(each.record.keys) is ApplicationKeys
                else each
                for each in self.declared_keys
            ]
        )

    @cached_property
    def _depends_on_request(self) -> bool:
        amounts = any(type(each.record) is RequestedCharge for each in self.declared_sums)
        return amounts or any(type(each.record.keys) is ApplicationKeys for each in self.declared_keys)

    @cached_property
    def is_uniform(self) -> bool:
        """True if a quota that refuses one slot refuses all, so that only the best slots need to be examined."""
        if self.of_alike is not None:
            return self.of_alike.is_uniform
        for each in self.declared_sums:
            record = each.record
            amount, limit = record.amount, record.limit
            if type(record.counter) is Grouping or isinstance(limit, np.ndarray):
                return False
            if limit is not None and isinstance(amount, np.ndarray):
                return False
        return True

    def admit(self, ledger: Ledger, rows: Rows, copies: int, mode: Mode) -> Admission:
        """Return which rows and copies fit; nothing is charged."""
        alike = self.alike(ledger, mode)
        found = None if alike is None else admit_alike(alike, *self._amounts, rows, copies)
        if found is not None:
            return found
        sums, keys = [each.record for each in self.sums], [each.record for each in self.keys]
        return ledger.admit(sums, keys, rows, copies, mode)

    def have_room(self, ledger: Ledger, copies: int) -> bool:
        """True if it is certain that so many jobs fit, on any slots."""
        alike = self.alike(ledger, Mode.ENFORCE)
        return alike is not None and alike.have_room(*self._amounts, copies)

    def known_refusals(self, ledger: Ledger, copies: int) -> KnownRefusals | None:
        """Return what is refused in any order of candidates; None if that is not certain."""
        if self.have_room(ledger, copies):
            return None
        sums, keys = [each.record for each in self.sums], [each.record for each in self.keys]
        return ledger.known_refusals(sums, keys, copies)

    def alike(self, ledger: Ledger, mode: Mode) -> AlikeCharges | None:
        """Return the charges of all alike requests on the counters of a mode, if they are the same on every slot."""
        if self.of_alike is not None:
            return self.of_alike.alike(ledger, mode)
        counters = ledger.counters(mode)
        known = self._known.get(mode)
        if known is None or known[0] is not counters:
            sums, keys = (
                [each.record for each in self.declared_sums],
                [each.record for each in self.declared_keys],
            )
            known = self._known[mode] = counters, AlikeCharges.of(counters, sums, keys)
        return known[1]

    @cached_property
    def _known(self) -> dict[Mode, tuple[Counters, AlikeCharges | None]]:
        return {}

    @cached_property
    def _amounts(self) -> tuple[Sequence[Any], Sequence[Sequence[str]]]:
        """The amount of each sum, and for each set the keys of the copies."""
        if self.request is None:
            return [each.record.amount for each in self.sums], [each.record.keys for each in self.keys]
        names, resources = self.request.applications, self.request.resources
        amounts = [_amount(each.record, resources) for each in self.declared_sums]
        keys = [each.record.keys for each in self.declared_keys]
        return amounts, [names if type(each) is ApplicationKeys else each for each in keys]

    def unlimited(self, copies: Rows | None = None) -> Charges:
        """Return the same without limits, for counting; with ``copies``, only for the jobs of these numbers."""
        sums = tuple(each._replace(record=attrs.evolve(each.record, limit=None)) for each in self.sums)
        shared: dict[int, Sequence[str]] = {}  # by identity: several charges may have one sequence of keys
        keys = []
        for each in self.keys:
            names = each.record.keys
            if copies is not None:
                names = shared.setdefault(id(names), [names[copy] for copy in copies.tolist()])
            keys.append(each._replace(record=attrs.evolve(each.record, limit=None, keys=names)))
        return Charges(sums, tuple(keys))

    def released(self, *, at_once: bool) -> Charges:
        """Return the charges that are released when a match ends the job that holds them, or those of the next cycle."""
        return Charges(
            tuple(each for each in self.sums if quota_of(each).held_through_cycle is not at_once),
            tuple(each for each in self.keys if quota_of(each).held_through_cycle is not at_once),
        )

    def net_of(self, held: HeldAmounts) -> Charges:
        """Return the charges less what the job of each slot holds on the same counters, at least 0."""
        sums = tuple(
            each._replace(record=_less(each.record, held.of(each.record.counter))) for each in self.sums
        )
        return Charges(sums, self.keys)

    def apart(self) -> Iterator[Charges]:
        """Yield each sum by itself, then the sets of keys together."""
        for each in self.sums:
            yield Charges((each,), ())
        if self.keys:
            yield Charges((), self.keys)

    def anywhere(self) -> Charges:
        """Return the same for a job on an unknown slot: amounts and limits that depend on the slot are the highest.

        A counter that only some slots charge is charged. If several counters are possible, charge none of them. The row of the
        slot is 0.
        """
        sums = []
        for each in self.sums:
            record = each.record
            amount, limit, counter = _highest(record.amount), record.limit, record.counter
            if isinstance(limit, np.ndarray):
                limit = _highest(limit) if len(limit) else None
            if isinstance(counter, Grouping):
                if len(counter.keys) != 1:
                    continue
                counter = Grouping(np.zeros(1, np.intp), counter.keys)
            changed = attrs.evolve(record, counter=counter, amount=amount, limit=limit)
            sums.append(each._replace(record=changed))
        return Charges(tuple(sums), self.keys)


def _less(charge: Charge, released: Ints | None) -> Charge:
    if released is None:
        return charge
    return attrs.evolve(charge, amount=np.maximum(np.asarray(charge.amount, np.int64) - released, 0))


def quota_of(attributed: Attributed[Any]) -> Quota:
    """Return the label of a charge, by which reasons name its quota."""
    label = attributed.record.label
    if not isinstance(label, Quota):
        raise TypeError("a charge without a Quota label: the guard accepts no other")
    return label


def _requested(attributed: Attributed[Charge], resources: Mapping[str, int]) -> Attributed[Charge]:
    """Return a charge with the amount that a request asks for."""
    record = attributed.record
    if not isinstance(record, RequestedCharge):
        return attributed
    amount = _amount(record, resources)
    return Attributed(
        Charge(record.counter, amount, record.limit, record.label, record.probes),
        attributed.plugin,
        attributed.version,
    )


def _amount(charge: Charge, resources: Mapping[str, int]) -> Any:
    """Return what a request is charged, one amount or one of each slot."""
    if type(charge) is not RequestedCharge:
        return charge.amount
    amount = resources.get(charge.resource, 0)
    return min(amount, _MOST) if charge.limit is None else amount


def _owned_keys(attributed: Attributed[Any], record: KeyCharge) -> Attributed[KeyCharge]:
    """Prefix the counter with the plugin's name, so that no plugin can charge those of another."""
    owner = attributed.plugin
    own = KeyCharge((owner, *record.counter), record.keys, record.limit, record.label)
    return Attributed(own, owner, attributed.version)


def _owned(attributed: Attributed[Any], record: Charge) -> Attributed[Charge]:
    """Prefix the counters with the plugin's name, so that no plugin can charge those of another."""
    owner, counter = attributed.plugin, record.counter
    own = counter.owned_by(owner) if isinstance(counter, Grouping) else (owner, *counter)
    if isinstance(record, RequestedCharge):
        return Attributed(attrs.evolve(record, counter=own), owner, attributed.version)
    amount = record.amount
    if record.limit is None and isinstance(amount, int):
        amount = min(amount, _MOST)
    # Field by field: there are several charges for each request, and attrs.evolve takes longer.
    charge = Charge(own, amount, record.limit, record.label, record.probes)
    return Attributed(charge, owner, attributed.version)


def _highest(amount: object) -> int:
    return int(amount.max(initial=0)) if isinstance(amount, np.ndarray) else int(str(amount))


#: The most characters of a counter's name in a reason.
_MAX_SHOWN = 300


def exceeded_reason(attributed: Attributed[Charge], rows: Rows, counters: Counters) -> Reason:
    """Return why a charge does not fit on some slots; of several counters that of the first slot, and how many more there are."""
    charge, quota = attributed.record, quota_of(attributed)
    amount, limit = _common_value(charge.amount, rows), _common_value(charge.limit, rows)
    if not isinstance(charge.counter, Grouping):
        return quota_reason(attributed, quota, amount, counters.used(charge.counter), limit)
    codes, keys = charge.counter.codes[rows], charge.counter.keys
    seen = np.zeros(len(keys), np.bool_)
    seen[codes] = True
    key, more = keys[int(codes[0])], int(np.count_nonzero(seen)) - 1
    text = quota.text
    if quota.text_after is not None:
        text = f"{text}{_shown(key[-1])}{quota.text_after}{f' and {more} more' if more else ''}"
    return quota_reason(attributed, quota, amount, None if more else counters.used(key), limit, text)


def keys_exceeded_reason(attributed: Attributed[KeyCharge], counters: Counters) -> Reason:
    """Return why one more key does not fit into a set."""
    record = attributed.record
    return quota_reason(attributed, quota_of(attributed), 1, counters.used(record.counter), record.limit)


class QuotaInUse(NamedTuple):
    """The quota of a charge that is in use; ``by_member``: its counter is one of many, such as one for each host."""

    quota: Attributed[Quota]
    by_member: bool

    @classmethod
    def of(cls, attributed: Attributed[Charge] | Attributed[KeyCharge]) -> QuotaInUse:
        """Return the quota of a charge, without its columns."""
        quota = Attributed(quota_of(attributed), attributed.plugin, attributed.version)
        return cls(quota, isinstance(attributed.record.counter, Grouping))


def exceeded_limits(exceeded: Iterable[ExceededCounter]) -> tuple[Overrun, ...]:
    """Return the limits that are exceeded, the most exceeded ones first; labels are each a ``QuotaInUse``."""
    ranked = sorted(exceeded, key=lambda each: -each.used / each.limit if each.limit else -math.inf)
    return tuple(map(_exceeded_limit, ranked))


def _exceeded_limit(exceeded: ExceededCounter) -> Overrun:
    label = exceeded.label
    if not isinstance(label, QuotaInUse):
        raise TypeError("a limit in use without its quota")
    quota = label.quota.record
    subject = _subject(quota, exceeded.counter[-1] if label.by_member else "")
    reason = quota_reason(label.quota, quota, None, exceeded.used, exceeded.limit, subject)
    used, limit = scaled(quota, exceeded.used), scaled(quota, exceeded.limit)
    return Overrun(
        reason=reason,
        subject=subject,
        since=0.0,
        resource=quota.resource,
        used=used,
        limit=limit,
        counter=exceeded.counter[1:],
    )


def _subject(quota: Quota, member: str) -> str:
    """Return whose usage a quota limits; ``member`` is the name of the counter among many, empty for none."""
    if member and not quota.subject and quota.text_after is not None:
        return f"{quota.text}{_shown(member)}{quota.text_after}"
    return " ".join(filter(None, (quota.subject or quota.text, _shown(member))))


def _shown(name: str) -> str:
    """Return a part of a counter's key, which plugins copy from ads."""
    return printable(name[:_MAX_SHOWN])


def _common_value(value: int | Ints | None, rows: Rows) -> int | None:
    """Return a value of a charge on some slots; None where it differs between them."""
    if not isinstance(value, np.ndarray):
        return value
    values = value[rows]
    return int(values[0]) if len(values) and (values == values[0]).all() else None
