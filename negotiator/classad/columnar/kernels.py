"""The operators on columns: SEMANTICS section 3 for all rows at once, without Python code for each row.

A kernel takes columns of the same size and pool and returns such a column. Cells must not be absent or unevaluated. Cells
with lists, ads and times are allowed for ``&& || !``, ``? :`` and ``?:`` only; for other operators the scalar evaluator
handles them.

A cycle compares each attribute of the slots with the constants of thousands of jobs, so that sorting its values once pays:
a comparison with a constant then reads one to four bytes a row instead of eight.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from negotiator.classad.tables import NUMERIC, BoolArray, Column, bits, choose, make, single
from negotiator.classad.values import Kind, to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

B, I, R, S = Kind.BOOLEAN, Kind.INTEGER, Kind.REAL, Kind.STRING  # noqa: E741 - the letters of SEMANTICS
U, E = Kind.UNDEFINED, Kind.ERROR

PLAIN = tuple(kind for kind in Kind if kind not in {Kind.ABSENT, Kind.EXPRESSION, Kind.OTHER})
"""The kinds that kernels work on."""

Table = dict[tuple[Kind, Kind], Kind]

Masks = dict[Kind, BoolArray]
"""The rows of each kind that were asked for, by kind."""

_INTEGERS = {B, I}
_NUMBERS = {B, I, R}
_INT64_MAX = np.iinfo(np.int64).max
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
}
_OTHERS = tuple(kind for kind in Kind if kind not in {B, I, R, U, E})

#: Binary64 has every integer below this one, and no larger integer is rounded to one of them.
EXACT: Final = 1 << 53
#: Comparisons of a column before its values are sorted, and the rows from which on it is worth it.
_USES: Final = 8
_ROWS: Final = 4096

_INTEGER_BITS = bits((B, I))
_ONE_KIND = {bits((kind,)): kind for kind in (I, R, S)}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def strict(rule: Callable[[Kind, Kind], Kind]) -> Table:
    """Return the kinds of a strict operator's results; ``rule`` gives those of two values.

    An error on the left is first, then an error on the right, then undefined on either side, then the types.
    """

    def result(left: Kind, right: Kind) -> Kind:
        if E in {left, right}:
            return E
        return U if U in {left, right} else rule(left, right)

    return {(left, right): result(left, right) for left in PLAIN for right in PLAIN}


def occurring(column: Column) -> list[Kind]:
    """Return the kinds that may occur in a column."""
    return [kind for kind in Kind if column.present >> kind & 1]


def both(left: BoolArray, right: BoolArray) -> BoolArray:
    """Return where both masks are set; without a pass over the rows if one of them has shape ()."""
    if left.ndim == 0:
        return right if left else left
    if right.ndim == 0:
        return left if right else right
    return left & right


def either(masks: Iterable[BoolArray]) -> BoolArray:
    """Return where any of the masks is set."""
    result: BoolArray = np.asarray(np.False_)
    for mask in masks:
        if result.ndim == 0:
            result = result or mask
        elif mask.ndim == 0:
            result = mask or result
        else:
            result = result | mask
    return result


def paired(left: Column, right: Column, table: Table) -> tuple[NDArray[np.uint8], int, Masks]:
    """Return the kinds of the results, the set of those that may occur, and the masks of columns with these kinds.

    A column is compared with many constants of one kind: the kinds of these results are the same, and found once.
    """
    if right.kind is not None and left.kind is None:
        return _known_pairs(left, (id(table), right.kind, False), lambda: _paired(left, right, table))
    if left.kind is not None and right.kind is None:
        return _known_pairs(right, (id(table), left.kind, True), lambda: _paired(left, right, table))
    return _paired(left, right, table)


def _known_pairs(
    column: Column, key: object, find: Callable[[], tuple[NDArray[np.uint8], int, Masks]]
) -> tuple[NDArray[np.uint8], int, Masks]:
    found: tuple[NDArray[np.uint8], int, Masks] | None = column.derived.get(key)
    if found is None:
        found = column.derived[key] = find()
    return found


def _paired(left: Column, right: Column, table: Table) -> tuple[NDArray[np.uint8], int, Masks]:
    pairs: dict[Kind, list[tuple[Kind, Kind]]] = {}
    for first in occurring(left):
        for second in occurring(right):
            pairs.setdefault(table[first, second], []).append((first, second))
    present = sum(1 << kind for kind in pairs)
    # Start with the kind that most pairs give, so that few masks are needed for the others.
    most_frequent, *rest = sorted(pairs, key=lambda kind: -len(pairs[kind]))
    kinds = np.asarray(most_frequent, np.uint8)
    for kind in rest:
        mask = either(both(left.where(first), right.where(second)) for first, second in pairs[kind])
        kinds = np.where(mask, np.uint8(kind), kinds)
    return kinds, present, {}


def has_kind(column: Column, kind: Kind) -> Column:
    """Return which rows are of a kind, as a column of booleans: ``isUndefined`` and similar functions."""
    return single(column.size, column.pool, B, column.where(kind))


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
            chosen = choose(mask, single(test.size, test.pool, kind), chosen)
    return chosen


def elvis(value: Column, fallback: Column) -> Column:
    """Return ``value ?: fallback``: the fallback where the value is undefined."""
    return choose(value.where(U), fallback, value)


def _sum_kind(left: Kind, right: Kind) -> Kind:
    if not {left, right} <= _NUMBERS:
        return E
    return R if R in {left, right} else I


_ARITHMETIC_KINDS = strict(_sum_kind)
_REMAINDER_KINDS = strict(lambda left, right: I if {left, right} <= _INTEGERS else E)


def arithmetic(op: str, left: Column, right: Column) -> Column:
    """Return ``left op right`` for ``+ - * / %``."""
    kinds, present, masks = paired(left, right, _REMAINDER_KINDS if op == "%" else _ARITHMETIC_KINDS)
    data: dict[Kind, NDArray[Any]] = {}
    errors: list[BoolArray] = []
    with np.errstate(all="ignore"):
        if present >> I & 1:
            one, two = left.as_int(), right.as_int()
            data[I] = _integers(op, one, two)
            if op in "/%":
                errors.append(both(_rows(kinds, I), np.asarray(two == 0)))
        if present >> R & 1:
            data[R] = np.asarray(_ARITHMETIC[op](left.as_float(), right.as_float()))
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
        return np.asarray(_ARITHMETIC[op](left, right))
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


@attrs.frozen(eq=False)
class NumberOrder:
    """The distinct numbers of a column, ascending, and the place of each row's among them, (N,); 0 in other rows."""

    distinct: NDArray[np.float64]
    codes: NDArray[np.unsignedinteger]

    @classmethod
    def of(cls, column: Column) -> NumberOrder | None:
        """Sort the numbers of a column as binary64; None if NaN is among them, which has no place in an order."""
        numeric = np.broadcast_to(column.numeric(), (len(column),))
        values = np.where(numeric, column.as_float(), 0.0)
        if np.isnan(values).any():
            return None
        distinct, codes = np.unique(values, return_inverse=True)
        return cls(distinct, codes.astype(np.min_scalar_type(len(distinct))))

    def compare(self, op: str, value: float) -> BoolArray:
        """Return where the number of the row ``op`` a value is true, arbitrary in other rows; (N,)."""
        place = int(self.distinct.searchsorted(value, "right" if op in {"<=", ">"} else "left"))
        if op in {"==", "!="}:
            there = place < len(self.distinct) and bool(self.distinct[place] == value)
            if not there:
                return np.broadcast_to(np.bool_(op == "!="), (len(self.codes),))
            return np.asarray(self.codes == place if op == "==" else self.codes != place)
        return np.asarray(self.codes < place if op in {"<", "<="} else self.codes >= place)


