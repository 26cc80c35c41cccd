"""Shapes: expressions that differ only in their constants are evaluated together.

In a pool of many kinds of machines, START is ``TARGET.RequestMemory <= 8192`` on one and ``TARGET.RequestMemory <= 16384`` on the
next. With the constants as attributes of the slots, all of them are one expression over all of these slots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, TypeVar

import attrs
import numpy as np

from negotiator.classad.functions import FUNCTIONS, LONG_STRING
from negotiator.classad.syntax import (
    AdRef,
    Attr,
    Binary,
    Call,
    Conditional,
    Elvis,
    Literal,
    Paren,
    Side,
    Unary,
    children,
    fold,
    scan,
    tree_key,
    with_operands,
)
from negotiator.classad.tables import ExpressionRows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from negotiator.classad.syntax import Expr, LiteralValue
    from negotiator.classad.tables import AttributeTable, IndexArray

T = TypeVar("T", bound="AttributeTable")

FEW: Final = 16
"""So many different expressions are evaluated one by one: each of them gets a closed form that a shape does not."""

_PARAMETER: Final = "negotiator constant "
"""The beginning of the names of attributes with constants."""

_MAX_SIZE: Final = 60
_MAX_DEPTH: Final = 20
"""Nodes and levels of expressions that have a shape: far from the limits of evaluation."""

_PLAIN: Final = frozenset({int, float, str})
_OPERATORS: Final = frozenset({Paren, Unary, Binary, Conditional, Elvis})

#: Functions that evaluate some of their arguments only, but read nothing else of them.
_LAZY: Final = frozenset(
    {"ifthenelse", "isundefined", "iserror", "isboolean", "isinteger", "isreal", "isstring"}
)


@attrs.frozen
class Shape:
    """An expression with references to its own ad instead of its ``constants``."""

    expr: Expr
    constants: tuple[LiteralValue, ...]

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for the shapes that can be evaluated together: their columns have one type each."""
        return tree_key(self.expr), tuple(type(value) for value in self.constants)


def shape_of(expr: Expr) -> Shape | None:
    """Return the shape of an expression of the rows' ads.

    None if it has no constants, or if its value may depend on whether a constant is written in it: it calls a function of
    expressions, makes a list or a record, or is near the limits of evaluation. None too if one ad's constant could make it
    costly: the ads of a shape share the cost.
    """
    found = scan(expr)
    if found.opaque or found.moves_scope or found.size > _MAX_SIZE or found.depth > _MAX_DEPTH:
        return None
    if any(name.startswith(_PARAMETER) for names in found.names.values() for name in names):
        return None
    constants: list[LiteralValue] = []
    shaped = _shaped(expr, constants)
    return None if shaped is None or not constants else Shape(shaped, tuple(constants))


@attrs.frozen(eq=False)
class ShapedRows(Generic[T]):
    """The ``rows`` of several expressions of one key, ascending, (R,), and the place of each row's expression, (R,).

    ``table`` has these rows with the constants of their expressions as attributes, which ``expression`` reads.
    """

    expression: Expr
    rows: IndexArray
    codes: IndexArray
    table: T


def shaped_rows(table: T, shapes: Sequence[Shape], rows: Sequence[IndexArray]) -> ShapedRows[T]:
    """Return the rows of expressions together.

    :param shapes: of one key.
    :param rows: those of each expression, ascending; no row has two of them.
    """
    joined, codes = _joined(rows)
    columns = zip(*(shape.constants for shape in shapes), strict=True)
    constants = {_name(place): (codes, values) for place, values in enumerate(columns)}
    return ShapedRows(shapes[0].expr, joined, codes, table.take(joined).with_attributes(constants))


def shaped_parts(table: AttributeTable, name: str) -> tuple[ExpressionRows, ...]:
    """Return the rows in which an attribute is an expression, those of one shape together: see ``AttributeTable.parts``."""
    parts = table.parts(name)
    if len(parts) <= FEW and all(part.expr is not None for part in parts):
        return parts
    groups: dict[object, list[tuple[Shape, IndexArray]]] = {}
    apart: list[tuple[ExpressionRows, IndexArray]] = []
    of_shape: dict[object, ExpressionRows] = {}
    for part in parts:
        for expr, rows in _expressions(part, name):
            shape = shape_of(expr)
            if shape is None:
                apart.append((part, rows))
            else:
                groups.setdefault(shape.key, []).append((shape, rows))
                of_shape[shape.key] = part
    found: list[ExpressionRows] = []
    for key, pieces in groups.items():
        if len(pieces) == 1:
            apart.append((of_shape[key], pieces[0][1]))
            continue
        shaped = shaped_rows(table, [shape for shape, _ in pieces], [rows for _, rows in pieces])
        found.append(ExpressionRows(shaped.expression, shaped.rows, shaped.table))
    found += [part for part, _ in apart if part.expr is not None]
    rare = [rows for part, rows in apart if part.expr is None]
    if rare:
        joined, _ = _joined(rare)
        found.append(ExpressionRows(None, joined, table.take(joined)))
    return tuple(found)


def _expressions(part: ExpressionRows, name: str) -> Iterator[tuple[Expr, IndexArray]]:
    """Yield the expressions of a part, each with its rows."""
    if part.expr is not None:
        yield part.expr, part.rows
        return
    groups, first = part.table.group([name])
    order = np.argsort(groups, kind="stable")
    members = np.split(part.rows[order], np.flatnonzero(np.diff(groups[order])) + 1)
    for row, rows in zip(first.tolist(), members, strict=True):
        expr = part.table.ad(row).get(name)
        if expr is not None:
            yield expr, rows


def _joined(pieces: Sequence[IndexArray]) -> tuple[IndexArray, IndexArray]:
    """Return the rows of all pieces, ascending, and the place of each row's piece."""
    rows = np.concatenate(pieces)
    codes = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces])
    order = np.argsort(rows, kind="stable")
    return rows[order], codes[order]


def _name(place: int) -> str:
    return f"{_PARAMETER}{place}"


def _shaped(expr: Expr, constants: list[LiteralValue]) -> Expr | None:
    """Return the expression with references instead of constants, which are added; None if it has no shape."""
    kind = type(expr)
    if isinstance(expr, Literal):
        if type(expr.value) not in _PLAIN or expr.relative_time:
            return expr
        if type(expr.value) is str and len(expr.value) > LONG_STRING:
            return None
        constants.append(expr.value)
        return Attr(_name(len(constants) - 1), AdRef(Side.MY))
    if kind is Attr or kind is AdRef:
        return expr
    if kind not in _OPERATORS and not (isinstance(expr, Call) and _is_of_values(expr)):
        return None
    shaped = [_shaped(each, constants) for each in children(expr)]
    operands = tuple([each for each in shaped if each is not None])
    return with_operands(expr, operands) if len(operands) == len(shaped) else None


def _is_of_values(call: Call) -> bool:
    """True if a function gets the values of its arguments alone, and its cost does not depend on what they say."""
    name = fold(call.name)
    if name in _LAZY:
        return True
    function = FUNCTIONS.get(name)
    return function is not None and not (function.lazy or function.metered) and function.deterministic
