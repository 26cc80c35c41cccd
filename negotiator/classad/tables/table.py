"""Tables of ads: one row for each ad, one column for each attribute."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.scalar import Ad
from negotiator.classad.syntax import Expr, LiteralValue, ReferenceScan, fold
from negotiator.classad.tables.attribute_codes import EncodedAttribute
from negotiator.classad.tables.column import Column, IndexArray, StringPool
from negotiator.classad.tables.dictionary import AdDictionary
from negotiator.classad.tables.distinct_values import DistinctValues, number
from negotiator.classad.tables.overlay_store import (
    DerivedStore,
    IntegerValues,
    LimitedStore,
    OverlayStore,
    RepeatedStore,
    added_attribute,
    chosen,
)
from negotiator.classad.tables.store import AdStore, AlikeRows, RowStore, StaleError, Store
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Self

    from negotiator.classad.syntax import ReadLimit

RowSelection: TypeAlias = NDArray[np.bool_] | NDArray[np.integer[Any]] | Sequence[int]
"""Rows of a table: row numbers in any order, or a mask of shape (N,)."""

AttributeValues: TypeAlias = "str | IntegerValues | tuple[IndexArray, Sequence[Expr | LiteralValue | None]]"
"""An attribute of derived ads, see ``AttributeTable.derived``."""

RARE: Final = 16
"""An expression that fewer rows have is cheaper to evaluate row by row, if there are many such expressions."""


@attrs.frozen(eq=False)
class ExpressionRows:
    """The rows in which an attribute is one expression, as a table of their own; ``expr`` None: different expressions."""

    expr: Expr | None
    rows: IndexArray
    table: AttributeTable


class AttributeTable:
    """N ads, each attribute of which is a column. It changes by ``append`` and ``replace`` only.

    Rows count from 0. Names of attributes are not case-sensitive. Plugins get frozen tables, which can't be changed.
    """

    __slots__ = (
        "__weakref__",
        "_alone",
        "_columns",
        "_frozen",
        "_parts",
        "_rows",
        "_scans",
        "_size",
        "_store",
        "_version",
    )

    def __init__(self, store: Store, rows: IndexArray | None, frozen_size: int = -1) -> None:
        self._store = store
        self._rows = rows
        self._size = frozen_size  # of a frozen table of all rows, else -1
        self._version = store.version
        self._clear()

    def _clear(self) -> None:
        self._columns: dict[str, Column] = {}
        self._parts: dict[str, tuple[ExpressionRows, ...]] = {}
        self._scans: dict[str, tuple[ReferenceScan, ...]] = {}
        self._alone: dict[
            str, Column
        ] = {}  # values of attributes that were evaluated, of a small frozen table

    @classmethod
    def from_ads(cls, ads: Iterable[Ad], dictionary: AdDictionary | None = None) -> Self:
        """Return the table of these ads, one a row, in their order.

        With the ``dictionary`` of a pool the ads themselves are not stored, only their codes. Ads that were read with it
        become a table without a look at their values.
        """
        if dictionary is None:
            return cls(AdStore(tuple(ads)), None)
        store = RowStore(dictionary)
        store.append(map(dictionary.row, ads))
        return cls(store, None)

    def append(self, ads: Iterable[Ad]) -> None:
        """Add ads as rows at the end, in place; tables that were taken from this one keep their rows.

        :raises TypeError: the table was not made with a dictionary, or was taken from another one.
        :raises TooManyNamesError: the dictionary has no room for their names; no ad is added.
        """
        store = self._changeable_store()
        store.append(list(map(store.dictionary.row, ads)))
        self._clear()

    def append_parts(self, parts: Sequence[tuple[IndexArray, AlikeRows | Sequence[Ad]]]) -> None:
        """Add ads as rows like ``append``, in several parts: each has the places of its ads among those that are added.

        The places of all parts are together 0, 1, 2 and so on, each once. The ads are stored in the table's dictionary.
        """
        store = self._changeable_store()
        row = store.dictionary.row
        store.append_parts(
            [(at, ads if isinstance(ads, AlikeRows) else list(map(row, ads))) for at, ads in parts]
        )
        self._clear()

    def copy_of(self, rows: IndexArray) -> Self:
        """Return a table of these rows that shares no cells with this one and can be changed.

        :raises TypeError: the table was not made with a dictionary, or was taken from another one.
        """
        return type(self)(self._changeable_store().take(rows), None)

    def copies(self, rows: RowSelection) -> Self:
        """Return a table with copies of these rows, for ``with_attributes``: a row that is given twice becomes two ads."""
        return type(self)(RepeatedStore(self._current(), self._indices(rows)), None)

    def replace(self, rows: RowSelection, ads: Sequence[Ad]) -> None:
        """Replace these rows by other ads, in place: one ad for each, the last one for a row that is given twice.

        Tables and ads that were taken from this one before become stale: they return what they have computed already, and
        raise ``StaleError`` for anything else. If an error is raised, nothing is replaced.

        :raises TypeError: the table was not made with a dictionary, or was taken from another one.
        :raises IndexError: a row does not exist.
        :raises ValueError: there are not as many ads as rows.
        :raises TooManyNamesError: the dictionary has no room for their names.
        """
        store = self._changeable_store()
        indices = self._indices(rows)
        if len(indices) != len(ads):
            raise ValueError(f"{len(ads)} ads for {len(indices)} rows")
        store.replace(indices, list(map(store.dictionary.row, ads)))
        self._version = store.version
        self._clear()

    def frozen(self) -> Self:
        """Return a table of the same rows that can't be changed; the table itself if it is frozen.

        It becomes stale (see ``replace``) when rows of this table are replaced or appended.
        """
        if self._is_frozen:
            return self
        return type(self)(self._current(), None, len(self))

    def row_store(self, dictionary: AdDictionary) -> RowStore:
        """Return a store of these rows alone: the table's own, or one with copies of the ads.

        The ads of a table that was not read with a dictionary are stored in ``dictionary``.
        """
        current = self._current()
        if isinstance(current, OverlayStore):
            return current.row_store(self._rows, dictionary)
        if isinstance(current, RowStore):
            return current if self._rows is None else current.take(self._rows)
        store = RowStore(dictionary)
        store.append(map(dictionary.row, self.ads))
        return store

    @property
    def _is_frozen(self) -> bool:
        return self._rows is not None or self._size >= 0

    def _changeable_store(self) -> RowStore:
        if self._is_frozen or not isinstance(self._store, RowStore):
            raise TypeError("only a whole table made with a dictionary, and not frozen, can be changed")
        return self._store

    def __len__(self) -> int:
        if self._rows is not None:
            return len(self._rows)
        return len(self._store) if self._size < 0 else self._size

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} ads>"

    @property
    def pool(self) -> StringPool:
        """The strings of the columns of this table, by code."""
        return self._store.pool

    @property
    def ads(self) -> tuple[Ad, ...]:
        """The ads, row by row."""
        rows = range(len(self)) if self._rows is None else self._rows.tolist()
        return tuple(map(self._current().ad, rows))

    def ad(self, row: int) -> Ad:
        """Return the ad of a row."""
        return self._current().ad(row if self._rows is None else int(self._rows[row]))

    def _current(self) -> Store:
        if self._version != self._store.version or (self._size >= 0 and self._size != len(self._store)):
            raise StaleError
        return self._store

    def take(self, rows: RowSelection) -> Self:
        """Return the table of these rows, which shares its cells with this one; a frozen table itself for all of its rows in their order.

        :raises IndexError: a row does not exist, or the mask has another length.
        """
        current, indices = self._current(), self._indices(rows)
        own = np.arange(len(self)) if self._rows is None else self._rows
        if self._is_frozen and np.array_equal(indices, own):
            return self
        return type(self)(current, indices)

    def with_attributes(
        self, attributes: Mapping[str, tuple[IndexArray, Sequence[Expr | LiteralValue | None]]]
    ) -> Self:
        """Return a table of the same rows with further attributes, which replace those of the ads.

        :param attributes: by name, the place of each row's value, (N,), and the values; None for ads that get none.
        """
        store = self._current()
        added = {
            fold(name): added_attribute(store, name, codes, values, self._rows)
            for name, (codes, values) in attributes.items()
        }
        return type(self)(OverlayStore(store, added), self._rows, len(self) if self._rows is None else -1)

    def derived(self, rows: RowSelection, attributes: Mapping[str, AttributeValues]) -> Self:
        """Return a table of new ads, one for each of these rows, with these attributes and no others.

        :param attributes: by name, the name of an attribute of this table, whose expressions they have (a row without it has none);
            integers; or the place of each row's value, (N,), and the values, None for none, as ``with_attributes`` has them.
        """
        store, picked = self._current(), self._indices(rows)
        made: dict[str, tuple[str, EncodedAttribute]] = {}
        for name, given in attributes.items():
            if isinstance(given, str):
                found = store.encoded(fold(given)).take(picked)
            elif isinstance(given, IntegerValues):
                found = given.encoded(store.pool)
            else:
                found = chosen(*given, store.pool)
            made[fold(name)] = name, found
        return type(self)(DerivedStore(store, len(picked), made), None)

    def limited(self, limit: ReadLimit) -> Self:
        """Return a table of the same rows for a reader: it shows the names of the limit only; reading another is an error."""
        store = LimitedStore(self._current(), limit)
        return type(self)(store, self._rows, len(self) if self._rows is None else -1)

    def _indices(self, rows: RowSelection) -> IndexArray:
        """Return the indices in the store of rows of this table."""
        picked = np.asarray(rows)
        if picked.dtype != np.bool_:
            picked = picked.astype(np.int64)
            if self._rows is None:
                return _checked(picked, len(self))
        own = np.arange(len(self)) if self._rows is None else self._rows
        indices: IndexArray = own[picked]
        return indices

    def names(self) -> frozenset[str]:
        """Return the names, in lower case, of the attributes that any of the ads has."""
        return self._current().names(self._rows)

    def column(self, name: str) -> Column:
        """Return the cells of an attribute as written in the ads, without evaluation.

        A cell is ABSENT if the ad does not have the attribute, and EXPRESSION if it is not a literal. A literal may have a
        sign or be in parentheses.
        """
        key = fold(name)
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = self._encoded(key).column(len(self))
        return column

    def parts(self, name: str) -> tuple[ExpressionRows, ...]:
        """Return the rows whose cell is an expression, those with the same expression together, in the order of their first rows.

        If there are many expressions with few rows each, the rows of the rare ones are one last part.
        """
        key = fold(name)
        parts = self._parts.get(key)
        if parts is None:
            parts = self._parts[key] = tuple(self._split(key))
        return parts

    def _split(self, key: str) -> list[ExpressionRows]:
        rows = self._expressions(key)
        codes, entries = self._codes(key)
        codes = codes[rows]
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        # In the order of their first rows: codes are those of a dictionary, which differs from process to process.
        groups = sorted(np.split(order, starts[1:]), key=itemgetter(0)) if len(rows) else []
        rare = [group for group in groups if len(group) < RARE] if len(groups) > RARE else []
        common = [group for group in groups if len(group) >= RARE] if rare else groups
        parts = [self._part(entries.expr(int(codes[group[0]])), rows[group]) for group in common]
        if rare:
            parts.append(self._part(None, np.sort(rows[np.concatenate(rare)])))
        return parts

    def _part(self, expr: Expr | None, rows: IndexArray) -> ExpressionRows:
        return ExpressionRows(expr, rows, self if len(rows) == len(self) else self.take(rows))

    def expressions(self, name: str) -> list[Expr | None]:
        """Return an attribute of each ad, None for ads without it."""
        encoded = self._encoded(fold(name))
        codes: list[int] = np.broadcast_to(encoded.codes, (len(self),)).tolist()
        found = {code: encoded.entries.expr(code) for code in set(codes)}
        return [found[code] for code in codes]

    def has_expressions(self, name: str) -> bool:
        """True if the attribute is an expression other than a literal in any of the ads."""
        key = fold(name)
        return self._encoded(key).entries.may_be_expressions and self.column(key).has(Kind.EXPRESSION)

    def _expressions(self, key: str) -> IndexArray:
        """Return the rows in which an attribute is an expression."""
        return np.flatnonzero(np.broadcast_to(self.column(key).where(Kind.EXPRESSION), (len(self),)))

    def scans(self, name: str) -> tuple[ReferenceScan, ...]:
        """Return the references of the expressions that this attribute has in these rows."""
        key = fold(name)
        scans = self._scans.get(key)
        if scans is None:
            scans = self._scans[key] = tuple(self._scanned(key)) if self.has_expressions(key) else ()
        return scans

    def _scanned(self, key: str) -> Iterator[ReferenceScan]:
        codes, entries = self._codes(key)
        return map(entries.scan, np.unique(codes[self._expressions(key)]).tolist())

    def group(self, names: Sequence[str]) -> tuple[IndexArray, IndexArray]:
        """Return groups of rows that are equal in all these attributes, numbered by first appearance.

        The first array, (N,), has the number of each row's group; the second, (G,), the first row of each group.
        Equal means the same kind and value (``1``, ``1.0``, ``true``, absent, undefined, ``"a"`` and ``"A"`` all
        differ), and for expressions the same tree.
        """
        ids = np.zeros(len(self), np.int64)
        first = np.zeros(min(1, len(self)), np.int64)
        for name in names:
            codes, entries = self._codes(fold(name))
            if codes.strides != (0,):
                ids, first = number(ids * len(entries) + codes, len(first) * len(entries))
        return ids, first

    def group_expressions(self, names: Sequence[str]) -> tuple[IndexArray, IndexArray]:
        """Return groups of rows, as ``group``, that have the same expressions in all these attributes; constants are all alike."""
        ids = np.zeros(len(self), np.int64)
        first = np.zeros(min(1, len(self)), np.int64)
        for name in filter(self.has_expressions, names):
            codes, entries = self._codes(fold(name))
            own = np.where(self.column(name).where(Kind.EXPRESSION), codes + 1, 0)
            ids, first = number(ids * (len(entries) + 1) + own, len(first) * (len(entries) + 1))
        return ids, first

    def _encoded(self, key: str) -> EncodedAttribute:
        return self._current().encoded(key).take(self._rows)

    def _codes(self, key: str) -> tuple[IndexArray, DistinctValues]:
        """Return the canonical code of each row's expression, and the entries that the codes refer to."""
        encoded = self._encoded(key)
        return np.broadcast_to(encoded.canonical_codes(), (len(self),)), encoded.entries


def _checked(rows: IndexArray, size: int) -> IndexArray:
    """Return rows of a table of this size, counted from 0, without an array of all its rows.

    :raises IndexError: a row does not exist.
    """
    if not len(rows):
        return rows
    low, high = int(rows.min()), int(rows.max())
    if low < -size or high >= size:
        raise IndexError(f"rows {low} to {high} of a table of {size}")
    return rows if low >= 0 else rows % size
