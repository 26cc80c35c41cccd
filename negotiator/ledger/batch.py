"""What an admission charges, as columns: a hundred thousand matches are a few arrays."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from negotiator.ledger.keys import Ints, Mask
from negotiator.ledger.postings import Entry


@attrs.frozen(eq=False)
class PostingBatch:
    """The postings of ``size`` matches.

    ``columns`` are the places and amounts of one charge each, one integer or (size,); where a match is not charged, both
    are 0. ``sets`` are the places of sets of keys, ``members`` the keys of the matches, (size,) for each set.
    """

    size: int
    columns: Sequence[tuple[int | Ints, int | Ints]]
    sets: Sequence[int] = ()
    members: Sequence[Sequence[str]] = ()

    def entry(self, row: int) -> Entry:
        """The postings of one match."""
        places = [at if isinstance(at, int) else int(at[row]) for at, _ in self.columns]
        amounts = [amount if isinstance(amount, int) else int(amount[row]) for _, amount in self.columns]
        return places, amounts, self.sets, [members[row] for members in self.members]

    def add_to(self, used: Ints, rows: Mask | None = None) -> None:
        """Add the amounts of all rows, or of those in a mask, (size,), to sums by place.

        A sum that would be too large wraps around.
        """
        size = self.size if rows is None else int(rows.sum())
        for places, amounts in self.columns:
            at = places if isinstance(places, int) or rows is None else places[rows]
            amount = amounts if isinstance(amounts, int) or rows is None else amounts[rows]
            if isinstance(at, int):
                total = amount * size if isinstance(amount, int) else int(amount.sum())
                used[at] += total
            else:
                np.add.at(used, at, amount)
