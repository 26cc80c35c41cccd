"""Tables: many ads side by side, for evaluation by columns (DESIGN, decision 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.scalar import ClassAd
from negotiator.classad.syntax import Expr, ReferenceScan, fold
from negotiator.classad.tables.column import Column, IndexArray, StringPool
from negotiator.classad.tables.dictionary import AdDictionary
from negotiator.classad.tables.distinct_values import DistinctValues
from negotiator.classad.tables.encoded_attribute import EncodedAttribute
from negotiator.classad.tables.grouping import number
from negotiator.classad.tables.store import AdStore, RowStore, StaleError, Store
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

Rows: TypeAlias = NDArray[np.bool_] | NDArray[np.integer[Any]] | Sequence[int]
"""Rows of a table: their numbers, in the order wanted, or a mask of shape (N,)."""

RARE: Final = 16
"""An expression of fewer rows than this is cheaper evaluated row by row, if there are many of them."""


@attrs.frozen(eq=False)
class ExpressionRows:
    """The rows of a table whose attribute is one expression, as a table of their own; None: an expression each."""

    expr: Expr | None
    rows: IndexArray
    table: AttributeTable


class AttributeTable:
    """N ads, with each attribute as a column: for good, but for ``append`` and ``replace``.

    Rows count from 0. Names of attributes are taken in any case.
    """

    __slots__ = ("__weakref__", "_columns", "_parts", "_rows", "_scans", "_store", "_version")

    def __init__(self, store: Store, rows: IndexArray | None) -> None:
        self._store = store
        self._rows = rows
        self._version = store.version
        self._forget()

    def _forget(self) -> None:
        self._columns: dict[str, Column] = {}
        self._parts: dict[str, tuple[ExpressionRows, ...]] = {}
        self._scans: dict[str, tuple[ReferenceScan, ...]] = {}

    @classmethod
    def from_ads(cls, ads: Iterable[ClassAd], dictionary: AdDictionary | None = None) -> Self:
        """Return the table of these ads, one a row, in their order.

        With the ``dictionary`` of a pool the ads themselves are not kept, only which of its entries they are; those
        that were read with it become a table without a look at their values.
        """
        if dictionary is None:
            return cls(AdStore(tuple(ads)), None)
        store = RowStore(dictionary)
        store.append(map(dictionary.row, ads))
        return cls(store, None)

    def append(self, ads: Iterable[ClassAd]) -> None:
        """Add ads as rows at the end, in place; tables that were taken from this one keep the rows they have.

        For tables made with a dictionary (TypeError for others). Where the dictionary has no room for their names
        (``TooManyNamesError``), none of the ads is added.
        """
        store = self._own_rows()
        store.append(list(map(store.dictionary.row, ads)))
        self._forget()

    def replace(self, rows: Rows, ads: Sequence[ClassAd]) -> None:
        """Put other ads in the place of these rows, in place: one for each, the last of those for the same row.

        Tables and ads that were taken from this one before are stale: they keep what was asked of them already, and
        raise ``StaleError`` for anything else. For tables made with a dictionary (TypeError for others); IndexError
        where there is no such row, ValueError where there are not as many ads as rows, ``TooManyNamesError`` where the
        dictionary has no room for their names. Nothing is replaced then.
        """
        store = self._own_rows()
        places = self._places(rows)
        if len(places) != len(ads):
            raise ValueError(f"{len(ads)} ads for {len(places)} rows")
        store.replace(places, list(map(store.dictionary.row, ads)))
        self._version = store.version
        self._forget()

    def row_store(self, dictionary: AdDictionary) -> RowStore:
        """Return a store of these rows alone: the table's own, or one with copies of the ads in ``dictionary``."""
        if self._rows is None and isinstance(self._store, RowStore):
            return self._store
        store = RowStore(dictionary)
        store.append(map(dictionary.row, self.ads))
        return store

    def _own_rows(self) -> RowStore:
        if self._rows is not None or not isinstance(self._store, RowStore):
            raise TypeError("only a whole table made with a dictionary can be changed")
        return self._store

    def __len__(self) -> int:
        return len(self._store) if self._rows is None else len(self._rows)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} ads>"

    @property
    def pool(self) -> StringPool:
        """The strings of the columns of this table, by code."""
        return self._store.pool

    @property
    def ads(self) -> tuple[ClassAd, ...]:
        """The ads, row by row."""
        rows = range(len(self._store)) if self._rows is None else self._rows.tolist()
        return tuple([self._current().ad(row) for row in rows])

    def ad(self, row: int) -> ClassAd:
        """Return the ad of a row."""
        return self._current().ad(row if self._rows is None else int(self._rows[row]))

    def _current(self) -> Store:
        if self._version != self._store.version:
            raise StaleError
        return self._store

    def take(self, rows: Rows) -> Self:
        """Return the table of these rows: their numbers, in the order wanted, or a mask of shape (N,).

        It shares the cells with this one. Raises ``IndexError`` where there is no such row or the mask is of another
        length.
        """
        return type(self)(self._current(), self._places(rows))

    def _places(self, rows: Rows) -> IndexArray:
        """Return where rows of this table are in the store."""
        picked = np.asarray(rows)
        if picked.dtype != np.bool_:
            picked = picked.astype(np.int64)
        own = np.arange(len(self)) if self._rows is None else self._rows
        places: IndexArray = own[picked]
        return places

    def names(self) -> frozenset[str]:
        """Return the names, in lower case, of the attributes that any of the ads has."""
        return self._current().names(self._rows)

    def column(self, name: str) -> Column:
        """Return the cells of an attribute as they stand in the ads, nothing evaluated.

        A cell is ABSENT where the ad has no such attribute and EXPRESSION where it is no literal; a sign or
        parentheses around a literal belong to it.
        """
        key = fold(name)
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = self._cells(key).column(len(self))
        return column

    def parts(self, name: str) -> tuple[ExpressionRows, ...]:
        """Return the rows whose cell is an expression, those of one expression together.

        Where expressions are many and have few rows each, the rows of the rare ones come as one last part.
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
        groups = np.split(order, starts[1:]) if len(rows) else []
        rare = [group for group in groups if len(group) < RARE] if len(groups) > RARE else []
        common = [group for group in groups if len(group) >= RARE] if rare else groups
        parts = [self._part(entries.expr(int(codes[group[0]])), rows[group]) for group in common]
        if rare:
            parts.append(self._part(None, np.sort(rows[np.concatenate(rare)])))
        return parts

    def _part(self, expr: Expr | None, rows: IndexArray) -> ExpressionRows:
        return ExpressionRows(expr, rows, self if len(rows) == len(self) else self.take(rows))

    def has_expressions(self, name: str) -> bool:
        """Return whether the attribute is an expression, and no literal, in any of the ads."""
        key = fold(name)
        return self._cells(key).entries.may_be_expressions and self.column(key).has(Kind.EXPRESSION)

    def _expressions(self, key: str) -> IndexArray:
        """Return the rows in which an attribute is an expression."""
        return np.flatnonzero(np.broadcast_to(self.column(key).where(Kind.EXPRESSION), (len(self),)))

    def scans(self, name: str) -> tuple[ReferenceScan, ...]:
        """Return what the expressions that this attribute has in these rows name."""
        key = fold(name)
        scans = self._scans.get(key)
        if scans is None:
            scans = self._scans[key] = tuple(self._scanned(key)) if self.has_expressions(key) else ()
        return scans

    def _scanned(self, key: str) -> Iterator[ReferenceScan]:
        codes, entries = self._codes(key)
        return map(entries.scan, np.unique(codes[self._expressions(key)]).tolist())

    def group(self, names: Sequence[str]) -> tuple[IndexArray, IndexArray]:
        """Return groups of rows that are alike in all these attributes, numbered by first appearance.

        The first array, (N,), has the number of each row's group; the second, (G,), the first row of each group.
        Alike means the same kind and value (``1``, ``1.0``, ``true``, absent, undefined, ``"a"`` and ``"A"`` all
        differ), and for expressions the same text.
        """
        ids = np.zeros(len(self), np.int64)
        first = np.zeros(min(1, len(self)), np.int64)
        for name in names:
            codes, entries = self._codes(fold(name))
            if codes.strides != (0,):
                ids, first = number(ids * len(entries) + codes, len(first) * len(entries))
        return ids, first

    def _cells(self, key: str) -> EncodedAttribute:
        return self._current().cells(key).take(self._rows)

    def _codes(self, key: str) -> tuple[IndexArray, DistinctValues]:
        """Return for each row the number of its expression, the same where they are alike."""
        cells = self._cells(key)
        return np.broadcast_to(cells.alike(), (len(self),)), cells.entries
