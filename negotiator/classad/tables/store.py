"""The storage of a table: ads as given, or columns of codes of a dictionary.

The first costs nothing until an attribute is read, and suits a few ads. A pool of a hundred thousand ads is read into the
second: no ad is stored, only the code of each of its attributes. Many ads with the same names are read by columns.
"""

from __future__ import annotations

from itertools import islice, pairwise
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.scalar import Ad
from negotiator.classad.syntax import ClassAdError, fold
from negotiator.classad.tables.attribute_codes import CodeColumn, EncodedAttribute, encode
from negotiator.classad.tables.column import StringPool
from negotiator.classad.tables.dictionary import (
    AdDictionary,
    AdLayout,
    Row,
    RowExpressions,
    codes_of,
    pack_row,
)
from negotiator.classad.tables.distinct_values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from negotiator.classad.syntax import Expr
    from negotiator.classad.tables.column import IndexArray

_BLOCK = 4096
"""Rows that are turned into columns at a time, so that they fit into a processor's cache."""

_EMPTY = np.zeros(0, np.int64)


@attrs.frozen(eq=False)
class AlikeRows:
    """Ads with the same names: for each attribute of the layout its codes, (N,), or () if all ads have the same."""

    dictionary: AdDictionary
    layout: AdLayout
    codes: tuple[NDArray[np.int32], ...]
    size: int

    def __len__(self) -> int:
        return self.size

    def row(self, place: int) -> Row:
        """Return one ad as a row."""
        codes = [int(codes[place]) if codes.ndim else int(codes) for codes in self.codes]
        return pack_row(self.layout.spellings, np.array(codes, np.int64))

    def ad(self, place: int) -> Ad:
        """Return one ad."""
        return self.dictionary.ad(self.row(place))

    def take(self, rows: IndexArray) -> Self:
        """Return these rows."""
        codes = tuple([codes[rows] if codes.ndim else codes for codes in self.codes])
        return attrs.evolve(self, codes=codes, size=len(rows))

    def column(self, name: str) -> NDArray[np.int32] | None:
        """Return the codes of an attribute, (N,) or (); None if the ads do not have it."""
        place = self.layout.shape.index.get(fold(name))
        return None if place is None else self.codes[place]

    def strings(self, name: str) -> list[str]:
        """Return the value of an attribute in each ad that is written as a string; "" for all others."""
        codes = self.column(name)
        if codes is None:
            return [""] * self.size
        entries = self.dictionary.entries[fold(name)]
        if codes.ndim:
            return entries.strings(codes)
        return entries.strings(codes.reshape(1)) * self.size

    def first_strings(self, *names: str) -> list[str]:
        """Return for each ad the first of these attributes that is a string other than "", "" if none is."""
        texts = self.strings(names[0])
        if len(names) == 1 or all(texts):
            return texts
        others = self.first_strings(*names[1:])
        return [text or other for text, other in zip(texts, others, strict=True)]

    def integers(self, name: str) -> tuple[IndexArray, NDArray[np.bool_]]:
        """Return the value of an attribute in each ad that is written as an integer, (N,), and which ads have one."""
        codes = self.column(name)
        if codes is None:
            return np.zeros(self.size, np.int64), np.zeros(self.size, np.bool_)
        values, valid = self.dictionary.entries[fold(name)].integers(np.atleast_1d(codes))
        return np.broadcast_to(values, (self.size,)), np.broadcast_to(valid, (self.size,))


RowPart: TypeAlias = "AlikeRows | Sequence[tuple[AdLayout, Row]]"
"""Rows of a table, by columns or one by one."""


class Store(Protocol):
    """The interface of a table's storage."""

    @property
    def pool(self) -> StringPool:
        """The strings of the columns, by code."""

    @property
    def version(self) -> int:
        """How often rows were replaced."""

    def __len__(self) -> int:
        """Return the number of ads."""

    def ad(self, row: int) -> Ad:
        """Return an ad."""

    def encoded(self, name: str) -> EncodedAttribute:
        """Return an attribute of all ads; the name is in lower case."""

    def names(self, rows: IndexArray | None) -> frozenset[str]:
        """Return the names in lower case of the attributes that any ad of these rows has."""


