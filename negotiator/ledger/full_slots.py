"""The slots whose counters are full, kept from request to request: a charge fills few counters, and only a release empties one."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from negotiator.ledger.grouping import Grouping
from negotiator.ledger.keys import Ints, Mask

#: The memory of all masks: 640 of them at 100,000 slots. The one that was used last is kept in any case.
_MOST_BYTES: Final = 1 << 26


@attrs.define(eq=False)
class _FullCounters:
    """The full counters of a grouping: ``known`` says it of each of its known codes, (m,); ``slots`` are theirs, (N,)."""

    known: Mask
    slots: Mask


class FullSlots:
    """Finds the slots whose counters are above an amount."""

    def __init__(self) -> None:
        # In the order of their last use. A grouping is held, so that its identity is not used again.
        self._found: dict[tuple[Grouping, int], _FullCounters] = {}
        self._nbytes = 0

    def above(self, most: int, grouping: Grouping, codes: Ints, sums: Ints) -> Mask:
        """Return the slots, (N,), of the counters that are above ``most``; do not change it, and read it before the next call.

        :param codes: the counters that were ever charged, (m,), distinct; at the next call perhaps more, after the same ones.
        :param sums: their sums, (m,).
        """
        full = sums > most
        found = self._found.pop((grouping, most), None)
        if found is None or np.any(found.known > full[: len(found.known)]):
            if found is not None:
                self._nbytes -= found.slots.nbytes
            found = _FullCounters(full[:0], np.zeros(len(grouping.codes), np.bool_))
            self._nbytes += found.slots.nbytes
        added = full.copy()
        added[: len(found.known)] &= ~found.known
        if added.any():
            found.slots[grouping.slots_of(codes[added])] = True
        found.known = full
        self._found[grouping, most] = found
        self._forget()
        return found.slots

    def _forget(self) -> None:
        """Forget those that were not used for longest, as far as they take too much memory."""
        while self._nbytes > _MOST_BYTES and len(self._found) > 1:
            self._nbytes -= self._found.pop(next(iter(self._found))).slots.nbytes
