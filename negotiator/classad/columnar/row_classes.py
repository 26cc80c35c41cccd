"""Classes of rows, for expressions that some of the rows would keep from being evaluated by columns.

One slot whose Start calls ``unparse`` must not make a pool of slots be evaluated row by row: the rows whose own expressions need
the scalar evaluator are set apart, and all others stay columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from negotiator.classad.columnar.footprints import CostBounds, Footprint, attributes_footprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from negotiator.classad.tables import AttributeTable, IndexArray

_EASY: Final = CostBounds(depth=50, steps=10_000)
_DEEP: Final = CostBounds(depth=150, steps=400_000)
"""Bounds of rows that surely, and that perhaps, are evaluated by columns."""

_MAX_READS: Final = 64
"""Rows that read so many different sets of attributes are distinguished; all further ones are together."""


@attrs.frozen(eq=False)
class RowClass:
    """Some rows of a table, ascending, as a table of their own; ``by_columns``: they may be evaluated by columns."""

    rows: IndexArray
    table: AttributeTable
    by_columns: bool


@attrs.frozen(eq=False)
class RowClasses:
    """The rows of a table by how hard their expressions are, and by the attributes that they read."""

    by_cost: tuple[RowClass, ...]
    by_reads: tuple[RowClass, ...]

    @classmethod
    def of(cls, table: AttributeTable, names: Iterable[str]) -> RowClasses:
        """Return the classes of rows for expressions that read these attributes of them, in lower case.

        The expressions in them are followed through the rows; what they read of the other ad counts as constants.
        """
        groups, reads = reads_of_rows(table, names)
        costs = np.array([_cost(each) for each in reads], np.int64)
        numbers: dict[frozenset[tuple[bool, str]], int] = {}
        labels = [min(numbers.setdefault(each.names, len(numbers)), _MAX_READS) for each in reads]
        return cls(
            _classes(table, costs[groups]),
            _classes(table, np.array(labels, np.int64)[groups], easy=_MAX_READS),
        )


def reads_of_rows(table: AttributeTable, names: Iterable[str]) -> tuple[IndexArray, list[Footprint]]:
    """Return groups of rows with equal expressions among the attributes that these lead to, and what each group reads.

    The groups, (N,), are numbered from 0; constants are all alike.
    """
    names = frozenset(names)
    together = attributes_footprint(names, table)
    written = [name for name in together.row_names() if table.has_expressions(name)]
    groups, first = table.group_expressions(written)
    if len(first) < 2:
        return groups, [together]
    order = np.argsort(groups, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(groups))[:-1])
    return groups, [attributes_footprint(names, table.take(rows)) for rows in members]


def is_easy(reads: Footprint) -> bool:
    """True if an expression with this footprint surely is evaluated by columns."""
    return _cost(reads) == 0


def _cost(reads: Footprint) -> int:
    if reads.opaque or reads.moves_scope or reads.bounds is None:
        return 2
    for cost, limit in enumerate((_EASY, _DEEP)):
        if reads.bounds.depth <= limit.depth and reads.bounds.steps <= limit.steps:
            return cost
    return 2


def _classes(table: AttributeTable, codes: IndexArray, easy: int = 1) -> tuple[RowClass, ...]:
    """Return the rows of each code, those above ``easy`` as rows that are not evaluated by columns."""
    found: Sequence[int] = np.unique(codes).tolist()
    if len(found) == 1:
        return (RowClass(np.arange(len(table)), table, found[0] <= easy),)
    rows = [np.flatnonzero(codes == code) for code in found]
    return tuple(RowClass(own, table.take(own), code <= easy) for code, own in zip(found, rows, strict=True))