class AdStore:
    """Ads as given; an attribute is encoded when it is first read."""

    __slots__ = ("_ads", "_encoded", "pool", "version")

    def __init__(self, ads: Sequence[Ad]) -> None:
        self.pool = StringPool()
        self.version = 0
        self._ads = tuple(ads)
        self._encoded: dict[str, EncodedAttribute] = {}

    def __len__(self) -> int:
        return len(self._ads)

    def ad(self, row: int) -> Ad:
        """Return an ad."""
        return self._ads[row]

    def encoded(self, name: str) -> EncodedAttribute:
        """Return an attribute of all ads."""
        encoded = self._encoded.get(name)
        if encoded is None:
            encoded = self._encoded[name] = encode([ad.folded(name) for ad in self._ads], self.pool)
        return encoded

    def names(self, rows: IndexArray | None) -> frozenset[str]:
        """Return the names of the attributes that any ad of these rows has."""
        ads = self._ads if rows is None else [self._ads[row] for row in rows.tolist()]
        shapes = {id(ad.shape): ad.shape for ad in ads}
        return frozenset().union(*[shape.index for shape in shapes.values()])


class RowStore:
    """Ads as columns of codes of a dictionary, one column for each attribute."""

    __slots__ = (
        *("_absent", "_codes", "_layout_of_row", "_layouts", "_numbers", "_size"),
        *("dictionary", "pool", "version"),
    )

    def __init__(self, dictionary: AdDictionary) -> None:
        self.dictionary = dictionary
        self.pool = dictionary.pool
        self.version = 0
        """How often rows were replaced: ads and tables taken before are stale."""
        self._size = 0
        self._layouts: list[AdLayout] = []
        self._numbers: dict[int, int] = {}  # of the layouts, by identity
        self._layout_of_row = np.zeros(0, np.int32)
        self._codes: dict[str, CodeColumn] = {}
        self._absent = encode([None], self.pool)  # of every name that no ad has

    @classmethod
    def of_columns(
        cls,
        dictionary: AdDictionary,
        layouts: Sequence[AdLayout],
        layout_of_row: NDArray[np.int64],
        columns: Mapping[str, tuple[IndexArray, NDArray[np.int32]]],
    ) -> RowStore:
        """Return a store of these columns: for each attribute the rows that have it, and their entries."""
        store = cls(dictionary)
        store._size = len(layout_of_row)
        numbers = np.array([store._number(layout) for layout in layouts], np.int32)
        store._layout_of_row = numbers[layout_of_row] if store._size else store._layout_of_row
        for name, (rows, codes) in columns.items():
            store._column(name).put(rows, codes, store._size)
        return store

    def take(self, rows: IndexArray) -> RowStore:
        """Return a store of copies of these rows."""
        columns = {}
        for name, column in self._codes.items():
            codes = np.broadcast_to(column.read(self._size), self._size)[rows]
            present = np.flatnonzero(codes != ABSENT)
            columns[name] = present, codes[present]
        return self.of_columns(
            self.dictionary, self._layouts, self._layout_of_row[rows].astype(np.int64), columns
        )

    def layouts(self) -> tuple[IndexArray, list[AdLayout]]:
        """Return the number of each row's layout, and the layouts by number."""
        return self._layout_of_row.astype(np.int64), self._layouts

    def __len__(self) -> int:
        return self._size

    def ad(self, row: int) -> Ad:
        """Return an ad, which reads its expressions from this store on demand."""
        place = range(self._size)[row]
        layout = self._layouts[self._layout_of_row[place]]
        return Ad.of(layout.shape, _StoredExpressions(self, layout, place))

    def encoded(self, name: str) -> EncodedAttribute:
        """Return an attribute of all ads."""
        codes = self._codes.get(name)
        if codes is None:
            return self._absent
        return EncodedAttribute(codes.read(self._size), self.dictionary.entries[name], self.pool)

    def code(self, name: str, row: int) -> int:
        """Return the code of an attribute of an ad."""
        return self._codes[name].code(row)

    def names(self, rows: IndexArray | None) -> frozenset[str]:
        """Return the names of the attributes that any ad of these rows has."""
        found = np.unique(self._layout_of_row if rows is None else self._layout_of_row[rows])
        return frozenset(name for number in found.tolist() for name in self._layouts[number].attributes)

    def append(self, rows: Iterable[tuple[AdLayout, Row]]) -> None:
        """Add rows at the end, block by block, so that not all of them must be in memory."""
        waiting = iter(rows)
        layout_of_row = [self._layout_of_row]
        while added := list(islice(waiting, _BLOCK)):
            places = np.arange(self._size, self._size + len(added))
            self._size += len(added)
            layout_of_row.append(self._put(places, added))
        self._layout_of_row = np.concatenate(layout_of_row)

    def append_parts(self, parts: Sequence[tuple[IndexArray, RowPart]]) -> None:
        """Add rows at the end: each part with the places of its rows among those that are added, counted from 0."""
        base = self._size
        self._size += sum(len(places) for places, _ in parts)
        added = np.zeros(self._size - base, np.int32)
        for places, part in parts:
            rows = places + base
            added[places] = (
                self._put_alike(rows, part) if isinstance(part, AlikeRows) else self._put(rows, part)
            )
        self._layout_of_row = np.concatenate((self._layout_of_row, added))

    def replace(self, places: IndexArray, rows: Sequence[tuple[AdLayout, Row]]) -> None:
        """Replace the rows at these indices; of two rows for one index the last one counts."""
        self.version += 1
        latest = {place: number for number, place in enumerate(places.tolist())}
        places = np.array(list(latest), np.int64)
        before = self._layout_of_row[places]
        after = self._put(places, [rows[number] for number in latest.values()])
        for name, lost in self._lost(before, after).items():
            self._codes[name].drop(places[np.concatenate(lost)], self._size)
        self._layout_of_row[places] = after

    def set_attribute(self, name: str, of_row: IndexArray, values: Sequence[Expr | None]) -> None:
        """Replace one attribute of all ads, in place.

        :param of_row: the place in ``values`` of each row's value, (N,); None for ads without the attribute.
        """
        spelling = self.dictionary.spelling(name)
        if spelling is None:
            return
        self.version += 1
        codes = np.array(
            [ABSENT if each is None else spelling.entries.add(each) for each in values], np.int32
        )
        present = (codes != ABSENT)[of_row]
        changes, change = np.unique(self._layout_of_row * np.int64(2) + present, return_inverse=True)
        found = [self._number(self._with_or_without(name, *divmod(each, 2))) for each in changes.tolist()]
        self._layout_of_row = np.array(found, np.int32)[change.reshape(-1)]
        self._codes[fold(name)] = CodeColumn()
        self._codes[fold(name)].put(np.flatnonzero(present), codes[of_row][present], self._size)

    def _with_or_without(self, name: str, layout: int, has: int) -> AdLayout:
        """Return a layout with or without a name."""
        found = self._layouts[layout]
        if (fold(name) in found.shape.index) == bool(has):
            return found
        names = found.names(self.dictionary)
        if has:
            return self.dictionary.layout((*names, name))
        return self.dictionary.layout(tuple(each for each in names if fold(each) != fold(name)))

    def _lost(self, before: NDArray[np.int32], after: NDArray[np.int32]) -> dict[str, list[IndexArray]]:
        """Return the attributes that rows lose, and which rows, given their layouts before and after."""
        changes, change = np.unique(before * np.int64(len(self._layouts)) + after, return_inverse=True)
        alike = np.split(np.argsort(change, kind="stable"), np.cumsum(np.bincount(change))[:-1])
        lost: dict[str, list[IndexArray]] = {}
        for key, rows in zip(changes.tolist(), alike, strict=False):  # no change leaves one empty array
            old, new = (self._layouts[number].shape.index for number in divmod(key, len(self._layouts)))
            for name in old.keys() - new.keys():
                lost.setdefault(name, []).append(rows)
        return lost

    def _put(self, places: IndexArray, rows: Sequence[tuple[AdLayout, Row]]) -> NDArray[np.int32]:
        """Store the attributes of rows; return the number of each row's layout."""
        numbers = np.array([self._number(layout) for layout, _ in rows], np.int32)
        if len(rows) and bool((numbers == numbers[0]).all()):
            columns = np.ascontiguousarray(codes_of(np.stack([row for _, row in rows])).T)
            for name, column in zip(rows[0][0].attributes, columns, strict=True):
                self._column(name).put(places, column, self._size)
        else:
            self._put_unlike(places, rows)
        return numbers

    def _put_alike(self, places: IndexArray, rows: AlikeRows) -> NDArray[np.int32]:
        """Store the attributes of rows with the same names; return the number of their layout."""
        run = range(int(places[0]), int(places[-1]) + 1)
        are_consecutive = len(run) == len(places) and bool((np.diff(places) == 1).all())
        for name, codes in zip(rows.layout.attributes, rows.codes, strict=True):
            if are_consecutive and not codes.ndim:
                self._column(name).put_run(run, int(codes), self._size)
            else:
                self._column(name).put(places, np.broadcast_to(codes, len(rows)), self._size)
        return np.asarray(self._number(rows.layout), np.int32)

    def _put_unlike(self, places: IndexArray, rows: Sequence[tuple[AdLayout, Row]]) -> None:
        """Store rows of several layouts: their cells are sorted by attribute, so that each column is written once."""
        numbers: dict[str, int] = {}
        of_layout: dict[int, IndexArray] = {}
        for layout, _ in rows:
            if id(layout) not in of_layout:
                found = [numbers.setdefault(name, len(numbers)) for name in layout.attributes]
                of_layout[id(layout)] = np.array(found, np.int64)
        attribute = np.concatenate([_EMPTY, *(of_layout[id(layout)] for layout, _ in rows)])
        place = np.repeat(places, [len(row) for _, row in rows])
        entry = codes_of(np.concatenate([_EMPTY, *(row for _, row in rows)]))
        small = attribute.astype(np.min_scalar_type(len(numbers)))  # numbers of 16 bits are sorted faster
        order = np.argsort(small, kind="stable")
        bounds = np.cumsum(np.bincount(attribute, minlength=len(numbers))).tolist()
        for name, (start, stop) in zip(numbers, pairwise([0, *bounds]), strict=True):
            part = order[start:stop]
            self._column(name).put(place[part], entry[part], self._size)

    def _column(self, name: str) -> CodeColumn:
        return self._codes.setdefault(name, CodeColumn())

    def _number(self, layout: AdLayout) -> int:
        number = self._numbers.get(id(layout))
        if number is None:
            number = self._numbers[id(layout)] = len(self._layouts)
            self._layouts.append(layout)
        return number


class StaleError(ClassAdError, RuntimeError):
    """An ad or a table is used that was taken before rows were replaced."""

    def __init__(self) -> None:
        super().__init__("rows of the table were replaced since: take the ad or rows again")


class _StoredExpressions(RowExpressions):
    """The expressions of an ad in a store, each read on demand."""

    __slots__ = ("_place", "_store", "_version")

    def __init__(self, store: RowStore, layout: AdLayout, place: int) -> None:
        # Without super(): one ad is made for each match.
        self.dictionary = store.dictionary
        self.layout = layout
        self._known = None
        self._store = store
        self._place = place
        self._version = store.version

    def row(self) -> Row:
        """Return the row."""
        found = [self.code(place) for place in range(len(self))]
        return pack_row(self.layout.spellings, np.array(found, np.int64))

    def code(self, place: int) -> int:
        """Return the code of one of the expressions."""
        if self._version != self._store.version:
            raise StaleError
        return self._store.code(self.layout.attributes[place], self._place)
