"""Evaluation of one expression for a whole table of ads.

The values are those of the scalar evaluator, by construction: operators that have a kernel work on columns; all others go
to the scalar evaluator, once for all rows that are equal in the attributes they can read. Expressions that cannot be
split (circular references, functions that depend on more than attributes, a depth or length near the limits of
evaluation, a part whose evaluation fails in some row) go there as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from negotiator.classad.columnar import kernels
from negotiator.classad.columnar.batch import NodeEvaluator, RowBatch, constant_column
from negotiator.classad.columnar.dependencies import KnownCall
from negotiator.classad.columnar.footprints import (
    MAX_SCALAR_STEPS,
    NotVectorizableError,
    WorkCounter,
    footprint_before_rows,
)
from negotiator.classad.columnar.row_sets import is_easy
from negotiator.classad.context import (
    AdValue,
    Allowance,
    Environment,
    EvaluationFailed,
    Exhausted,
    ListValue,
)
from negotiator.classad.functions import FUNCTIONS, Function
from negotiator.classad.scalar import Ad
from negotiator.classad.syntax import (
    PREDEFINED_NAMES,
    AdRef,
    Attr,
    Binary,
    Call,
    Conditional,
    Elvis,
    Expr,
    Literal,
    Paren,
    Side,
    Unary,
    UnreadableNameError,
    children,
    fold,
    scope_side,
)
from negotiator.classad.tables import bits, group_values, scatter
from negotiator.classad.values import ERROR, Kind

_FEW_CALLS: Final = 8
"""So many calls of a function are not kept for other ads."""

_KEPT_VALUES: Final = 1 << 22
"""Values of calls that are kept for one table."""

if TYPE_CHECKING:
    from collections.abc import Sequence

    from negotiator.classad.columnar.dependencies import DependencyIndex
    from negotiator.classad.context import ClassAdValue
    from negotiator.classad.syntax import LiteralValue
    from negotiator.classad.tables import AttributeTable, Column, IndexArray

_ARITHMETIC: Final = frozenset("+-*/%")
_COMPARISON: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})
_IDENTITY: Final = frozenset({"=?=", "=!="})
_LOGIC: Final = frozenset({"&&", "||"})
_KERNELS: Final = _ARITHMETIC | _COMPARISON | _IDENTITY | _LOGIC
_PLAIN: Final = frozenset({bool, int, float, str})
_NO_OPERANDS: Final = bits((Kind.OTHER, Kind.EXPRESSION))
_OTHERS: Final = bits((Kind.OTHER,))
_TYPE_TESTS: Final = {
    "isundefined": Kind.UNDEFINED,
    "iserror": Kind.ERROR,
    "isboolean": Kind.BOOLEAN,
    "isinteger": Kind.INTEGER,
    "isreal": Kind.REAL,
    "isstring": Kind.STRING,
}


def evaluate_table(
    expr: Expr,
    table: AttributeTable,
    other: Ad | None = None,
    *,
    side: Side = Side.MY,
    env: Environment | None = None,
    dependencies: DependencyIndex | None = None,
    owner: Side | None = None,
    steps: int = MAX_SCALAR_STEPS,
    rows: IndexArray | None = None,
) -> Column:
    """Return the value of an expression for each ad of a table, equal to that of ``evaluate``.

    ``side`` is the side of the table's ads. ``Side.MY``: they own the expression, and ``other`` is TARGET (without it each
    ad is evaluated alone). ``Side.TARGET``: ``other`` owns the expression and is MY (an empty ad if None), and they are
    TARGET. The column has as many rows as the table. Errors of
    evaluation are values, as in ``evaluate``. ``dependencies`` is an index over this table, for callers that evaluate many
    expressions. ``owner`` is the side that pays for the expression where the environment has payers: the table's ads
    (``Side.MY``) or ``other``; by default the side that it is evaluated on. ``steps`` are those of the scalar evaluator for all
    rows together, where nobody pays; the values of rows beyond it are errors. ``rows``, ascending, are the only ones whose values
    are needed; those of the others may be errors.
    """
    if type(expr) is Binary and type(expr.right) is Literal:
        name = _name_in_rows(expr.left, side)
        plain = None if name is None else _plain(expr, name, expr.right.value, table)
        if plain is not None:
            return plain
    if side is Side.TARGET and other is None:
        other = Ad()
    on_rows = side is Side.MY
    work = WorkCounter(rows_own=on_rows if owner is None else owner is Side.MY, allowance=Allowance(steps))
    batch = RowBatch(table, other, env or Environment(), _NODES, work, dependencies=dependencies)
    try:
        found = _by_columns(batch, expr, on_rows=on_rows)
        return _by_classes(batch, expr, rows, on_rows=on_rows) if found is None else found
    except UnreadableNameError as error:
        raise error.respelled(_spelled(expr, error.name)) from None


def _spelled(expr: Expr, name: str) -> str:
    """Return a name, in lower case, as an expression spells it."""
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        if type(node) is Attr and fold(node.name) == name:
            return node.name
        waiting += children(node)
    return name


def _by_classes(batch: RowBatch, expr: Expr, rows: IndexArray | None, *, on_rows: bool) -> Column:
    """Evaluate an expression that needs the scalar evaluator: if only because of some rows' own expressions, in these alone."""
    itself = batch.before_rows(expr, on_rows=on_rows)
    if not is_easy(itself):
        # Whoever makes it so pays: the other ad, if the expression by itself would be evaluated by columns, or if what it leads to
        # there lets more rows differ.
        alone = footprint_before_rows(expr, batch.table, None, on_rows=on_rows, shadowed=batch.shadowed)
        batch.work = WorkCounter(
            rows_own=batch.work.rows_own and not is_easy(alone) and itself.names <= alone.names,
            allowance=batch.work.allowance,
        )
        return batch.whole(expr, on_rows=on_rows)
    classes = batch.classes(itself).by_cost
    if len(classes) == 1:
        return batch.whole(expr, on_rows=on_rows)
    parts = []
    for each in classes:
        work = WorkCounter(rows_own=batch.work.rows_own, allowance=batch.work.allowance)
        column = _by_columns(batch.part(each.table, work), expr, on_rows=on_rows) if each.by_columns else None
        if column is None:
            needed = None if rows is None else np.isin(each.rows, rows)
            column = batch.part(each.table, work).whole(expr, on_rows=on_rows, needed=needed)
        parts.append((each.rows, column))
    return scatter(batch.constant(ERROR), parts).narrowed()


