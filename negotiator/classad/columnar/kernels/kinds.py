"""The kind of an operator's result, from the kinds of its operands alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from negotiator.classad.tables import BoolArray, Column, single
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

B, I, R, S = Kind.BOOLEAN, Kind.INTEGER, Kind.REAL, Kind.STRING  # noqa: E741 - the letters of SEMANTICS
U, E = Kind.UNDEFINED, Kind.ERROR

PLAIN = tuple(kind for kind in Kind if kind not in {Kind.ABSENT, Kind.EXPRESSION, Kind.OTHER})
"""The kinds that kernels work on."""

Table = dict[tuple[Kind, Kind], Kind]


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


Masks = dict[Kind, BoolArray]
"""The rows of each kind that were asked for, by kind."""


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
