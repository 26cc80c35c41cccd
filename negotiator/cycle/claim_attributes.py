"""The attributes that the ad of a claimed slot has of its claim: its startd writes them, not the job's user.

Source: HTCondor manual, Machine ClassAd Attributes (ConcurrencyLimits, PreemptingConcurrencyLimits).
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Ad, Table
from negotiator.cycle.numbering import Numbers, combined
from negotiator.ledger import Rows

#: What the claim holds, and what the claim that is about to preempt it will hold.
NAMES = ("ConcurrencyLimits", "PreemptingConcurrencyLimits")


@attrs.frozen(eq=False)
class ClaimAttributes:
    """The attributes of each slot's claim: texts by name, (S,), empty where there is none.

    Slots that are alike in them share a number, (S,): -1 for those without.
    """

    texts: tuple[NDArray[np.object_], ...]
    numbers: Numbers

    @classmethod
    def of(cls, slots: Table) -> ClaimAttributes:
        """Read the ads of slots."""
        texts = tuple(np.array([text or "" for text in slots.strings(name)], np.object_) for name in NAMES)
        present = np.logical_or.reduce([text.astype(np.bool_) for text in texts])
        return cls(texts, np.where(present, combined(*texts)[0], -1))

    def kinds(self, rows: Rows) -> Numbers:
        """Return a number for each job: jobs of one number have alike claims, (N,).

        :param rows: the slot of each job, -1 for none; of several jobs on one slot the first has its claim.
        """
        found = np.full(len(rows), -1, np.int64)
        first = _first_on_slot(rows)
        found[first] = self.numbers[rows[first]]
        return found

    def of_slot(self, row: int) -> Ad:
        """Return the attributes of a slot's claim."""
        pairs = zip(NAMES, (column[row] for column in self.texts), strict=True)
        return Ad([(name, text) for name, text in pairs if text])


def _first_on_slot(rows: Rows) -> NDArray[np.bool_]:
    """Return which jobs are the first on their slot, (N,)."""
    first = np.zeros(len(rows), np.bool_)
    first[np.unique(rows, return_index=True)[1]] = True
    return first & (rows >= 0)
