"""What the running jobs of slots hold on the counters of the ledger: a match that ends a job releases it."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import numpy as np

from negotiator.cycle.claim_receipts import ClaimReceipts
from negotiator.ledger import CounterKey, Grouping, Ints, Ledger, Rows


@attrs.frozen(eq=False)
class HeldAmounts:
    """The amounts of ``size`` slots on enforcing counters: for each counter some rows of slots, (K,), and their amounts."""

    size: int
    by_counter: Mapping[CounterKey, tuple[Rows, Ints]]
    _of_groupings: dict[int, tuple[Grouping, Ints | None]] = attrs.field(factory=dict, init=False)

    @classmethod
    def of_claims(cls, receipts: ClaimReceipts, ledger: Ledger, slots: Rows) -> HeldAmounts:
        """Return what the claims of some slots hold; ``slots`` (S,) are their rows in the pool."""
        found: dict[CounterKey, dict[int, int]] = {}
        places = {row: place for place, row in enumerate(slots.tolist())}
        for row, receipt in receipts.each():
            place = places.get(row)
            if place is None:
                continue
            for counter, amount in ledger.amounts(receipt):
                own = found.setdefault(counter, {})
                own[place] = own.get(place, 0) + amount
        return cls(
            len(slots),
            {
                counter: (np.array(list(own), np.intp), np.array(list(own.values()), np.int64))
                for counter, own in found.items()
            },
        )

    def of(self, counter: CounterKey | Grouping) -> Ints | None:
        """Return what each slot holds on its counter, (S,); None if none holds anything."""
        if isinstance(counter, Grouping):
            known = self._of_groupings.get(id(counter))
            if known is None:  # with the grouping itself, so that its identity stays its own
                known = self._of_groupings[id(counter)] = counter, self._of_grouping(counter)
            return known[1]
        if counter not in self.by_counter:
            return None
        rows, amounts = self.by_counter[counter]
        found = np.zeros(self.size, np.int64)
        found[rows] = amounts
        return found

    def _of_grouping(self, grouping: Grouping) -> Ints | None:
        found = np.zeros(self.size, np.int64)
        for code, key in enumerate(grouping.keys):
            if key in self.by_counter:
                rows, amounts = self.by_counter[key]
                own = grouping.codes[rows] == code
                found[rows[own]] = amounts[own]
        return found if found.any() else None