def _by_columns(batch: RowBatch, expr: Expr, *, on_rows: bool) -> Column | None:
    try:
        return batch.root(expr, on_rows=on_rows)
    except NotVectorizableError:
        return None


def _plain(expr: Binary, name: str, value: LiteralValue, table: AttributeTable) -> Column | None:
    """Compare an attribute of the rows with a constant: most conjuncts have this form after folding."""
    cells = table.column(name)
    if cells.present & _NO_OPERANDS or type(value) not in _PLAIN:
        return None
    other = constant_column(len(table), table.pool, value)
    if expr.op in _COMPARISON:
        return kernels.compare(expr.op, cells.defined, other)
    if expr.op in _IDENTITY:
        return kernels.identical(cells.defined, other, expected=expr.op == "=?=")
    return None


def _name_in_rows(expr: Expr, side: Side) -> str | None:
    """Return the name of an attribute that is looked up in the rows alone, None for all other expressions."""
    if type(expr) is Attr and type(expr.scope) is AdRef and expr.scope.side is side:
        name = fold(expr.name)
        return None if name in PREDEFINED_NAMES or name == "currenttime" else name
    return None


def _literal(batch: RowBatch, expr: Literal, /, *, on_rows: bool, depth: int) -> Column:  # noqa: ARG001
    return batch.constant(expr.value)


def _paren(batch: RowBatch, expr: Paren, /, *, on_rows: bool, depth: int) -> Column:
    inner: Expr = expr
    while isinstance(inner, Paren):
        inner = inner.inner
        depth += 1
        batch.work.steps += 1
    return batch.value(inner, on_rows=on_rows, depth=depth)


