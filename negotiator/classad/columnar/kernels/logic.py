"""``&& || !``, ``? :`` and ``?:`` on columns: three-valued logic with errors.

Both operands are evaluated for all rows, even where one decides: evaluation has no side effects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from negotiator.classad.columnar.kernels.kinds import B, E, U, both, either
from negotiator.classad.tables import NUMERIC, BoolArray, Column, bits, choose, make, single

if TYPE_CHECKING:
    from negotiator.classad.values import Kind


@attrs.frozen
class _Truth:
    """Which rows are true, false, undefined, and error (anything else)."""

    true: BoolArray
    false: BoolArray
    undefined: BoolArray
    error: BoolArray


def _truth(column: Column) -> _Truth:
    numeric = column.numeric()
    undefined = column.where(U)
    others = column.present & ~NUMERIC & ~(1 << U)
    error = ~either((numeric, undefined)) if others else np.False_
    false = both(numeric, ~column.truth)
    return _Truth(column.truth, false, undefined, np.asarray(error))


def _result(like: Column, true: BoolArray, undefined: BoolArray, error: BoolArray) -> Column:
    present = bits((B,))
    kinds = np.asarray(B, np.uint8)
    for kind, mask in ((U, undefined), (E, error)):
        if mask.ndim or mask:
            kinds = np.where(mask, np.uint8(kind), kinds)
            present |= 1 << kind
    return make(like.size, like.pool, kinds, present, {B: true})


def conjunction(left: Column, right: Column) -> Column:
    """Return ``left && right``: false wins from the left, and from the right unless the left is an error."""
    if left.kind is B and right.kind is B:
        return single(left.size, left.pool, B, both(left.data[B], right.data[B]))
    one, two = _truth(left), _truth(right)
    passed = either((one.true, one.undefined))
    not_decided = either((two.true, two.undefined))
    undefined = either((both(one.undefined, not_decided), both(one.true, two.undefined)))
    error = either((one.error, both(passed, two.error)))
    return _result(left, both(one.true, two.true), undefined, error)


def disjunction(left: Column, right: Column) -> Column:
    """Return ``left || right``: true wins from the left, and from the right unless the left is an error."""
    if left.kind is B and right.kind is B:
        return single(left.size, left.pool, B, either((left.data[B], right.data[B])))
    one, two = _truth(left), _truth(right)
    passed = either((one.false, one.undefined))
    not_decided = either((two.false, two.undefined))
    undefined = either((both(one.undefined, not_decided), both(one.false, two.undefined)))
    error = either((one.error, both(passed, two.error)))
    return _result(left, either((one.true, two.true)), undefined, error)


def negation(operand: Column) -> Column:
    """Return ``!operand``."""
    truth = _truth(operand)
    return _result(operand, truth.false, truth.undefined, truth.error)


def conditional(test: Column, yes: Column, no: Column) -> Column:
    """Return ``test ? yes : no``."""
    truth = _truth(test)
    chosen = choose(truth.true, yes, no)
    for kind, mask in ((U, truth.undefined), (E, truth.error)):
        if mask.ndim or mask:
            chosen = choose(mask, _all(kind, test), chosen)
    return chosen


def elvis(value: Column, fallback: Column) -> Column:
    """Return ``value ?: fallback``: the fallback where the value is undefined."""
    return choose(value.where(U), fallback, value)


def _all(kind: Kind, like: Column) -> Column:
    return single(like.size, like.pool, kind)
