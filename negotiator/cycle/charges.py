"""The charges that plugins declare for a request, ready for the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from negotiator.cycle.held_amounts import HeldAmounts
from negotiator.hooks.charges import Charge, Grouping, KeyCharge, Quota, RequestedCharge
from negotiator.hooks.manager import Attributed
from negotiator.hooks.records import Request
from negotiator.hooks.watched_request import ApplicationKeys
from negotiator.ledger import Admission, Ints, KnownRefusals, Ledger, Rows
from negotiator.records import Mode

#: No machine has as much: where no limit refuses it, it is counted as that, so that few jobs cannot fill a counter.
_MOST = 1 << 50


@attrs.frozen(eq=False, slots=False)
class Charges:
    """The charges of one mode, on the counters of the plugins that declared them."""

    sums: tuple[Attributed[Charge], ...]
    keys: tuple[Attributed[KeyCharge], ...]

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

    def of_request(self, request: Request) -> Charges:
        """Return the charges of one of alike requests: with its amounts, and its applications as keys."""
        if not self._depends_on_request:
            return self
        names, resources = request.applications, request.resources
        return Charges(
            tuple([_requested(each, resources) for each in self.sums]),
            tuple(
                [
                    each._replace(
                        record=KeyCharge(each.record.counter, names, each.record.limit, each.record.label)
                    )
                    if type(each.record.keys) is ApplicationKeys
                    else each
                    for each in self.keys
                ]
            ),
        )

    @cached_property
    def _depends_on_request(self) -> bool:
        amounts = any(type(each.record) is RequestedCharge for each in self.sums)
        return amounts or any(type(each.record.keys) is ApplicationKeys for each in self.keys)

    @cached_property
    def is_uniform(self) -> bool:
        """True if a quota that refuses one slot refuses all, so that only the best slots need to be examined."""
        for each in self.sums:
            record = each.record
            amount, limit = record.amount, record.limit
            if type(record.counter) is Grouping or isinstance(limit, np.ndarray):
                return False
            if limit is not None and isinstance(amount, np.ndarray):
                return False
        return True

    def admit(self, ledger: Ledger, rows: Rows, copies: int, mode: Mode) -> Admission:
        """Return which rows and copies fit; nothing is charged."""
        sums, keys = [each.record for each in self.sums], [each.record for each in self.keys]
        return ledger.admit(sums, keys, rows, copies, mode)

    def known_refusals(self, ledger: Ledger, copies: int) -> KnownRefusals | None:
        """Return what is refused in any order of candidates; None if that is not certain."""
        sums, keys = [each.record for each in self.sums], [each.record for each in self.keys]
        return ledger.known_refusals(sums, keys, copies)

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
    amount, limit = resources.get(record.resource, 0), record.limit
    amount = min(amount, _MOST) if limit is None else amount
    return Attributed(
        Charge(record.counter, amount, limit, record.label, record.probes),
        attributed.plugin,
        attributed.version,
    )


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
