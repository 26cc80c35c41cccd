"""An attribute of a table, dictionary-encoded: for each ad the code of its expression.

Most attributes have few distinct values in a pool, so this is small, and grouping rows is cheap. Codes respect types:
``1``, ``1.0``, ``true``, ``"a"`` and ``"A"`` are different expressions.
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
    """One attribute of some ads: ``codes`` are the entry of each, (N,), or () if all have the same."""

    codes: NDArray[np.int32]
    entries: DistinctValues
    pool: StringPool

    def take(self, rows: NDArray[Any] | None) -> EncodedAttribute:
        """Return the attribute of these rows, of all rows if None."""
        if rows is None or self.codes.ndim == 0:
            return self
        return EncodedAttribute(self.codes[rows], self.entries, self.pool)

    def code(self, row: int) -> int:
        """Return the entry of an ad."""
        return int(self.codes[row] if self.codes.ndim else self.codes)

    def column(self, size: int) -> Column:
        """Return the attribute as a column of ``size`` rows, with only the kinds that occur in it."""
        column = self.entries.column(self.pool)
        if self.codes.ndim == 0:
            return _spread(column.take(self.codes.reshape(1)), size)
        return column.take(self.codes).narrowed()

    def canonical_codes(self) -> NDArray[np.int64]:
        """Return for each row a code below ``len(entries)``, the same for all rows with the same expression."""
        return self.entries.canonical_codes(self.pool)[self.codes]


def encode(exprs: Iterable[Expr | None], pool: StringPool) -> EncodedAttribute:
    """Return the encoded attribute with these expressions, None for ads without it."""
    rows = list(exprs)
    entries = DistinctValues()
    # Readers share the trees of equal lines, so each object is added once.
    distinct = dict(zip(map(id, rows), rows, strict=True))
    codes = {identity: ABSENT if expr is None else entries.add(expr) for identity, expr in distinct.items()}
    if len(codes) == 1:
        return EncodedAttribute(np.asarray(next(iter(codes.values())), np.int32), entries, pool)
    return EncodedAttribute(
        np.fromiter(map(codes.__getitem__, map(id, rows)), np.int32, len(rows)), entries, pool
    )


def _spread(column: Column, size: int) -> Column:
    """Return a column of ``size`` rows, all equal to the only row of this one."""
    column = column.narrowed()
    data = {kind: np.asarray(values[0] if values.ndim else values) for kind, values in column.data.items()}
    return make(size, column.pool, column.kinds, column.present, data)
