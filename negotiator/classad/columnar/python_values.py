"""The values of a column as Python users expect them: an array of NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from negotiator.classad.bindings import Value, to_python
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from negotiator.classad.tables import Column

_NUMBERS: Final = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.REAL})
_NAMED: Final = {Kind.UNDEFINED: Value.Undefined, Kind.ABSENT: Value.Undefined, Kind.ERROR: Value.Error}


def python_values(column: Column) -> NDArray[Any]:
    """Return the values of a column, (N,): of ``bool``, ``int64`` or ``float64`` if all are of that kind, else of objects.

    The objects are those that ``ExprTree.eval`` returns.
    """
    column = column.narrowed()
    if column.kind in _NUMBERS:
        return np.array(np.broadcast_to(column.data[column.kind], (len(column),)))
    values = np.empty(len(column), np.object_)
    for kind in (kind for kind in Kind if column.has(kind)):
        if column.kind is kind:
            _fill(values, column, kind)
        else:
            rows = np.flatnonzero(column.where(kind))
            part = np.empty(len(rows), np.object_)
            _fill(part, column.take(rows), kind)
            values[rows] = part
    return values


def _fill(values: NDArray[np.object_], column: Column, kind: Kind) -> None:
    """Set all values to those of a column, whose rows are of one kind."""
    if kind in _NAMED:
        values[:] = _NAMED[kind]
        return
    data = np.broadcast_to(column.data[kind], (len(column),))
    if kind is Kind.STRING:
        values[:] = _strings(column, data)
    elif kind in _NUMBERS:
        values[:] = data.astype(np.object_)
    else:
        for row, value in enumerate(data):
            values[row] = to_python(value)


def _strings(column: Column, codes: NDArray[Any]) -> NDArray[np.object_] | list[str]:
    """Return the strings of some codes: by way of an array of all strings, unless the pool has more of them than rows."""
    strings = column.pool.strings
    if len(strings) > len(codes):
        return [strings[code] for code in codes.tolist()]
    all_strings = np.empty(len(strings), np.object_)
    all_strings[:] = strings
    chosen: NDArray[np.object_] = all_strings[codes]
    return chosen
