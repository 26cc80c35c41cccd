"""Matches of earlier cycles that the pool does not show yet: use of their submitters, and part of what is divided.

condor_negotiator forgets them when its next cycle begins, and waits for startds instead (NEGOTIATOR_CYCLE_DELAY).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Self

import attrs
import numpy as np

from negotiator.plugin import Mask, OrderContext, Table
from negotiator_fairshare.accounts.use import UseCounter
from negotiator_fairshare.pie.slot_weights import WeightScale


@attrs.frozen(eq=False)
class PendingMatches:
    """The matches, each a submitter as written and its weight; ``left_out`` has their slots that take no part in the cycle.

    A slot weighs as much as in the cycle of its match. Several matches of one slot have an equal part of it. A match whose slot
    the pool does not have is left out, and so is one whose slot shows a claim.
    """

    matches: tuple[tuple[str, float], ...]
    left_out: Table

    @classmethod
    def of(
        cls, context: OrderContext, claimed: Mask, scale: WeightScale, name_of: Callable[[str], str]
    ) -> Self:
        """Read the matches of a cycle.

        :param claimed: the slots of the cycle that show a claim, (S,).
        :param name_of: returns the name of a submitter as written, of its name in lower case.
        """
        rows: list[int] = []
        submitters: list[str] = []
        outside: set[int] = set()
        for claims in context.in_use:
            if not claims.pending:
                continue
            for row, place in zip(claims.slot_rows.tolist(), claims.slots.tolist(), strict=True):
                if row < 0 or (place >= 0 and claimed[place]):
                    continue
                rows.append(row)
                submitters.append(name_of(claims.request.submitter))
                if place < 0:
                    outside.add(row)
        if not rows:
            return cls((), context.slots.take(np.zeros(0, np.intp)))
        ads = context.in_use[0].slot_ads
        weights, counts = scale.of(ads.take(np.array(rows, np.intp))).tolist(), Counter(rows)
        shares = (weight / counts[row] for row, weight in zip(rows, weights, strict=True))
        matches = tuple(zip(submitters, shares, strict=True))
        return cls(matches, ads.take(np.array(sorted(outside), np.intp)))

    def count(self, use: UseCounter) -> None:
        """Count the matches as use."""
        for submitter, weight in self.matches:
            use.add(submitter, weight)


def names_as_written(*names: Iterable[str]) -> Callable[[str], str]:
    """Return a function that returns the first of some names that is equal in lower case; without one, its argument."""
    found: dict[str, str] = {}
    for each in names:
        for name in each:
            found.setdefault(name.lower(), name)
    return lambda folded: found.get(folded, folded)