def _unary(batch: RowBatch, expr: Unary, /, *, on_rows: bool, depth: int) -> Column:
    if expr.op == "~":
        return batch.scalar(expr, on_rows=on_rows, depth=depth)
    operand = batch.value(expr.operand, on_rows=on_rows, depth=depth + 1)
    if expr.op == "!":
        return kernels.negation(operand)
    if operand.has(Kind.OTHER):
        return batch.scalar(expr, on_rows=on_rows, depth=depth)
    return kernels.negate(expr.op, operand)


def _binary(batch: RowBatch, expr: Binary, /, *, on_rows: bool, depth: int) -> Column:
    """Evaluate a chain of operators in a loop along its left operands: it may be long."""
    # `a + b + c` nests to the left: recursion would need a Python call for each operator.
    chain: list[Binary] = []
    leftmost: Expr = expr
    while type(leftmost) is Binary and leftmost.op in _KERNELS:
        chain.append(leftmost)
        leftmost = leftmost.left
    if not chain:
        return batch.scalar(expr, on_rows=on_rows, depth=depth)
    batch.work.steps += len(chain)
    depth += len(chain)
    left = batch.value(leftmost, on_rows=on_rows, depth=depth)
    while chain:
        depth -= 1
        left = _operation(batch, chain.pop(), left, on_rows=on_rows, depth=depth)
    return left


def _operation(batch: RowBatch, expr: Binary, left: Column, *, on_rows: bool, depth: int) -> Column:
    op = expr.op
    if op in _LOGIC:
        if _is_settled(op, left):
            return left
        right = batch.value(expr.right, on_rows=on_rows, depth=depth + 1)
        return kernels.conjunction(left, right) if op == "&&" else kernels.disjunction(left, right)
    right = batch.value(expr.right, on_rows=on_rows, depth=depth + 1)
    if (left.present | right.present) & _OTHERS:
        return batch.scalar(expr, on_rows=on_rows, depth=depth)
    if op in _COMPARISON:
        return kernels.compare(op, left, right)
    if op in _IDENTITY:
        return kernels.identical(left, right, expected=op == "=?=")
    return kernels.arithmetic(op, left, right)


def _is_settled(op: str, left: Column) -> bool:
    """True if the left operand decides for all rows, so that the right one is not evaluated."""
    if left.kind is not Kind.BOOLEAN:
        return False
    found = left.data[Kind.BOOLEAN]
    return bool(found.all()) if op == "||" else not found.any()


def _conditional(batch: RowBatch, expr: Conditional, /, *, on_rows: bool, depth: int) -> Column:
    return _choice(batch, expr.test, expr.yes, expr.no, on_rows=on_rows, depth=depth)


def _choice(batch: RowBatch, test: Expr, yes: Expr, no: Expr, *, on_rows: bool, depth: int) -> Column:
    condition = batch.value(test, on_rows=on_rows, depth=depth + 1)
    # The same branch for all rows: evaluate that one only, as scalar evaluation does. Otherwise both are evaluated for
    # all rows; errors are values, so the branch that a row does not take changes nothing.
    if condition.is_constant and condition.numeric():
        return batch.value(yes if condition.truth else no, on_rows=on_rows, depth=depth + 1)
    return kernels.conditional(
        condition,
        batch.value(yes, on_rows=on_rows, depth=depth + 1),
        batch.value(no, on_rows=on_rows, depth=depth + 1),
    )


def _elvis(batch: RowBatch, expr: Elvis, /, *, on_rows: bool, depth: int) -> Column:
    value = batch.value(expr.value, on_rows=on_rows, depth=depth + 1)
    if not value.has(Kind.UNDEFINED):
        return value
    return kernels.elvis(value, batch.value(expr.fallback, on_rows=on_rows, depth=depth + 1))


def _call(batch: RowBatch, expr: Call, /, *, on_rows: bool, depth: int) -> Column:
    name = fold(expr.name)
    if name == "ifthenelse" and len(expr.args) == 3:
        return _choice(batch, *expr.args, on_rows=on_rows, depth=depth)
    if name in _TYPE_TESTS and len(expr.args) == 1:
        value = batch.value(expr.args[0], on_rows=on_rows, depth=depth + 1)
        if not value.has(Kind.OTHER):
            return kernels.has_kind(value, _TYPE_TESTS[name])
    function = FUNCTIONS.get(name)
    if (
        function is None
        or function.lazy
        or not function.deterministic
        or not function.accepts(len(expr.args))
    ):
        return batch.scalar(expr, on_rows=on_rows, depth=depth)
    return _apply(batch, function, expr, on_rows=on_rows, depth=depth)


