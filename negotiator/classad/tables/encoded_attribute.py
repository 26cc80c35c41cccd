"""What a table stores of one attribute: for each ad the number of its expression among those of the attribute.

Most attributes have few distinct values in a pool, so this is small, it makes grouping rows cheap, and it is the
typed identity of a cell: ``1``, ``1.0``, ``true``, ``"a"`` and ``"A"`` are different expressions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.tables.column import Column, StringPool, make
from negotiator.classad.tables.distinct_values import ABSENT, DistinctValues

if TYPE_CHECKING:
    from collections.abc import Iterable

    from negotiator.classad.syntax import Expr


@attrs.frozen(eq=False)
class EncodedAttribute:
    """One attribute of some ads: ``codes`` (N,), or () where all have the same, says which entry an ad has."""

    codes: NDArray[np.int32]
    entries: DistinctValues
    pool: StringPool

    def take(self, rows: NDArray[Any] | None) -> EncodedAttribute:
        """Return the cells of these rows, all where None."""
        if rows is None or self.codes.ndim == 0:
            return self
        return EncodedAttribute(self.codes[rows], self.entries, self.pool)

    def column(self, size: int) -> Column:
        """Return the cells as a column of ``size`` rows, with only the kinds that occur in it."""
        column = self.entries.column(self.pool)
        if self.codes.ndim == 0:
            return _spread(column.take(self.codes.reshape(1)), size)
        return column.take(self.codes).narrowed()

    def alike(self) -> NDArray[np.int64]:
        """Return for each row a number below ``len(entries)`` that it shares with the rows of the same expression."""
        return self.entries.alike(self.pool)[self.codes]


def encode(exprs: Iterable[Expr | None], pool: StringPool) -> EncodedAttribute:
    """Return the cells of these expressions, None where an ad has no such attribute."""
    rows = list(exprs)
    entries = DistinctValues()
    # Readers share the expressions of equal lines: what is one object is looked at once.
    distinct = dict(zip(map(id, rows), rows, strict=True))
    codes = {identity: ABSENT if expr is None else entries.add(expr) for identity, expr in distinct.items()}
    if len(codes) == 1:
        return EncodedAttribute(np.asarray(next(iter(codes.values())), np.int32), entries, pool)
    return EncodedAttribute(
        np.fromiter(map(codes.__getitem__, map(id, rows)), np.int32, len(rows)), entries, pool
    )


def _spread(column: Column, size: int) -> Column:
    """Return the column whose only row stands for ``size`` rows."""
    column = column.narrowed()
    data = {kind: np.asarray(values[0] if values.ndim else values) for kind, values in column.data.items()}
    return make(size, column.pool, column.kinds, column.present, data)
