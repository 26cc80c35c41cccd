"""The order of slots by ranks: all of them sorted once, or the best of some.

Ranks are arrays of shape (N,), a higher one is better; NaN ranks below every number, and ties keep the order of the rows.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.hooks.records import Mask

RankValues: TypeAlias = NDArray[np.float64]

#: Slots are sorted by ranks that so many requests have had: from then on it is cheaper than to choose among all.
_USES = 12
#: Different ranks that are counted: jobs may have any number.
_MAX_RANKS = 1024
_CHUNK = 256
#: So many slots are looked at before it is asked where those in question are.
_SCANNED = 8192
#: Slots that are gone are searched for once in so many choices.
_LOOKS = 16
_NO_ROWS = np.zeros(0, np.intp)
#: Combinations of ranks by which all slots are sorted; each takes four bytes for each slot.
_MAX_SORTED = 64
_MAX_LEVELS = np.iinfo(np.uint16).max


@attrs.frozen(eq=False)
class PoolOrder:
    """All slots in the pool's own order: their rows, best first, and how much each rank is below the best, (N,)."""

    rows: NDArray[np.intp]
    behind: RankValues  # ascending

    @classmethod
    def of(cls, ranks: RankValues) -> PoolOrder:
        """Sort all slots by the pool's rank of each, (N,)."""
        behind = -_comparable(ranks)
        rows = np.argsort(behind, kind="stable")
        return cls(rows, behind[rows])

    @property
    def nbytes(self) -> int:
        """Its memory in bytes."""
        return self.rows.nbytes + self.behind.nbytes

    @property
    def ranks(self) -> RankValues:
        """The pool's rank of each slot, (N,)."""
        found = np.empty_like(self.behind)
        found[self.rows] = -self.behind
        return found

    def best(self, among: Mask, ranks: tuple[RankValues, ...], count: int) -> NDArray[np.intp]:
        """Return the rows of the best, best first; slots with equal ranks of the pool go by ``ranks``, (N,) each.

        The pool's order is sorted already, so only the last level that is reached needs a choice: all slots above it
        are chosen, those on it compete by the job's Rank. What comes after it is not looked at.
        """
        places, first = self._reached(among, count)
        sure, tied = self.rows[places[:first]], self.rows[places[first:]]
        return np.concatenate(
            (
                self._in_order(sure, self.behind[places[:first]], ranks),
                tied[best(min(count - first, len(tied)), *(each[tied] for each in ranks))],
            )
        )

    def _reached(self, among: Mask, count: int) -> tuple[NDArray[np.intp], int]:
        """Return the places of the first ``count`` of some slots, with all on the level of the last one, and how many are above it."""
        found: list[NDArray[np.intp]] = []
        number, scanned = 0, 0
        while scanned < len(self.rows) and (number < count or count <= 0):
            end = len(self.rows) if count <= 0 else max(_CHUNK, 2 * count, 4 * scanned)
            found.append(scanned + np.flatnonzero(among[self.rows[scanned:end]]))
            number, scanned = number + len(found[-1]), min(end, len(self.rows))
        places = np.concatenate([_NO_ROWS, *found])
        if not 0 < count <= number:
            return places, number
        last = self.behind[places[count - 1]]
        start, end = self.behind.searchsorted(last), int(self.behind.searchsorted(last, side="right"))
        if end > scanned:
            places = np.concatenate((places, scanned + np.flatnonzero(among[self.rows[scanned:end]])))
        return places[: places.searchsorted(end)], int(places.searchsorted(start))

    def ahead(self, among: Mask, row: int, ranks: tuple[RankValues, ...]) -> NDArray[np.intp]:
        """Return the rows of some slots, (N,), that ``best`` puts before another slot, in any order."""
        behind = self.behind[_place(self.rows, row)]
        start, end = self.behind.searchsorted(behind), self.behind.searchsorted(behind, side="right")
        sure, tied = self.rows[:start], self.rows[start:end]
        sure, tied = sure[among[sure]], tied[among[tied]]
        return np.concatenate((sure, tied[is_better(tied, row, ranks)]))

    def sorted(self, ranks: tuple[RankValues, ...]) -> NDArray[np.intp]:
        """Return the rows of all slots, best first, as ``best`` orders them."""
        return self._in_order(self.rows, self.behind, ranks)

    @staticmethod
    def _in_order(
        rows: NDArray[np.intp], behind: RankValues, ranks: tuple[RankValues, ...]
    ) -> NDArray[np.intp]:
        """Sort rows that are in the pool's order by ``ranks`` within each of its levels; ties keep their order."""
        order = np.lexsort([-_comparable(each[rows]) for each in reversed(ranks)])
        levels = np.cumsum(np.append(False, behind[1:] != behind[:-1])[: len(behind)])
        if len(levels) and levels[-1] <= _MAX_LEVELS:
            levels = levels.astype(np.uint16)  # NumPy sorts these by radix, ten times as fast
        return np.asarray(rows[order[np.argsort(levels[order], kind="stable")]], np.intp)


