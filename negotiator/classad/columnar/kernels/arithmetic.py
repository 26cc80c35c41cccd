"""``+ - * / %`` and the signs on columns: int64 that wraps, binary64 whose +inf is an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from negotiator.classad.columnar.kernels.kinds import B, E, I, R, U, both, either, paired, strict
from negotiator.classad.tables import BoolArray, Column, bits, make

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from negotiator.classad.values import Kind

_INTS = {B, I}
_NUMBERS = {B, I, R}
_INT64_MAX = np.iinfo(np.int64).max


def _sum_kind(left: Kind, right: Kind) -> Kind:
    if not {left, right} <= _NUMBERS:
        return E
    return R if R in {left, right} else I


_KINDS = strict(_sum_kind)
_REMAINDER_KINDS = strict(lambda left, right: I if {left, right} <= _INTS else E)
_UFUNCS: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
}


def arithmetic(op: str, left: Column, right: Column) -> Column:
    """Return ``left op right`` for ``+ - * / %``."""
    kinds, present, masks = paired(left, right, _REMAINDER_KINDS if op == "%" else _KINDS)
    data: dict[Kind, NDArray[Any]] = {}
    errors: list[BoolArray] = []
    with np.errstate(all="ignore"):
        if present >> I & 1:
            one, two = left.as_int(), right.as_int()
            data[I] = _integers(op, one, two)
            if op in "/%":
                errors.append(both(_rows(kinds, I), np.asarray(two == 0)))
        if present >> R & 1:
            data[R] = np.asarray(_UFUNCS[op](left.as_float(), right.as_float()))
            errors.append(both(_rows(kinds, R), np.asarray(data[R] == np.inf)))
    error = either(errors)
    if error.any():
        kinds = np.where(error, np.uint8(E), kinds)
        present |= 1 << E
        masks = {}
    return make(left.size, left.pool, kinds, present, data, masks)


def _rows(kinds: NDArray[np.uint8], kind: Kind) -> BoolArray:
    return np.asarray(kinds == kind)


def _integers(op: str, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the results in two's complement; arbitrary where the divisor is 0."""
    if op not in "/%":
        return np.asarray(_UFUNCS[op](left, right))
    # Processors trap on the divisors 0 and (for the lowest integer) -1. By -1, a quotient is the negation, a remainder 0.
    trapping = (right == 0) | (right == -1)
    traps = bool(trapping.any())
    divisor = np.where(trapping, 1, right) if traps else right
    if op == "%":
        return np.asarray(np.fmod(left, divisor))
    quotient = np.asarray(left // divisor)
    down = (left ^ divisor) < 0
    if (
        down.any()
    ):  # NumPy rounds down; ClassAds round towards zero: one more if signs differ and a remainder is left
        quotient = quotient + (down & (quotient * divisor != left))
    if not traps:
        return quotient
    negated = np.where(left == -_INT64_MAX - 1, _INT64_MAX, np.negative(left))
    return np.where(right == -1, negated, quotient)


def negate(op: str, operand: Column) -> Column:
    """Return ``-operand`` or ``+operand``: numbers only, not booleans."""
    kinds = operand.kinds
    bad = either(operand.where(kind) for kind in (B, *_OTHERS))
    present = operand.present & bits((I, R, U, E))
    if bad.any():
        kinds = np.where(bad, np.uint8(E), kinds)
        present |= 1 << E
    data = {kind: values for kind, values in operand.data.items() if kind in {I, R}}
    if op == "-":
        data = {kind: np.asarray(np.negative(values)) for kind, values in data.items()}
    return make(operand.size, operand.pool, kinds, present, data)


_OTHERS = tuple(kind for kind in type(B) if kind not in {B, I, R, U, E})
