"""The ads of one kind, each of which has a key, as rows of a table that grows while files are read."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

import attrs
import numpy as np

from negotiator.classad import Table
from negotiator.records import Source

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from negotiator.classad import Ad
    from negotiator.classad.tables import AdDictionary, AlikeRows, IndexArray
    from negotiator.pool.identity import AdKey


@attrs.frozen(eq=False)
class KeyedAds:
    """Ads of a file: their keys, their order among those that are added together, and where each begins, all (N,)."""

    ads: AlikeRows | Sequence[Ad]
    keys: Sequence[AdKey]
    order: IndexArray
    lines: IndexArray
    columns: IndexArray


class RepeatedKey(NamedTuple):
    """An ad whose key an earlier ad has; ``order`` is its own."""

    order: int
    key: AdKey
    source: Source
    earlier: Source


@attrs.frozen(eq=False)
class _AdPositions:
    """Where the ads of a file begin that are the rows of a table from ``row`` on."""

    row: int
    file: str
    lines: IndexArray
    columns: IndexArray

    def source(self, row: int) -> Source:
        place = row - self.row
        return Source(self.file, int(self.lines[place]), int(self.columns[place]))


class AdsOfKind:
    """The ads of one kind, in order of the first appearance of their keys.

    Of several ads with the same key the last one counts; the first one if ``first_counts``.
    """

    def __init__(self, dictionary: AdDictionary, *, first_counts: bool) -> None:
        self._table = Table.from_ads((), dictionary)
        self._first_counts = first_counts
        self._rows: dict[AdKey, int] = {}
        self._replaced: dict[int, int] = {}
        self._repeated: list[int] = []
        self._positions: list[_AdPositions] = []
        self._frozen: Table | None = None  # that of ``table``
        self._is_shared = False  # the table is that of an earlier reading
        self._carried = 0  # rows of an earlier reading, which an ad may replace without being repeated

    def continued(self, dictionary: AdDictionary, keys: Collection[AdKey]) -> AdsOfKind:
        """Return the ads that have one of these keys, for a later reading: an ad that is added takes the place of its earlier one.

        :param dictionary: that of these ads.
        """
        later = AdsOfKind(dictionary, first_counts=self._first_counts)
        rows = {key: self._replaced.get(row, row) for key, row in self._rows.items() if key in keys}
        if self._repeated or len(rows) < len(self._rows):
            later._table = self._table.copy_of(np.fromiter(rows.values(), np.int64, len(rows)))
        else:
            later._table, later._is_shared, later._frozen = self._table, True, self._frozen
        later._rows = {key: row for row, key in enumerate(rows)}
        later._carried = len(rows)
        unknown = np.zeros(len(rows), np.int64)
        later._positions.append(_AdPositions(0, "the cycle before", unknown, unknown))
        return later

    def taken_over(self) -> AdsOfKind:
        """Return the same ads for a later reading, to which more may be added; these must get no more."""
        self._is_shared = True
        return self

    @property
    def keys(self) -> Collection[AdKey]:
        """The keys of the ads that count, in the order of ``table``."""
        return self._rows.keys()

    def add(self, file: str, parts: Sequence[KeyedAds]) -> list[RepeatedKey]:
        """Add ads of a file; return those whose key an earlier ad has."""
        self._frozen = None
        if self._is_shared:
            self._table, self._is_shared = self._table.copy_of(np.arange(len(self._table))), False
        orders = np.concatenate([part.order for part in parts])
        order = np.argsort(orders, kind="stable")
        at = np.empty_like(order)
        at[order] = np.arange(len(order))
        ends = np.cumsum([len(part.order) for part in parts])
        self._table.append_parts(
            list(zip(np.split(at, ends[:-1]), [part.ads for part in parts], strict=True))
        )
        lines = np.concatenate([part.lines for part in parts])[order]
        columns = np.concatenate([part.columns for part in parts])[order]
        positions = _AdPositions(len(self._table) - len(order), file, lines, columns)
        self._positions.append(positions)
        keys = [key for part in parts for key in part.keys]
        if bool((np.diff(order) < 0).any()):
            keys = [keys[place] for place in order.tolist()]
        return self._enter(keys, positions, orders[order])

    def _enter(self, keys: list[AdKey], positions: _AdPositions, orders: IndexArray) -> list[RepeatedKey]:
        rows = range(positions.row, positions.row + len(keys))
        earlier = list(map(self._rows.setdefault, keys, rows))
        repeated = []
        for place in np.flatnonzero(np.array(earlier, np.int64) != rows).tolist():
            row, first = rows[place], earlier[place]
            if first >= self._carried or first in self._replaced:
                source = self._source(self._replaced.get(first, first))
                repeated.append(RepeatedKey(int(orders[place]), keys[place], positions.source(row), source))
            self._repeated.append(row)
            if not self._first_counts:
                self._replaced[first] = row
        return repeated

    def _source(self, row: int) -> Source:
        return self._positions[bisect_right(self._positions, row, key=lambda each: each.row) - 1].source(row)

    def table(self) -> Table:
        """Return the ads that count; the same table as long as no ad is added."""
        if self._frozen is None:
            table = self._table
            if self._repeated:
                rows = np.arange(len(table))
                rows[list(self._replaced)] = list(self._replaced.values())
                table = table.copy_of(np.delete(rows, self._repeated))
            self._frozen = table.frozen()
        return self._frozen