@attrs.define(eq=False)
class SortedSlots:
    """All slots by one combination of ranks, best first: ``rows`` (N,). ``ranks`` are held so that they keep their identity.

    The best slots are taken first, so that those before ``start`` are gone, and the others moved behind it.
    """

    ranks: tuple[object, ...]
    rows: NDArray[np.int32]
    start: int = attrs.field(default=0, init=False)
    _looked_at: int = attrs.field(default=0, init=False)  # since slots that are gone were removed
    #: Where each slot is, (N,); those that move behind others do not change places with them.
    _places: NDArray[np.int32] | None = attrs.field(default=None, init=False)

    def first(self, among: Mask, count: int, taken: Mask | None = None) -> NDArray[np.intp]:
        """Return the rows of the best of some slots, best first; what comes after them is seldom looked at.

        :param taken: slots, (N,), that are in ``among`` neither now nor later; their number only grows.
        """
        found: list[NDArray[np.int32]] = [self.rows[:0]]
        start, size = self.start, max(_CHUNK, 2 * count)
        left, end = count, min(len(self.rows), start + _SCANNED)
        while left > 0 and start < end:
            part = self.rows[start : start + size]
            part = part[among[part]][:left]
            found.append(part)
            left -= len(part)
            start, size = start + size, 2 * size
        self._looked_at += start - self.start
        if taken is not None and self._looked_at > _LOOKS * (start - self.start):
            self._remove(taken, min(start, len(self.rows)))
        if left > 0 and start < len(self.rows):
            return self._by_place(np.flatnonzero(among), count)
        return np.concatenate(found).astype(np.intp)

    def _by_place(self, rows: NDArray[np.intp], count: int) -> NDArray[np.intp]:
        """Return the best of some slots, (K,), by where they are; few of them are among the best of all."""
        if self._places is None:
            self._places = np.zeros(len(self.rows), np.int32)
            self._places[self.rows[self.start :]] = np.arange(len(self.rows) - self.start, dtype=np.int32)
        places = self._places[rows]
        if count < len(rows):
            nearest = np.argpartition(places, count)[:count]
            rows, places = rows[nearest], places[nearest]
        return rows[np.argsort(places)]

    def _remove(self, taken: Mask, end: int) -> None:
        """Remove slots that are gone from those before ``end``."""
        looked_at = self.rows[self.start : end]
        left = looked_at[~taken[looked_at]]
        self.start, self._looked_at = end - len(left), 0
        self.rows[self.start : end] = left

    def ahead(self, among: Mask, row: int) -> NDArray[np.intp]:
        """Return the rows of some slots, (N,), that come before another one."""
        left = self.rows[self.start :]
        before = left[: _place(left, row)]
        return before[among[before]].astype(np.intp)


@attrs.define(eq=False)
class SortedByRanks:
    """The slots sorted by ranks that many requests have in common, found by the identity of cached ranks."""

    _known: dict[tuple[int, ...], SortedSlots] = attrs.field(factory=dict, init=False)
    _uses: dict[tuple[int, ...], tuple[int, tuple[object, ...]]] = attrs.field(factory=dict, init=False)

    def known(self, order: PoolOrder, *ranks: RankValues) -> SortedSlots | None:
        """Return all slots sorted by the pool's order and these ranks, (N,) each; None if they were not sorted yet."""
        return self._known.get((id(order), *map(id, ranks)))

    def of(self, order: PoolOrder, *ranks: RankValues, uses: int = 0) -> SortedSlots | None:
        """Return all slots sorted by the pool's order and these ranks, (N,) each; None for ranks that few requests have.

        :param uses: how many requests are known to have them.
        """
        key = id(order), *map(id, ranks)
        known = self._known.get(key)
        if known is not None:
            return known
        count = self._uses.get(key, (0, ()))[0] + 1
        if count < _USES and uses < _USES:
            if len(self._uses) < _MAX_RANKS or key in self._uses:
                self._uses[key] = count, (order, *ranks)  # held: an identity is not used again
            return None
        if len(self._known) >= _MAX_SORTED:
            return None
        rows = order.sorted(ranks).astype(np.int32)
        self._known[key] = found = SortedSlots((order, *ranks), rows)
        self._uses.pop(key, None)
        return found


def _comparable(ranks: RankValues) -> RankValues:
    """Put NaN below every number."""
    return np.where(np.isnan(ranks), -np.inf, ranks)


def is_better(rows: NDArray[np.intp], row: int, keys: tuple[RankValues, ...]) -> Mask:
    """Return which slots of some rows, (K,), ``best`` puts before another slot, by keys of all slots, (N,)."""
    better, tied = np.zeros(len(rows), np.bool_), np.ones(len(rows), np.bool_)
    for key in keys:
        values, other = _comparable(key[rows]), _comparable(key[[row]])
        better |= tied & (values > other)
        tied &= values == other
    return better | (tied & (rows < row))


def _place(rows: NDArray[np.integer[Any]], row: int) -> int:
    """Return the place of a row in a list that has it."""
    return int((rows == row).argmax())


def best(count: int, *keys: RankValues) -> NDArray[np.intp]:
    """Return the rows of the ``count`` best candidates, best first; ties keep the order of the rows.

    ``keys`` are arrays of shape (N,), the most significant first; NaN ranks below every number. Costs O(N) to choose
    and O(k log k) to sort the chosen ones; not all are sorted.
    """
    rows = np.arange(len(keys[0]), dtype=np.intp)
    ordered = [_comparable(key) for key in keys]
    sure: list[NDArray[np.intp]] = []
    # Key by key: rows above the threshold are chosen, those equal to it are decided by the next key.
    for key in ordered:
        left = count - sum(map(len, sure))
        if left >= len(rows):
            break
        values = key[rows]
        threshold = np.partition(values, len(values) - left)[len(values) - left] if left else np.inf
        sure.append(rows[values > threshold])
        rows = rows[values == threshold] if left else rows[:0]
    chosen = np.concatenate([*sure, rows[: count - sum(map(len, sure))]])
    return chosen[np.lexsort((chosen, *(-key[chosen] for key in reversed(ordered))))]
