"""The values of the attributes of one ad after the other, by which results of expressions over tables are looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from negotiator.classad.syntax import Expr, Literal, literal_value, tree_key

if TYPE_CHECKING:
    from negotiator.classad.scalar import Ad

Values: TypeAlias = tuple[object, ...]
"""Type and value of each attribute, two items for each; (None, None) if the ad has no such attribute."""

_MAX_BYTES: Final = 32 << 20
"""Approximate memory for the numbers of trees; beyond it they are forgotten."""

_BYTES_OF_TREE: Final = 500
_PLAIN: Final = frozenset({int, str, bool})
_SHADOWS: Final = ("my", "target")


class AdValues:
    """The values of the latest ad, each read once: many expressions over several tables are looked up for one ad in turn.

    Numbers of trees are never reused, so that a value of an ad before cannot be taken for another one.
    """

    __slots__ = (
        "_cells",
        "_last",
        "_numbers",
        "_numbers_by_id",
        "_other",
        "_shadows",
        "_size",
    )

    def __init__(self) -> None:
        self._other: Ad | None = None
        self._cells: dict[str, tuple[object, object]] = {}
        self._shadows = False
        self._last = 0
        self._forget()

    def _forget(self) -> None:
        self._size = 0
        self._numbers_by_id: dict[int, tuple[Expr, int]] = {}
        self._numbers: dict[str, int] = {}

    def _set_other(self, other: Ad) -> None:
        self._other, self._cells = other, {}
        self._shadows = any(other.folded(name) is not None for name in _SHADOWS)

    def shadowed(self, other: Ad) -> bool:
        """True if this ad has an attribute called MY or TARGET."""
        if other is not self._other:
            self._set_other(other)
        return self._shadows

    def of(self, names: tuple[str, ...], other: Ad) -> tuple[Values, Values]:
        """Return the values of these attributes, and those of them that are expressions: names and numbers."""
        if other is not self._other:
            self._set_other(other)
        cells = self._cells
        values: list[object] = []
        expressions: list[object] = []
        for name in names:
            cell = cells.get(name)
            if cell is None:
                cell = cells[name] = self._cell(other.folded(name))
            values += cell
            if cell[0] is Expr:
                expressions += (name, cell[1])
        return tuple(values), tuple(expressions)

    def _cell(self, expr: Expr | None) -> tuple[object, object]:
        if expr is None:
            return None, None
        value = expr.value if type(expr) is Literal else literal_value(expr)
        if value is None:
            return Expr, self._number(expr)
        kind = type(value)
        return kind, value if kind in _PLAIN else repr(value)  # -0.0 and 0.0 differ by repr only

    def _number(self, expr: Expr) -> int:
        """Return the number of a tree: the same for equal trees, and never reused."""
        known = self._numbers_by_id.get(id(expr))
        if known is None:
            tree = tree_key(expr)
            if self._size >= _MAX_BYTES:
                self._forget()
            self._size += _BYTES_OF_TREE
            number = self._numbers.get(tree)
            if number is None:
                self._size += len(tree)
                self._last += 1
                number = self._numbers[tree] = self._last
            known = self._numbers_by_id[id(expr)] = expr, number
        return known[1]
