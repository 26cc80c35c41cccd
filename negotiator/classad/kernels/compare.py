"""``== != < <= > >=`` and ``=?= =!=`` on columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from negotiator.classad.bytestrings import to_bytes
from negotiator.classad.column import NUMERIC, BoolArray, Column, bits, make, single
from negotiator.classad.kernels.kinds import B, E, I, R, S, U, both, either, paired, strict

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from negotiator.classad.values import Kind

_NUMBERS = {B, I, R}
_INTS = bits((B, I))
_KINDS = strict(lambda left, right: B if {left, right} <= _NUMBERS or left is right is S else E)
_UFUNCS: dict[str, Callable[[Any, Any], Any]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def compare(op: str, left: Column, right: Column) -> Column:
    """Return ``left op right`` for ``== != < <= > >=``: numbers with numbers, strings with strings by folded bytes."""
    kinds, present = paired(left, right, _KINDS)
    if not present >> B & 1:
        return make(left.size, left.pool, kinds, present, {})
    numbers = left.present & NUMERIC and right.present & NUMERIC
    strings = left.has(S) and right.has(S)
    if strings and numbers:
        found = np.where(left.where(S), _strings(op, left, right), _numbers(op, left, right))
    else:
        found = _strings(op, left, right) if strings else _numbers(op, left, right)
    return make(left.size, left.pool, kinds, present, {B: found})


def _numbers(op: str, left: Column, right: Column) -> BoolArray:
    """Compare as int64, or as binary64 where one of the two is a real."""
    ufunc = _UFUNCS[op]
    if not (left.has(R) or right.has(R)):
        return np.asarray(ufunc(left.as_int(), right.as_int()))
    with np.errstate(invalid="ignore"):
        reals = np.asarray(ufunc(left.as_float(), right.as_float()))
    if not (left.present & _INTS and right.present & _INTS):
        return reals
    is_real = either((left.where(R), right.where(R)))
    return np.where(is_real, reals, ufunc(left.as_int(), right.as_int()))


def _strings(op: str, left: Column, right: Column) -> BoolArray:
    if op in {"==", "!="}:
        return np.asarray(_UFUNCS[op](left.folded, right.folded))
    distinct, ranks = _ranks(left, right)
    one = ranks[np.searchsorted(distinct, left.folded)]
    other = ranks[np.searchsorted(distinct, right.folded)]
    return np.asarray(_UFUNCS[op](one, other))


def _ranks(left: Column, right: Column) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the codes of both columns, sorted, and the place of each code's string in the order of bytes."""
    distinct = np.unique(np.concatenate((np.ravel(left.folded), np.ravel(right.folded))))
    keys = [to_bytes(left.pool.strings[code]) for code in distinct.tolist()]
    ranks = np.empty(len(keys), np.int64)
    ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    return distinct, ranks


def identical(left: Column, right: Column, *, wanted: bool) -> Column:
    """Return ``left =?= right`` (``wanted`` true) or ``left =!= right``: the same kind and value."""
    shared = left.present & right.present
    same = either(_alike(kind, left, right) for kind in (U, E, B, I, R, S) if shared >> kind & 1)
    return single(left.size, left.pool, B, same if wanted else ~same)


def _alike(kind: Kind, left: Column, right: Column) -> BoolArray:
    rows = both(left.where(kind), right.where(kind))
    if kind not in left.data or (rows.ndim == 0 and not rows):
        return rows
    with np.errstate(invalid="ignore"):
        return both(rows, np.asarray(left.data[kind] == right.data[kind]))
