"""Tables: many ads side by side, for evaluation by columns (DESIGN, decision 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.ad import ClassAd, fold
from negotiator.classad.cells import Cells, encode
from negotiator.classad.column import Column as Column
from negotiator.classad.column import IndexArray, StringPool, make
from negotiator.classad.columnar import evaluate_table
from negotiator.classad.footprint import Scan
from negotiator.classad.grouping import number
from negotiator.classad.tree import Attr, Expr
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

RARE: Final = 16
"""An expression of fewer rows than this is cheaper evaluated row by row, if there are many of them."""


@attrs.define(eq=False)
class _Store:
    """What a table and all tables taken from it share."""

    ads: tuple[ClassAd, ...]
    pool: StringPool = attrs.field(factory=StringPool)
    cells: dict[str, Cells] = attrs.field(factory=dict)


@attrs.frozen(eq=False)
class Part:
    """The rows of a table whose attribute is one expression, as a table of their own; None: an expression each."""

    expr: Expr | None
    rows: IndexArray
    table: Table


class Table:
    """N ads, with each attribute as a column. Immutable, but for what it computes when first asked.

    Rows count from 0. Names of attributes are taken in any case.
    """

    __slots__ = ("_columns", "_parts", "_rows", "_store")

    def __init__(self, store: _Store, rows: IndexArray | None) -> None:
        self._store = store
        self._rows = rows
        self._columns: dict[str, Column] = {}
        self._parts: dict[str, tuple[Part, ...]] = {}

    @classmethod
    def from_ads(cls, ads: Sequence[ClassAd]) -> Table:
        """Return the table of these ads, one a row, in their order."""
        return cls(_Store(tuple(ads)), None)

    def __len__(self) -> int:
        return len(self._store.ads) if self._rows is None else len(self._rows)

    def __repr__(self) -> str:
        return f"<Table of {len(self)} ads>"

    @property
    def pool(self) -> StringPool:
        """The strings of the columns of this table, by code."""
        return self._store.pool

    @property
    def ads(self) -> tuple[ClassAd, ...]:
        """The ads, row by row."""
        if self._rows is None:
            return self._store.ads
        return tuple([self._store.ads[row] for row in self._rows.tolist()])

    def ad(self, row: int) -> ClassAd:
        """Return the ad of a row."""
        return self._store.ads[row if self._rows is None else int(self._rows[row])]

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer[Any]] | Sequence[int]) -> Table:
        """Return the table of these rows: their numbers, in the order wanted, or a mask of shape (N,).

        It shares the cells with this one. Raises ``IndexError`` where there is no such row or the mask is of another
        length.
        """
        picked = np.asarray(rows)
        if picked.dtype != np.bool_:
            picked = picked.astype(np.int64)
        own = np.arange(len(self)) if self._rows is None else self._rows
        return Table(self._store, own[picked])

    def names(self) -> frozenset[str]:
        """Return the names, in lower case, of the attributes that any of the ads has."""
        shapes = {ad.names() for ad in self.ads}
        return frozenset(fold(name) for shape in shapes for name in shape)

    def column(self, name: str) -> Column:
        """Return the cells of an attribute as they stand in the ads, nothing evaluated.

        A cell is ABSENT where the ad has no such attribute and EXPRESSION where it is no literal; a sign or
        parentheses around a literal belong to it.
        """
        key = fold(name)
        column = self._columns.get(key)
        if column is None:
            cells = self._cells(key)
            if len(cells.distinct) == 1:
                column = _spread(cells.column, len(self))
            else:
                column = _narrowed(cells.column.take(self._codes(cells)))
            self._columns[key] = column
        return column

    def parts(self, name: str) -> tuple[Part, ...]:
        """Return the rows whose cell is an expression, those of one expression together.

        Where expressions are many and have few rows each, the rows of the rare ones come as one last part.
        """
        key = fold(name)
        parts = self._parts.get(key)
        if parts is None:
            parts = self._parts[key] = tuple(self._split(key))
        return parts

    def _split(self, key: str) -> list[Part]:
        cells = self._cells(key)
        rows = np.flatnonzero(np.broadcast_to(self.column(key).where(Kind.EXPRESSION), (len(self),)))
        codes = self._codes(cells)[rows]
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        groups = np.split(order, starts[1:]) if len(rows) else []
        rare = [group for group in groups if len(group) < RARE] if len(groups) > RARE else []
        common = [group for group in groups if len(group) >= RARE] if rare else groups
        parts = [self._part(cells.distinct[codes[group[0]]], rows[group]) for group in common]
        if rare:
            parts.append(self._part(None, np.sort(rows[np.concatenate(rare)])))
        return parts

    def _part(self, expr: Expr | None, rows: IndexArray) -> Part:
        return Part(expr, rows, self if len(rows) == len(self) else self.take(rows))

    def scans(self, name: str) -> tuple[Scan, ...]:
        """Return what the expressions that this attribute has in these rows, and perhaps others, name."""
        return self._cells(fold(name)).scans

    def group(self, names: Sequence[str]) -> tuple[IndexArray, IndexArray]:
        """Return groups of rows that are alike in all these attributes, numbered by first appearance.

        The first array, (N,), has the number of each row's group; the second, (G,), the first row of each group.
        Alike means the same kind and value (``1``, ``1.0``, ``true``, absent, undefined, ``"a"`` and ``"A"`` all
        differ), and for expressions the same text.
        """
        ids = np.zeros(len(self), np.int64)
        first = np.zeros(min(1, len(self)), np.int64)
        for name in names:
            cells = self._cells(fold(name))
            if len(cells.distinct) > 1:
                bound = len(first) * len(cells.distinct)
                ids, first = number(ids * len(cells.distinct) + self._codes(cells), bound)
        return ids, first

    def strings(self, name: str) -> NDArray[np.object_]:
        """Return the values of an attribute, evaluated in its ad alone: (N,), str, or None where it is no string."""
        column = evaluate_table(Attr(name), self)
        found = np.full(len(self), None, np.object_)
        rows = np.flatnonzero(np.broadcast_to(column.where(Kind.STRING), (len(self),)))
        if len(rows):
            codes = np.broadcast_to(column.data[Kind.STRING], (len(self),))[rows]
            found[rows] = [self.pool.strings[code] for code in codes.tolist()]
        return found

    def numbers(self, name: str, default: float = float("nan")) -> NDArray[np.float64]:
        """Return the values of an attribute, evaluated in its ad alone, as ``Column.numbers`` does."""
        return evaluate_table(Attr(name), self).numbers(default)

    def _cells(self, key: str) -> Cells:
        cells = self._store.cells.get(key)
        if cells is None:
            cells = encode([ad.folded(key) for ad in self._store.ads], self._store.pool)
            self._store.cells[key] = cells
        return cells

    def _codes(self, cells: Cells) -> NDArray[np.int32]:
        return cells.codes if self._rows is None else cells.codes[self._rows]


def _spread(column: Column, size: int) -> Column:
    data = {kind: values[0] if values.ndim else values for kind, values in column.data.items()}
    return attrs.evolve(column, size=size, data={kind: np.asarray(values) for kind, values in data.items()})


def _narrowed(column: Column) -> Column:
    """Return the column with only the kinds that occur in it: rows taken from a table may have fewer than it had."""
    if column.kinds.ndim == 0:
        return column
    found = sum(1 << kind for kind in Kind if column.has(kind) and bool((column.kinds == kind).any()))
    return make(len(column), column.pool, column.kinds, found or column.present, column.data)
