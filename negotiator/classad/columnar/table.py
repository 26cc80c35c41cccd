"""A table whose attributes can be evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from negotiator.classad.columnar.evaluation import evaluate_table
from negotiator.classad.syntax import Attr
from negotiator.classad.tables import AttributeTable
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Table(AttributeTable):
    """The ads of a pool as rows, with their attributes as columns, which can be evaluated."""

    __slots__ = ()

    def strings(self, name: str) -> NDArray[np.object_]:
        """Return the values of an attribute, each evaluated in its ad alone: (N,), str, None for other types."""
        column = evaluate_table(Attr(name), self)
        found = np.full(len(self), None, np.object_)
        rows = np.flatnonzero(np.broadcast_to(column.where(Kind.STRING), (len(self),)))
        if len(rows):
            codes = np.broadcast_to(column.data[Kind.STRING], (len(self),))[rows]
            found[rows] = [self.pool.strings[code] for code in codes.tolist()]
        return found

    def numbers(self, name: str, default: float = float("nan")) -> NDArray[np.float64]:
        """Return the values of an attribute, each evaluated in its ad alone, as ``Column.numbers`` does."""
        return evaluate_table(Attr(name), self).numbers(default)
