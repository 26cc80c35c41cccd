"""A batch of rows that are evaluated together: looks names up by columns, and falls back to the scalar evaluator.

Everywhere in ``columnar``, ``on_rows`` is true for an expression that belongs to the ads of the rows: these are MY then, and
the other ad is TARGET. Otherwise it is the other way round. ``depth`` counts levels as scalar evaluation does.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from negotiator.classad.columnar.footprints import (
    MAX_SCALAR_STEPS,
    EvaluatedAttribute,
    Footprint,
    Name,
    NotVectorizableError,
    OutOfStepsError,
    WorkCounter,
    footprint,
    footprint_before_rows,
)
from negotiator.classad.columnar.row_sets import PayingRows, RowClasses
from negotiator.classad.columnar.shapes import shaped_parts
from negotiator.classad.context import Allowance, Environment
from negotiator.classad.scalar import Ad, Paying, evaluate_paid, evaluate_part
from negotiator.classad.syntax import AdRef, Attr, Call, Expr, Side, literal_value
from negotiator.classad.tables import DTYPES, Column, choose, constant, from_values, number, scatter, single
from negotiator.classad.values import ERROR, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from negotiator.classad.columnar.dependencies import DependencyIndex
    from negotiator.classad.context import ClassAdValue
    from negotiator.classad.tables import AttributeTable, BoolArray, ExpressionRows, IndexArray, StringPool

_STEPS_OF_NODE: Final = 50
_ROWS_OF_STEP: Final = 64
"""A node that is evaluated by columns is charged this many steps, and one more for this many rows."""

_FEW_GROUPS: Final = 64
"""So many groups of rows are evaluated one by one, without a search for fewer."""

_STEPS_OF_CALL: Final = 40
"""A function is called by Python once for all rows with the same arguments, and charged this many steps each time."""

_PLAIN: Final[dict[type, Kind]] = {bool: Kind.BOOLEAN, int: Kind.INTEGER, float: Kind.REAL}


class NodeEvaluator(Protocol):
    """A function that evaluates one type of node by columns."""

    def __call__(self, batch: RowBatch, expr: Expr, /, *, on_rows: bool, depth: int) -> Column:
        """Return the values of the node for the rows of the batch."""


class _RowEvaluator(Protocol):
    """The scalar evaluation of an expression in one row."""

    def __call__(self, expr: Expr, row: int, /, *, on_rows: bool) -> ClassAdValue:
        """Return the value of the expression in the row."""


def constant_column(size: int, pool: StringPool, value: ClassAdValue) -> Column:
    """Return the column with this value in every row; a shorter way for numbers, the most frequent case."""
    kind = _PLAIN.get(type(value))
    if kind is None:
        return constant(size, pool, value)
    return single(size, pool, kind, np.asarray(value, DTYPES[kind]))


@lru_cache(maxsize=1024)
def _own(name: str) -> Attr:
    """Return the reference to an attribute of the own ad; the same object for each name."""
    return Attr(name, AdRef(Side.MY))


class RowBatch:
    """The rows of a table, the other ad, and the attributes of both that were evaluated so far.

    ``active`` are the attributes that are being evaluated: a reference to one of them is circular. ``dependencies`` is the
    index of earlier evaluations, if there is one.
    """

    __slots__ = (
        "_paying",
        "_shadowed",
        "active",
        "dependencies",
        "env",
        "evaluated",
        "nodes",
        "other",
        "pool",
        "size",
        "table",
        "work",
    )

    def __init__(
        self,
        table: AttributeTable,
        other: Ad | None,
        env: Environment,
        nodes: dict[type, NodeEvaluator],
        work: WorkCounter,
        active: frozenset[Name] = frozenset(),
        dependencies: DependencyIndex | None = None,
    ) -> None:
        self.table = table
        self.size = len(table)
        self.pool = table.pool
        self.other = other
        self.env = env
        self.nodes = nodes
        self.work = work
        self.active = active
        self.dependencies = dependencies
        self.evaluated: dict[Name, EvaluatedAttribute] = {}
        self._paying = PayingRows(table) if dependencies is None else dependencies.paying
        self._shadowed: bool | None = None

    @property
    def shadowed(self) -> bool:
        """True if one of the ads has an attribute called MY or TARGET."""
        if self._shadowed is None:
            self._shadowed = any(
                self.table.column(name).kind is not Kind.ABSENT
                or (self.other is not None and self.other.folded(name) is not None)
                for name in ("my", "target")
            )
        return self._shadowed

    def value(self, expr: Expr, *, on_rows: bool, depth: int) -> Column:
        """Return the values of an expression, ``depth`` levels below the root of the evaluation."""
        work = self.work
        work.steps += 1
        work.nodes += 1
        work.nesting += 1
        work.deepest = max(work.deepest, depth)
        work.check()
        node = self.nodes.get(type(expr))
        if node is None:
            column = self.scalar(expr, on_rows=on_rows, depth=depth)
        else:
            column = node(self, expr, on_rows=on_rows, depth=depth)
        work.nesting -= 1
        return column

    def constant(self, value: ClassAdValue) -> Column:
        """Return the column with this value in every row."""
        return constant_column(self.size, self.pool, value)

    # References.

    def unscoped(self, name: str, *, on_rows: bool, depth: int) -> Column:
        """Look a name up in the own ad first; in rows without the attribute, in the other ad."""
        own = self.attribute((on_rows, name), depth)
        if not own.has(Kind.ABSENT):
            return own
        if name == "currenttime":  # it takes precedence over the other ad's
            alternate = self.value(Call("time"), on_rows=on_rows, depth=depth)
        else:
            alternate = self.attribute((not on_rows, name), depth).defined
        return choose(own.where(Kind.ABSENT), alternate, own).without(Kind.ABSENT)

    def attribute(self, key: Name, depth: int) -> Column:
        """Return the values of an attribute of the rows or of the other ad; ABSENT in ads without it."""
        in_rows, name = key
        work = self.work
        # Constants in all rows: the stored column is the result.
        if in_rows and not (cells := self.table.column(name)).has(Kind.EXPRESSION):
            work.deepest = max(work.deepest, depth)
            return cells
        known = self.evaluated.get(key) or self._shared(key)
        if known is not None:
            # Charge a repeated use as scalar evaluation would: it evaluates the attribute at each reference.
            work.steps += known.steps
            work.deepest = max(work.deepest, depth + known.height)
            work.check()
            return known.column
        if key in self.active:
            raise NotVectorizableError
        # Measure this attribute alone: its steps, and its height above ``depth``.
        steps, deepest = work.steps, work.deepest
        work.deepest = depth
        before = self.active
        self.active |= {key}
        column = self._of_rows(name, depth) if in_rows else self._of_other(name, depth)
        self.active = before
        found = EvaluatedAttribute(column, work.steps - steps, work.deepest - depth)
        self.evaluated[key] = found
        self._share(key, found)
        work.deepest = max(work.deepest, deepest)
        return column

    def _shared(self, key: Name) -> EvaluatedAttribute | None:
        """Return an attribute of the rows that was evaluated for an earlier ad, if that is the same for all ads."""
        if not key[0] or self.dependencies is None or self.shadowed:
            return None
        return self.dependencies.evaluated.get(key[1])

    def _share(self, key: Name, found: EvaluatedAttribute) -> None:
        """Keep an attribute of the rows for other ads if it does not read the other ad."""
        in_rows, name = key
        if not in_rows or self.dependencies is None or self.shadowed:
            return
        if self.env.payers is not None and self.env.payers.exhausted:  # it may have been cut short
            return
        if self.dependencies.is_of_rows_alone(_own(name)):
            self.dependencies.evaluated[name] = found

    def _of_other(self, name: str, depth: int) -> Column:
        expr = None if self.other is None else self.other.get(name)
        if expr is None:
            return single(self.size, self.pool, Kind.ABSENT)
        literal = literal_value(expr)
        if literal is not None:
            return self.constant(literal)
        payers = self.env.payers
        if payers is None or not self.size:
            return self.value(expr, on_rows=False, depth=depth + 1)
        if payers.other is None:
            return self.shared(expr, on_rows=False, depth=depth + 1)
        with self._paid_by(payers.other, 1):
            return self.value(expr, on_rows=False, depth=depth + 1)

    def _of_rows(self, name: str, depth: int) -> Column:
        cells = self.table.column(name)
        # Each row costs the steps of its own expression only, so the most expensive part counts.
        before = most = self.work.steps
        parts = []
        for part in self._parts(name):
            self.work.steps = before
            parts.append((part.rows, self._of_part(part, name, depth)))
            most = max(most, self.work.steps)
        self.work.steps = most
        return scatter(cells, parts).without(Kind.EXPRESSION)

    def _parts(self, name: str) -> Sequence[ExpressionRows]:
        """Return the rows with expressions, those that are evaluated together in one part."""
        return shaped_parts(self.table, name) if self.dependencies is None else self.dependencies.parts(name)

    def _of_part(self, part: ExpressionRows, name: str, depth: int) -> Column:
        """Return the values of the rows with one expression, or with rare ones."""
        batch = self.part(part.table, self.work, self.active)
        if part.expr is not None:
            return batch.shared(part.expr, on_rows=True, depth=depth + 1)
        return batch.scalar(_own(name), on_rows=True, depth=depth)

    def part(
        self, table: AttributeTable, work: WorkCounter, active: frozenset[Name] = frozenset()
    ) -> RowBatch:
        """Return the batch of some of the rows; this one if they are all."""
        if table is self.table and work is self.work:
            return self
        dependencies = None if self.dependencies is None else self.dependencies.for_part(table)
        return RowBatch(table, self.other, self.env, self.nodes, work, active, dependencies)

    # The scalar evaluator.

    def scalar(self, expr: Expr, *, on_rows: bool, depth: int) -> Column:
        """Evaluate a part of an expression by the scalar evaluator, if the value is the same as when evaluated in place.

        :raises NotVectorizableError: it may differ, or the evaluation fails in some row, and so does that of the whole
            expression unless the row does not need this part.
        """
        # Taken out of its expression, a part has all levels and starts in its own ad. That changes nothing unless it
        # moves the scope, is circular, or is near the limits.
        reads = self._footprint(expr, on_rows=on_rows)
        if reads.opaque or reads.moves_scope or reads.bounds is None:
            raise NotVectorizableError  # also where a reference is circular
        self.work.deepest = max(self.work.deepest, depth + reads.bounds.depth)
        self.work.steps += reads.bounds.steps
        self.work.check()
        return self._grouped(expr, reads, self._part, on_rows=on_rows)

    def whole(self, expr: Expr, *, on_rows: bool, needed: BoolArray | None = None) -> Column:
        """Evaluate the whole expression by the scalar evaluator; only the values of ``needed`` rows, (N,), are used."""
        reads = self._footprint(expr, on_rows=on_rows)
        return self._grouped(expr, reads, self._one, on_rows=on_rows, needed=needed)

    def _footprint(self, expr: Expr, *, on_rows: bool) -> Footprint:
        if self.dependencies is not None:
            payer = None if self.env.payers is None else self.env.payers.other
            return self.dependencies.footprint(
                expr, self.other, on_rows=on_rows, shadowed=self.shadowed, payer=payer
            )
        return footprint(expr, self.table, self.other, on_rows=on_rows, shadowed=self.shadowed)

    def before_rows(self, expr: Expr, *, on_rows: bool) -> Footprint:
        """Return what an expression reads if the rows have constants only."""
        return footprint_before_rows(expr, self.table, self.other, on_rows=on_rows, shadowed=self.shadowed)

    def classes(self, itself: Footprint) -> RowClasses:
        """Return the classes of the rows for an expression that reads so much of them by itself."""
        names = frozenset(itself.row_names())
        return (
            RowClasses.of(self.table, names)
            if self.dependencies is None
            else self.dependencies.classes(names)
        )

    def _grouped(
        self,
        expr: Expr,
        reads: Footprint,
        of_row: _RowEvaluator,
        *,
        on_rows: bool,
        needed: BoolArray | None = None,
    ) -> Column:
        """Evaluate once for all rows that are equal in the attributes that the expression reads."""
        if reads.opaque:
            rows = np.arange(self.size) if needed is None else np.flatnonzero(needed)
            values = [of_row(expr, row, on_rows=on_rows) for row in rows.tolist()]
            return scatter(self.constant(ERROR), [(rows, from_values(self.pool, values))])
        groups, first = self._groups(expr, reads, on_rows=on_rows)
        values = [of_row(expr, row, on_rows=on_rows) for row in first.tolist()]
        if self.env.payers is not None and len(first) < self.size and any(each is ERROR for each in values):
            self._repeat(values, groups, first, lambda row: of_row(expr, row, on_rows=on_rows))
        return self.spread(values, groups)

    def _groups(self, expr: Expr, reads: Footprint, *, on_rows: bool) -> tuple[IndexArray, IndexArray]:
        """Return groups of rows in which an expression has the same value, (N,), and the first row of each, (G,).

        A row's expressions are distinguished from those of others if they are many: the attributes that one of them reads need
        not be equal in all.
        """
        names = list(filter(self._differs, reads.row_names()))
        groups, first = self.table.group(names)
        if len(first) <= _FEW_GROUPS or not any(map(self.table.has_expressions, names)):
            return groups, first
        classes = self.classes(self.before_rows(expr, on_rows=on_rows)).by_reads
        if len(classes) == 1:
            return groups, first
        count = 0
        for each in classes:
            part = self.part(each.table, self.work)
            own = part._footprint(expr, on_rows=on_rows).row_names()  # noqa: SLF001 - a batch of the same kind
            inside, heads = each.table.group(list(filter(part._differs, own)))  # noqa: SLF001
            groups[each.rows] = inside + count
            count += len(heads)
        return number(groups, count)

    def _repeat(
        self,
        values: list[ClassAdValue],
        groups: IndexArray,
        first: IndexArray,
        of_row: Callable[[int], ClassAdValue],
    ) -> None:
        """Evaluate groups again whose first row has no steps left, in another row of theirs that has."""
        payers = self.env.payers
        if payers is None:
            return
        order = np.argsort(groups, kind="stable")
        ends = np.cumsum(np.bincount(groups, minlength=len(values)))
        for group, chosen in enumerate(first.tolist()):
            row = chosen
            while values[group] is ERROR and payers.rows(self.table.ad(row)).exhausted:
                members = order[ends[group - 1] if group else 0 : ends[group]]
                row = self._paying.first(payers.rows, members)
                if payers.rows(self.table.ad(row)).exhausted:
                    break
                values[group] = of_row(row)

    def _differs(self, name: str) -> bool:
        """True if rows may differ in an attribute; most attributes are the same, or absent, in all."""
        column = self.table.column(name)
        return not column.is_constant or column.has(Kind.EXPRESSION)

    def spread(self, values: Sequence[ClassAdValue], groups: IndexArray) -> Column:
        """Return the column that has in each row the value of its group."""
        if len(values) == 1:
            return self.constant(values[0])
        column = from_values(self.table.pool, values)
        return column if len(values) == len(groups) else column.take(groups)

    def _one(self, expr: Expr, row: int, /, *, on_rows: bool) -> ClassAdValue:
        value = self._scalar_value(expr, row, on_rows=on_rows)
        return ERROR if value is None else value

    def _part(self, expr: Expr, row: int, /, *, on_rows: bool) -> ClassAdValue:
        value = self._scalar_value(expr, row, on_rows=on_rows)
        if value is None:
            raise NotVectorizableError
        return value

    def _scalar_value(self, expr: Expr, row: int, *, on_rows: bool) -> ClassAdValue | None:
        payers = self.env.payers
        if payers is not None and self.other is not None and payers.exhausted:
            return ERROR
        ad = self.table.ad(row)
        my, target = (ad, self.other) if on_rows else (self.other, ad)
        if payers is None:
            return evaluate_part(expr, my, target, self.env, self.work.allowance)
        own = payers.rows(ad)
        other = payers.other or own
        expression = payers.expression or (own if self.work.rows_own else other)
        mine, theirs = (own, other) if on_rows else (other, own)
        return evaluate_paid(expr, my, target, self.env, Paying(expression, mine, theirs))

    # Who pays.

    def root(self, expr: Expr, *, on_rows: bool) -> Column:
        """Return the values of a whole expression; its owner pays.

        :raises NotVectorizableError: it must be evaluated as a whole.
        """
        payers = self.env.payers
        if payers is None or not self.size:
            return self.value(expr, on_rows=on_rows, depth=1)
        payer = payers.expression or (None if self.work.rows_own else payers.other)
        if payer is None:
            return self.shared(expr, on_rows=on_rows, depth=1)
        try:
            with self._paid_by(payer, 1):
                return self.value(expr, on_rows=on_rows, depth=1)
        except OutOfStepsError:
            return self.constant(ERROR)

    def shared(self, expr: Expr, *, on_rows: bool, depth: int) -> Column:
        """Return the values of an expression that the rows have in common; error if none of them has steps left.

        They share the cost, so that one of many pays next to nothing. Where one cannot pay its share, the next one does:
        an ad that uses up its steps takes nothing from the others.
        """
        payers, work = self.env.payers, self.work
        if payers is None or not self.size:
            return self.value(expr, on_rows=on_rows, depth=depth)
        before = work.steps, work.nesting, work.deepest, self.active
        while True:
            payer = payers.rows(self.table.ad(self._paying.first(payers.rows)))
            had_steps = not payer.exhausted
            try:
                with self._paid_by(payer, self.size):
                    return self.value(expr, on_rows=on_rows, depth=depth)
            except OutOfStepsError:
                work.steps, work.nesting, work.deepest, self.active = before
                # Otherwise all have none left, or a limit was reached that is the same for all.
                if not (had_steps and payer.exhausted):
                    return self.constant(ERROR)

    @contextmanager
    def _paid_by(self, payer: Allowance, shares: int) -> Iterator[None]:
        work = self.work
        cost = _STEPS_OF_NODE + self.size // _ROWS_OF_STEP
        before = work.payer, work.shares, work.nodes, work.most_nodes
        work.payer, work.shares, work.nodes = payer, shares, 0
        work.most_nodes = max(payer.steps, 0) * shares // cost
        try:
            yield
        finally:
            payer.steps -= _share(work.nodes * cost, shares)
            work.payer, work.shares, work.nodes, work.most_nodes = before

    @contextmanager
    def metered(self, calls: int) -> Iterator[Allowance]:
        """Yield the allowance for so many calls of a function of values, and charge who pays for them.

        :raises OutOfStepsError: there are not enough steps left to call it so often.
        """
        work, payer = self.work, self.work.payer
        if payer is None:
            yield work.allowance
            return
        granted = min(max(payer.steps, 0) * work.shares, MAX_SCALAR_STEPS)
        meter = Allowance(granted - calls * _STEPS_OF_CALL)
        try:
            if meter.steps < 0:
                raise OutOfStepsError
            yield meter
        finally:
            payer.steps -= _share(granted - meter.steps, work.shares)


def _share(steps: int, shares: int) -> int:
    """Return one of equal shares of some steps, rounded up."""
    return -(-steps // shares)
