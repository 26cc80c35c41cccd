"""``== != < <= > >=`` and ``=?= =!=`` on columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from negotiator.classad.columnar.kernels.kinds import B, E, I, R, S, U, both, either, paired, strict
from negotiator.classad.columnar.kernels.number_order import EXACT, compared
from negotiator.classad.tables import NUMERIC, BoolArray, Column, bits, make, single
from negotiator.classad.values import to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from negotiator.classad.values import Kind

_NUMBERS = {B, I, R}
_INTS = bits((B, I))
_KINDS = strict(lambda left, right: B if {left, right} <= _NUMBERS or left is right is S else E)
_ONE_KIND = {bits((kind,)): kind for kind in (I, R, S)}
_UFUNCS: dict[str, Callable[[Any, Any], Any]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def compare(op: str, left: Column, right: Column) -> Column:
    """Return ``left op right`` for ``== != < <= > >=``: numbers with numbers, strings with strings by folded bytes."""
    if left.present == right.present and left.present in _ONE_KIND:
        return single(left.size, left.pool, B, _of_one_kind(op, left, right, _ONE_KIND[left.present]))
    kinds, present, masks = paired(left, right, _KINDS)
    if not present >> B & 1:
        return make(left.size, left.pool, kinds, present, {}, masks)
    numbers = left.present & NUMERIC and right.present & NUMERIC
    strings = left.has(S) and right.has(S)
    if strings and numbers:
        found = np.where(left.where(S), _strings(op, left, right), _numbers(op, left, right))
    else:
        found = _strings(op, left, right) if strings else _numbers(op, left, right)
    return make(left.size, left.pool, kinds, present, {B: found}, masks)


def _of_one_kind(op: str, left: Column, right: Column, kind: Kind) -> BoolArray:
    """Compare columns of one kind each, as most are: nothing has to be decided row by row."""
    if kind is S:
        return _strings(op, left, right)
    ordered = _ordered(op, left, right)
    if ordered is not None:
        return ordered
    one, two = left.data[kind], right.data[kind]
    if kind is I:
        return np.asarray(_UFUNCS[op](one, two))
    with np.errstate(invalid="ignore"):
        return np.asarray(_UFUNCS[op](one, two))


def _numbers(op: str, left: Column, right: Column) -> BoolArray:
    """Compare as int64, or as binary64 if one of the two is a real."""
    ordered = _ordered(op, left, right)
    if ordered is not None:
        return ordered
    ufunc = _UFUNCS[op]
    if not (left.has(R) or right.has(R)):
        return np.asarray(ufunc(left.as_int(), right.as_int()))
    with np.errstate(invalid="ignore"):
        reals = np.asarray(ufunc(left.as_float(), right.as_float()))
    if not (left.present & _INTS and right.present & _INTS) or _is_exact(left) or _is_exact(right):
        return reals
    is_real = either((left.where(R), right.where(R)))
    return np.where(is_real, reals, ufunc(left.as_int(), right.as_int()))


def _ordered(op: str, left: Column, right: Column) -> BoolArray | None:
    """Compare with a constant by the order of the other column; None if it is not known."""
    value = _constant(right)
    if value is not None:
        return compared(op, left, value)
    value = _constant(left)
    return None if value is None else compared(_MIRRORED[op], right, value)


def _constant(column: Column) -> float | None:
    """Return the number in all rows if binary64 compares it as it is, else None."""
    kind = column.kind
    if kind not in _NUMBERS or not column.is_constant:
        return None
    value = column.data[kind].item()
    is_exact = not math.isnan(value) if kind is R else abs(value) < EXACT
    return float(value) if is_exact else None


def _is_exact(column: Column) -> bool:
    """True for a constant integer that binary64 represents exactly and distinguishes from every other integer."""
    return column.kind is I and column.is_constant and abs(int(column.data[I])) < EXACT


def _strings(op: str, left: Column, right: Column) -> BoolArray:
    if op in {"==", "!="}:
        return np.asarray(_UFUNCS[op](left.folded, right.folded))
    ranks = _ranks(left, right)
    return np.asarray(_UFUNCS[op](ranks[left.folded], ranks[right.folded]))


def _ranks(left: Column, right: Column) -> NDArray[np.int32]:
    """Return, by code, the rank of each string of the two columns in the order of bytes."""
    one, two = left.folded, right.folded  # this may add strings to the pool
    strings = left.pool.strings
    occurs = np.zeros(len(strings), np.bool_)
    occurs[one] = occurs[two] = True
    ordered = sorted(np.flatnonzero(occurs).tolist(), key=lambda code: to_bytes(strings[code]))
    ranks = np.zeros(len(strings), np.int32)
    ranks[ordered] = np.arange(len(ordered), dtype=np.int32)
    return ranks


def identical(left: Column, right: Column, *, expected: bool) -> Column:
    """Return ``left =?= right`` (``expected`` true) or ``left =!= right``: the same kind and value."""
    shared = left.present & right.present
    if left.present == right.present and left.present in _ONE_KIND:
        kind = _ONE_KIND[shared]
        with np.errstate(invalid="ignore"):
            ufunc = np.equal if expected else np.not_equal
            return single(left.size, left.pool, B, np.asarray(ufunc(left.data[kind], right.data[kind])))
    same = either(_alike(kind, left, right) for kind in (U, E, B, I, R, S) if shared >> kind & 1)
    return single(left.size, left.pool, B, same if expected else ~same)


def _alike(kind: Kind, left: Column, right: Column) -> BoolArray:
    rows = both(left.where(kind), right.where(kind))
    if kind not in left.data or (rows.ndim == 0 and not rows):
        return rows
    with np.errstate(invalid="ignore"):
        return both(rows, np.asarray(left.data[kind] == right.data[kind]))
