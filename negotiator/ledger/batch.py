"""The charges of an admission, in columns: a hundred thousand matches are a few arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import attrs
import numpy as np

from negotiator.ledger.keys import Ints, Mask

#: The charges of one match: indexes of sums, their amounts, indexes of sets, the keys added to them.
MatchEntry: TypeAlias = tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[str]]


@attrs.frozen(eq=False)
class ChargeBatch:
    """The charges of ``size`` matches.

    ``columns`` has, for each charge, the indexes of sums and the amounts, one integer or (size,) each; both are 0 for a
    match that is not charged. ``sets`` are the indexes of sets of keys, ``members`` the keys added to each, (size,).
    """

    size: int
    columns: Sequence[tuple[int | Ints, int | Ints]]
    sets: Sequence[int] = ()
    members: Sequence[Sequence[str]] = ()

    def entry(self, row: int) -> MatchEntry:
        """Return the charges of one match."""
        sums = [at if isinstance(at, int) else int(at[row]) for at, _ in self.columns]
        amounts = [amount if isinstance(amount, int) else int(amount[row]) for _, amount in self.columns]
        return sums, amounts, self.sets, [members[row] for members in self.members]

    def add_to(self, used: Ints, rows: Mask | None = None) -> None:
        """Add the amounts of all rows, or of those in a mask, (size,), to the sums.

        A sum that grows too large wraps around.
        """
        size = self.size if rows is None else int(rows.sum())
        for sums, amounts in self.columns:
            at = sums if isinstance(sums, int) or rows is None else sums[rows]
            amount = amounts if isinstance(amounts, int) or rows is None else amounts[rows]
            if isinstance(at, int):
                total = amount * size if isinstance(amount, int) else int(amount.sum())
                used[at] += total
            else:
                # Not ``used[at] += amount``, which adds only once if several matches are charged on one sum.
                np.add.at(used, at, amount)