def _apply(batch: RowBatch, function: Function, expr: Call, *, on_rows: bool, depth: int) -> Column:
    """Call a function of values once for all rows with the same arguments."""
    args = []
    for arg in expr.args:
        args.append(batch.value(arg, on_rows=on_rows, depth=depth + 1))
        if args[-1].has(Kind.OTHER):
            return batch.scalar(expr, on_rows=on_rows, depth=depth)
    key = _key_of_call(function, args)
    known = None if key is None or batch.dependencies is None else batch.dependencies.calls.get(key)
    if known is not None:
        with batch.metered(known.calls) as meter:
            if meter.steps > known.steps:
                meter.charge(known.steps)
                batch.work.steps += known.most
                batch.work.check()
                return known.result
    # ``first`` is one row of each group of equal arguments: a function never runs once a row if rows are alike.
    groups, first = group_values(args, len(batch.table))
    with batch.metered(len(first)) as meter:
        granted = meter.steps
        calls = zip(*(arg.values(first) for arg in args), strict=True) if args else [()] * len(first)
        values, most = [], 0
        for call in calls:
            before = meter.steps
            values.append(_called(batch, function, call, meter))
            most = max(most, before - meter.steps)
        used, has_steps = granted - meter.steps, meter.steps > 0
    # Long strings: each use of the value costs the scalar evaluator these steps again, until its limit.
    batch.work.steps += most
    batch.work.check()
    # Lists and ads refer to the scope they were made in, which a group of rows does not have.
    if any(isinstance(value, ListValue | AdValue) for value in values):
        return batch.scalar(expr, on_rows=on_rows, depth=depth)
    result = batch.spread(values, groups)
    if key is not None and has_steps and batch.dependencies is not None and len(first) > _FEW_CALLS:
        kept = batch.dependencies.calls
        if len(kept) < _KEPT_VALUES // max(1, len(result)):
            kept[key] = KnownCall(tuple(args), result, len(first), used, most)
    return result


def _key_of_call(function: Function, args: Sequence[Column]) -> tuple[Any, ...] | None:
    """Return what identifies a call with the same columns, or constants in place of them; None if it has no column."""
    if not function.deterministic or function.draws or all(arg.is_constant for arg in args):
        return None
    one_row = np.zeros(1, np.intp)
    parts = ((arg.kind, arg.values(one_row)[0]) if arg.is_constant else id(arg) for arg in args)
    return function.call, *parts


def _called(
    batch: RowBatch, function: Function, args: Sequence[ClassAdValue], meter: Allowance
) -> ClassAdValue:
    try:
        return function.apply(args, batch.env, meter)
    except EvaluationFailed:
        raise NotVectorizableError from None
    except Exhausted:
        return ERROR


def _reference(batch: RowBatch, expr: Attr, /, *, on_rows: bool, depth: int) -> Column:
    name = fold(expr.name)
    if name in PREDEFINED_NAMES or expr.absolute:
        raise NotVectorizableError
    if expr.scope is None:
        return batch.unscoped(name, on_rows=on_rows, depth=depth)
    side = scope_side(expr.scope)
    if side is None or name == "currenttime" or (batch.shadowed and not isinstance(expr.scope, AdRef)):
        return batch.scalar(expr, on_rows=on_rows, depth=depth)
    batch.work.steps += 1
    # ``MY`` in an expression of the rows and ``TARGET`` in one of the other ad both mean the rows.
    return batch.attribute((on_rows == (side is Side.MY), name), depth + 1).defined


_BY_TYPE: Final[dict[type, Any]] = {
    Literal: _literal,
    Paren: _paren,
    Unary: _unary,
    Binary: _binary,
    Conditional: _conditional,
    Elvis: _elvis,
    Call: _call,
    Attr: _reference,
}
_NODES: Final[dict[type, NodeEvaluator]] = _BY_TYPE
