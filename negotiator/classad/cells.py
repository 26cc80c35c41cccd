"""What a table stores of one attribute: the distinct expressions, and for each ad the number of its own.

Most attributes have few distinct values in a pool, so this is small, it makes grouping rows cheap, and it is the
typed identity of a cell: ``1``, ``1.0``, ``true``, ``"a"`` and ``"A"`` are different expressions.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.column import Column, StringPool, from_cells, kind_of
from negotiator.classad.footprint import Scan, scan
from negotiator.classad.tree import Expr, Literal, LiteralValue, Paren, Unary
from negotiator.classad.treekey import tree_key
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_FOLDED: Final = 8
"""Parentheses and signs around a literal that are looked through; an expression may have any number of them."""


def literal_value(expr: Expr) -> LiteralValue | None:
    """Return the value of a literal, also with a sign or in parentheses, and None for any other expression."""
    if type(expr) is Literal:
        return expr.value
    sign = ""
    for _ in range(MAX_FOLDED):
        if isinstance(expr, Paren):
            expr = expr.inner
        elif isinstance(expr, Unary) and expr.op in {"-", "+"} and not sign:
            sign, expr = expr.op, expr.operand
        elif isinstance(expr, Literal):
            return _signed(sign, expr.value) if sign else expr.value
        else:
            return None
    return None


def _signed(sign: str, value: LiteralValue) -> LiteralValue | None:
    if (type(value) is int and value != -(1 << 63)) or (type(value) is float and value != float("-inf")):
        return value if sign == "+" else -value
    return None


@attrs.frozen(eq=False)
class Cells:
    """One attribute of all ads of a pool.

    ``codes`` (N,) says which of ``distinct`` an ad has; None among them stands for no such attribute. ``column`` has
    the distinct expressions as cells, row ``code`` for each code.
    """

    codes: NDArray[np.int32]
    distinct: tuple[Expr | None, ...]
    column: Column

    @cached_property
    def scans(self) -> tuple[Scan, ...]:
        """What the distinct expressions that are no literals name."""
        kinds = np.broadcast_to(self.column.kinds, (len(self.distinct),))
        codes = np.flatnonzero(kinds == Kind.EXPRESSION).tolist()
        return tuple(scan(expr) for code in codes if (expr := self.distinct[code]) is not None)


def encode(exprs: Iterable[Expr | None], pool: StringPool) -> Cells:
    """Return the cells of these expressions, None where an ad has no such attribute."""
    rows = list(exprs)
    codes: dict[int, int] = {}
    by_key: dict[tuple[type, object], int] = {}
    distinct: list[Expr | None] = []
    values: list[LiteralValue | None] = []
    # Readers share the expressions of equal lines: what is one object is looked at once.
    for identity, expr in dict(zip(map(id, rows), rows, strict=True)).items():
        value = None if expr is None else literal_value(expr)
        code = by_key.setdefault(_key(expr, value), len(distinct))
        if code == len(distinct):
            distinct.append(expr)
            values.append(value)
        codes[identity] = code
    kinds = np.fromiter(map(_kind, distinct, values), np.uint8, len(distinct))
    return Cells(
        np.fromiter(map(codes.__getitem__, map(id, rows)), np.int32, len(rows)),
        tuple(distinct),
        from_cells(pool, values, kinds),
    )


def _key(expr: Expr | None, value: LiteralValue | None) -> tuple[type, object]:
    kind = type(value)
    if kind is int or kind is str or kind is bool:
        return kind, value
    if expr is None:
        return kind, None
    if value is None:
        return type(expr), tree_key(expr)
    return kind, repr(value)  # which tells -0.0 from 0.0


def _kind(expr: Expr | None, value: LiteralValue | None) -> Kind:
    if value is not None:
        return kind_of(value)
    return Kind.ABSENT if expr is None else Kind.EXPRESSION
