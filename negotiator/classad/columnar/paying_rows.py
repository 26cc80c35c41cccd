"""The rows whose ads pay for what is evaluated for many rows together: those that have steps left.

Equal expressions are evaluated once, and one row stands for all. An ad that has used up its steps must not do so: its values are
errors, and those of the other rows are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from negotiator.classad.context import Allowance
    from negotiator.classad.syntax import AttributeMap
    from negotiator.classad.tables import AttributeTable, IndexArray


class PayingRows:
    """The rows of a table, without those found to have no steps left."""

    __slots__ = ("_exhausted", "_table")

    def __init__(self, table: AttributeTable) -> None:
        self._table = table
        self._exhausted: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None

    def first(self, allowance: Callable[[AttributeMap], Allowance], rows: IndexArray | None = None) -> int:
        """Return the first of some rows whose ad has steps left; the first one if none has.

        :param rows: (R,), at least one; None for all rows of the table.
        """
        start = 0 if rows is None else int(rows[0])
        if self._exhausted is None:
            if not allowance(self._table.ad(start)).exhausted:
                return start
            self._exhausted = np.zeros(len(self._table), np.bool_)
        known = self._exhausted if rows is None else self._exhausted[rows]
        while not known[place := int(known.argmin())]:
            row = place if rows is None else int(rows[place])
            if not allowance(self._table.ad(row)).exhausted:
                return row
            known[place] = self._exhausted[row] = True
        return start