@attrs.define(eq=False)
class ComparedColumn:
    """How often a column was compared with constants, and its order from then on; None also if it has none."""

    uses: int = 0
    order: NumberOrder | None = None

    def order_of(self, column: Column) -> NumberOrder | None:
        """Return the order of a column that is compared once more."""
        self.uses += 1
        if self.uses == _USES:
            self.order = NumberOrder.of(column)
        return self.order


def compared(op: str, column: Column, value: float) -> BoolArray | None:
    """Return where ``column op value`` is true, (N,), arbitrary in rows without a number; None if the order is not known."""
    if len(column) < _ROWS or not column.present & NUMERIC or column.is_constant:
        return None
    state = column.derived.get(ComparedColumn)
    if state is None:
        state = column.derived[ComparedColumn] = ComparedColumn()
    order = state.order_of(column)
    return None if order is None else order.compare(op, value)


_COMPARED_KINDS = strict(lambda left, right: B if {left, right} <= _NUMBERS or left is right is S else E)


def compare(op: str, left: Column, right: Column) -> Column:
    """Return ``left op right`` for ``== != < <= > >=``: numbers with numbers, strings with strings by folded bytes."""
    if left.present == right.present and left.present in _ONE_KIND:
        return single(left.size, left.pool, B, _of_one_kind(op, left, right, _ONE_KIND[left.present]))
    kinds, present, masks = paired(left, right, _COMPARED_KINDS)
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
        return np.asarray(_COMPARISONS[op](one, two))
    with np.errstate(invalid="ignore"):
        return np.asarray(_COMPARISONS[op](one, two))


def _numbers(op: str, left: Column, right: Column) -> BoolArray:
    """Compare as int64, or as binary64 if one of the two is a real."""
    ordered = _ordered(op, left, right)
    if ordered is not None:
        return ordered
    ufunc = _COMPARISONS[op]
    if not (left.has(R) or right.has(R)):
        return np.asarray(ufunc(left.as_int(), right.as_int()))
    with np.errstate(invalid="ignore"):
        reals = np.asarray(ufunc(left.as_float(), right.as_float()))
    if (
        not (left.present & _INTEGER_BITS and right.present & _INTEGER_BITS)
        or _is_exact(left)
        or _is_exact(right)
    ):
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
        return np.asarray(_COMPARISONS[op](left.folded, right.folded))
    ranks = _ranks(left, right)
    return np.asarray(_COMPARISONS[op](ranks[left.folded], ranks[right.folded]))


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
