"""A table whose attributes can be evaluated."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from negotiator.classad.columnar.evaluation import evaluate_table
from negotiator.classad.context import Allowance, Environment, Payers
from negotiator.classad.syntax import Attr, AttributeMap, Literal, fold
from negotiator.classad.tables import AttributeTable
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from negotiator.classad.tables import Column

#: Steps that reading one attribute of all ads, such as JobPrio, may take for each owner or machine. Its values in further
#: ads of the same owner are error.
MAX_STEPS_ALONE: Final = 300_000
#: Who wrote an ad: the first of these that is a string.
_WRITERS: Final = ("Owner", "User", "Machine", "Name")


class Table(AttributeTable):
    """The ads of a pool as rows, with their attributes as columns, which can be evaluated."""

    __slots__ = ()

    def alone(self, name: str) -> Column:
        """Return the values of an attribute, each evaluated in its ad alone; error where an owner has no steps left."""
        left: defaultdict[str, Allowance] = defaultdict(lambda: Allowance(MAX_STEPS_ALONE))
        payers = Payers(rows=lambda ad: left[_writer(ad)])
        return evaluate_table(Attr(name), self, env=Environment(payers=payers))

    def strings(self, name: str) -> NDArray[np.object_]:
        """Return the values of an attribute, each evaluated in its ad alone: (N,), str, None for other types."""
        column = self.alone(name)
        found = np.full(len(self), None, np.object_)
        rows = np.flatnonzero(np.broadcast_to(column.where(Kind.STRING), (len(self),)))
        if len(rows):
            codes = np.broadcast_to(column.data[Kind.STRING], (len(self),))[rows]
            found[rows] = [self.pool.strings[code] for code in codes.tolist()]
        return found

    def numbers(self, name: str, default: float = float("nan")) -> NDArray[np.float64]:
        """Return the values of an attribute, each evaluated in its ad alone, as ``Column.numbers`` does."""
        return self.alone(name).numbers(default)


def _writer(ad: AttributeMap) -> str:
    """Return the name of who wrote an ad, empty if unknown; only constants count."""
    found = (ad.get(name) for name in _WRITERS)
    names = (each.value for each in found if isinstance(each, Literal) and isinstance(each.value, str))
    return fold(next(names, ""))
