"""What the running jobs of slots hold on the counters of the ledger: a match that ends a job releases it."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import numpy as np

from negotiator.cycle.claim_receipts import ClaimReceipts
from negotiator.hooks.records import Mask
from negotiator.ledger import CounterKey, Grouping, Ints, Ledger, Rows
from negotiator.records import Mode


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
