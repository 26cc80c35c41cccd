"""Where the ads of a table are: given as ads, or as columns of the numbers of a dictionary.

The first costs nothing until an attribute is asked for, and is right for a few ads. The second is what a pool of a
hundred thousand is read into: no ad is kept, only which entry of the dictionary each of its attributes is.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from negotiator.classad.ad import ClassAd
from negotiator.classad.cells import Cells, encode
from negotiator.classad.column import StringPool
from negotiator.classad.dictionary import Dictionary, ExprsOfRow, Layout, Row, codes, packed
from negotiator.classad.entries import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from negotiator.classad.column import IndexArray
    from negotiator.classad.tree import Expr

_BLOCK = 4096
"""Rows that are turned into columns at a time: they fit into the cache of a processor."""


class Store(Protocol):
    """What a table asks of the place where its ads are."""

    pool: StringPool
    version: int

    def __len__(self) -> int:
        """Return the number of ads."""

    def ad(self, row: int) -> ClassAd:
        """Return an ad."""

    def cells(self, name: str) -> Cells:
        """Return an attribute, by its name in lower case, of all ads."""

    def names(self, rows: IndexArray | None) -> frozenset[str]:
        """Return the names in lower case of the attributes that any ad of these rows has."""


class AdStore:
    """Ads as they were given; an attribute becomes cells when it is first asked for."""

    __slots__ = ("_ads", "_cells", "pool", "version")

    def __init__(self, ads: Sequence[ClassAd]) -> None:
        self.pool = StringPool()
        self.version = 0
        self._ads = tuple(ads)
        self._cells: dict[str, Cells] = {}

    def __len__(self) -> int:
        return len(self._ads)

    def ad(self, row: int) -> ClassAd:
        """Return an ad."""
        return self._ads[row]

    def cells(self, name: str) -> Cells:
        """Return an attribute of all ads."""
        cells = self._cells.get(name)
        if cells is None:
            cells = self._cells[name] = encode([ad.folded(name) for ad in self._ads], self.pool)
        return cells

    def names(self, rows: IndexArray | None) -> frozenset[str]:
        """Return the names of the attributes that any ad of these rows has."""
        ads = self._ads if rows is None else [self._ads[row] for row in rows.tolist()]
        shapes = {id(ad.shape): ad.shape for ad in ads}
        return frozenset(name for shape in shapes.values() for name in shape.index)


class RowStore:
    """Rows of a dictionary, as a column of codes an attribute."""

    __slots__ = ("_codes", "_layouts", "_numbers", "_of_row", "_size", "dictionary", "pool", "version")

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self.pool = dictionary.pool
        self.version = 0
        """How often rows were replaced: what was taken before is stale."""
        self._size = 0
        self._layouts: list[Layout] = []
        self._numbers: dict[int, int] = {}  # of the layouts, by identity
        self._of_row = np.zeros(0, np.int32)
        self._codes: dict[str, NDArray[np.int32]] = {}

    def __len__(self) -> int:
        return self._size

    def ad(self, row: int) -> ClassAd:
        """Return an ad, which reads its expressions from here when they are asked for."""
        place = range(self._size)[row]
        layout = self._layouts[self._of_row[place]]
        return ClassAd.of(layout.shape, _StoredAd(self, layout, place))

    def cells(self, name: str) -> Cells:
        """Return an attribute of all ads."""
        entries = self.dictionary.entries.get(name)
        stored = self._codes.get(name)
        if entries is None or stored is None:
            return encode([None], self.pool)
        return Cells(stored if stored.ndim == 0 else stored[: self._size], entries, self.pool)

    def code(self, name: str, row: int) -> int:
        """Return the entry that an attribute of an ad is."""
        stored = self._codes[name]
        return int(stored if stored.ndim == 0 else stored[row])

    def names(self, rows: IndexArray | None) -> frozenset[str]:
        """Return the names of the attributes that any ad of these rows has."""
        of_row = self._of_row[: self._size]
        found = np.unique(of_row if rows is None else of_row[rows])
        return frozenset(name for number in found.tolist() for name in self._layouts[number].attributes)

    def append(self, rows: Iterable[tuple[Layout, Row]]) -> None:
        """Add rows at the end, some at a time, so that they need not all be there at once."""
        waiting = iter(rows)
        while added := list(islice(waiting, _BLOCK)):
            start = self._size
            self._grow(start + len(added))
            self._size += len(added)
            self._put_all(np.arange(start, self._size), added)
            if start == 0:
                self._narrow()

    def replace(self, places: IndexArray, rows: Sequence[tuple[Layout, Row]]) -> None:
        """Put rows, one for each place, in the place of others; of two for one place the last stays."""
        self.version += 1
        latest = {place: number for number, place in enumerate(places.tolist())}
        self._put_all(np.array(list(latest), np.int64), [rows[number] for number in latest.values()])

    def packed(self) -> RowStore:
        """Return the same rows in a dictionary of their own, in which there is nothing that no row has."""
        store = RowStore(self.dictionary.empty())
        store._size = self._size
        store._of_row = self._of_row[: self._size].copy()
        for name, stored in self._codes.items():
            used = np.atleast_1d(stored)[: self._size]
            live, codes_now = np.unique(np.append(used, np.int32(ABSENT)), return_inverse=True)
            store.dictionary.entries[name] = self.dictionary.entries[name].only(live.astype(np.int64))
            codes_now = codes_now[:-1] if stored.ndim else codes_now[0]
            store._codes[name] = np.asarray(codes_now, np.int32)
        for layout in self._layouts:
            store._number(store.dictionary.layout(layout.shape.names))
        return store

    def _put_all(self, places: IndexArray, rows: Sequence[tuple[Layout, Row]]) -> None:
        by_layout: dict[int, list[int]] = {}
        for member, (layout, _) in enumerate(rows):
            by_layout.setdefault(self._number(layout), []).append(member)
        for number, members in by_layout.items():
            for start in range(0, len(members), _BLOCK):
                block = members[start : start + _BLOCK]
                columns = np.ascontiguousarray(codes(np.stack([rows[member][1] for member in block])).T)
                self._put(places[block], self._layouts[number], columns)
                self._of_row[places[block]] = number

    def _put(self, places: IndexArray, layout: Layout, columns: NDArray[np.int32]) -> None:
        for name, column in zip(layout.attributes, columns, strict=True):
            stored = self._codes.get(name, _NOWHERE)
            if stored.ndim or bool((column != stored).any()):
                self._wide(name, stored)[places] = column
        for name in self._codes.keys() - layout.shape.index.keys():
            stored = self._codes[name]
            if stored.ndim or stored != ABSENT:
                self._wide(name, stored)[places] = ABSENT

    def _wide(self, name: str, stored: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the codes of an attribute as an array with a place for each row."""
        if stored.ndim == 0:
            stored = self._codes[name] = np.full(len(self._of_row), stored, np.int32)
        return stored

    def _narrow(self) -> None:
        """Keep one number for an attribute that is the same in all ads: most are."""
        for name, stored in self._codes.items():
            if stored.ndim and self._size and bool((stored == stored[0]).all()):
                self._codes[name] = np.asarray(stored[0])

    def _grow(self, size: int) -> None:
        """Make room; a table that grows again and again gets some to spare."""
        if size > len(self._of_row):
            more = np.zeros(max(size, self._size * 3 // 2) - len(self._of_row), np.int32)
            self._of_row = np.concatenate((self._of_row, more))
            for name, stored in self._codes.items():
                if stored.ndim:
                    self._codes[name] = np.concatenate((stored, more))

    def _number(self, layout: Layout) -> int:
        number = self._numbers.get(id(layout))
        if number is None:
            number = self._numbers[id(layout)] = len(self._layouts)
            self._layouts.append(layout)
        return number


class StaleError(RuntimeError):
    """An ad or a table was used that was taken before rows were replaced."""

    def __init__(self) -> None:
        super().__init__("rows of the table were replaced since: take it from the table again")


class _StoredAd(ExprsOfRow):
    """The expressions of an ad in a store, each read when it is asked for."""

    __slots__ = ("_place", "_store", "_version")

    def __init__(self, store: RowStore, layout: Layout, place: int) -> None:
        super().__init__(store.dictionary, layout)
        self._store = store
        self._place = place
        self._version = store.version

    def row(self) -> Row:
        """Return the row."""
        found = [self._code(name) for name in self.layout.attributes]
        return packed(self.layout.spellings, np.array(found, np.int64))

    def expr(self, place: int) -> Expr:
        """Return one of the expressions."""
        name = self.layout.attributes[place]
        return self.dictionary.entries[name].require(self._code(name))

    def _code(self, name: str) -> int:
        if self._version != self._store.version:
            raise StaleError
        return self._store.code(name, self._place)


_NOWHERE = np.asarray(ABSENT, np.int32)
