"""Columns that are kept: an expression is evaluated once for all ads that are alike in what it reads of them.

A thousand job classes share a few hundred conjuncts. What is made of the column of an expression (which rows are true,
the numbers) is found again by two keys. The first is cheap: the expression, by identity, and the kinds and values of
those attributes of the other ad that it can reach. The second is the canonical, typed text of the expression with these
values folded in, so that ``TARGET.Memory >= RequestMemory`` of one job and ``TARGET.Memory >= 512`` of another share.

Expressions whose values hang on more than attributes (``random``, ``eval``) are evaluated each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Protocol, TypeVar

import attrs
import numpy as np

from negotiator.classad.columnar.evaluation import evaluate_table
from negotiator.classad.columnar.partial import CommonAttributes, GivenAd, UnknownAd, fold_constants
from negotiator.classad.syntax import Side, tree_key
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from negotiator.classad.columnar.dependencies import Dependencies, DependencyIndex, Key
    from negotiator.classad.columnar.partial import Folded, KnownAd
    from negotiator.classad.context import Environment
    from negotiator.classad.scalar import ClassAd
    from negotiator.classad.syntax import Expr
    from negotiator.classad.tables import BoolArray, Column

MAX_BYTES: Final = 256 << 20
"""What is kept of one table's columns takes no more memory than about this; what comes later is not kept."""

_ENTRY: Final = 1000
"""Bytes that a key takes, about."""


class Sized(Protocol):
    """What can be kept."""

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""


T = TypeVar("T", bound=Sized)

_ANY: Final = UnknownAd()
_MINE: Final = Side.MY  # before Python 3.12 it takes long to find a member


@attrs.define(eq=False)
class MemoryBudget:
    """Memory for what is kept, shared by all who keep something for one cycle."""

    left: int = MAX_BYTES

    def take(self, size: int) -> bool:
        """Take so many bytes if there are as many."""
        if size > self.left:
            return False
        self.left -= size
        return True


@attrs.frozen(eq=False)
class TrueRows:
    """Which rows of a column are true: ``rows`` (N,), read-only, and how many they are."""

    rows: BoolArray
    count: int

    @classmethod
    def of(cls, column: Column) -> TrueRows:
        """Look at a column as a condition (SEMANTICS section 5: numbers other than 0 are true)."""
        if column.kind is not Kind.BOOLEAN:
            return cls.where(column.is_true())
        found = column.data[Kind.BOOLEAN]
        return cls.where(found if found.ndim else np.broadcast_to(found, (len(column),)))

    @classmethod
    def where(cls, rows: BoolArray) -> TrueRows:
        """Take these rows, (N,), for the true ones."""
        rows.setflags(write=False)
        return cls(rows, int(np.count_nonzero(rows)))

    @property
    def some_false(self) -> bool:
        """Whether there are rows that are not true."""
        return self.count < len(self.rows)

    @property
    def nbytes(self) -> int:
        """The memory that it takes: one byte where it is the same in all rows."""
        return self.rows.nbytes if self.rows.strides != (0,) else 1


@attrs.frozen(eq=False)
class _Plan(Generic[T]):
    """How an expression is found again: ``reach`` as it is written; ``folded`` with what all rows have in common."""

    reach: Dependencies
    folded: Dependencies | None
    known: dict[object, T] = attrs.field(factory=dict, init=False)


class CacheKey(NamedTuple, Generic[T]):
    """Where what is made of an expression is kept for all ads with the same ``values`` of what it reaches.

    ``folds``: these values may be folded in.
    """

    plan: _Plan[T]
    reach: Dependencies
    values: Key
    folds: bool

    @property
    def is_plain(self) -> bool:
        """Whether none of the attributes that the expression reaches in the other ad is an expression."""
        return self.reach is self.plan.folded or self.reach is self.plan.reach

    @property
    def is_common(self) -> bool:
        """Whether what is kept here is that of every ad without attributes called MY or TARGET."""
        return self.folds and not self.values and bool(self.plan.known)


class _CachedExpression(NamedTuple):
    """What is to be evaluated, whether it stands in the rows then, and what it is kept by: its text comes first."""

    expr: Expr
    on_rows: bool
    key: tuple[Any, ...]


class ColumnCache(Generic[T]):
    """What was made of the columns of expressions over one table, for as long as this object lives: one cycle.

    ``make`` makes it of a column; it must not change afterwards. ``env`` has the cycle's clock. ``room`` is for the memory
    that it takes; the ways to find it again are forgotten together with what ``reaches`` knows.
    """

    def __init__(
        self, reaches: DependencyIndex, env: Environment, make: Callable[[Column], T], room: MemoryBudget
    ) -> None:
        self.reaches = reaches
        self._env = env
        self.make = make
        self._room = room
        self._rows = CommonAttributes(reaches.table)
        self._this: GivenAd | None = None
        self._generation = reaches.generation
        self._plans: dict[Dependencies, _Plan[T]] = {}
        self._by_text: dict[object, T] = {}

    def of(self, expr: Expr, other: ClassAd, side: Side, env: Environment | None = None) -> T:
        """Return what is made of the values of an expression for each row, as ``evaluate_table`` gives them.

        ``env`` is for expressions that are evaluated each time: it has the state of ``random``.
        """
        return self.at(self.place(expr, other, side), other, env)

    def place(self, expr: Expr, other: ClassAd, side: Side) -> CacheKey[T]:
        """Return where the values of an expression are kept, or would be; nothing is evaluated yet."""
        reach = self.reaches.of(expr, on_rows=side is _MINE, shadowed=self.reaches.shadowed(other))
        plan = self._plans.get(reach) or self._plan(reach)
        if plan.folded is not None:
            reach, values = self.reaches.follow(plan.folded, other)
            if reach.small:
                return CacheKey(plan, reach, values, True)
        reach, values = self.reaches.follow(plan.reach, other)
        return CacheKey(plan, reach, values, False)

    def at(self, place: CacheKey[T], other: ClassAd, env: Environment | None = None) -> T:
        """Return what is kept in a place for this ad, now evaluated if it was not before."""
        reach = place.reach
        if not reach.has_key:
            expr = place.plan.reach.expr
            return self._evaluated(expr, other, env or self._env, on_rows=reach.on_rows)
        first = place.values if reach is place.plan.folded else (reach, place.values)
        made = place.plan.known.get(first)
        if made is None:
            text = self._folded(place, other) if place.folds else self._as_it_is(place)
            made = self._by_text.get(text.key)
            if made is None:
                made = self._evaluated(text.expr, other, self._env, on_rows=text.on_rows)
                if not self._room.take(_ENTRY + len(text.key[0]) + made.nbytes):
                    return made
                self._by_text[text.key] = made
            place.plan.known[first] = made
            self.reaches.grow(_ENTRY)
        return made

    def _plan(self, reach: Dependencies) -> _Plan[T]:
        if self._generation != self.reaches.generation:
            self._generation = self.reaches.generation
            self._plans.clear()
        plan = _Plan[T](reach, self._common(reach) if reach.small and not reach.shadowed else None)
        self._plans[reach] = plan
        return plan

    def _common(self, reach: Dependencies) -> Dependencies:
        """Return the reach of an expression into which is folded what holds for every row, whatever the other ad."""
        expr = self._fold(reach, _ANY).expr
        if expr is reach.expr:
            return reach
        return self.reaches.of(expr, on_rows=reach.on_rows, shadowed=False)

    def _fold(self, reach: Dependencies, other: KnownAd, home: Side | None = None) -> Folded:
        my, target = (self._rows, other) if reach.on_rows else (other, self._rows)
        return fold_constants(reach.expr, my, target, self._env, known_to_stay=reach.stays, home=home)

    def _folded(self, place: CacheKey[T], other: ClassAd) -> _CachedExpression:
        """Fold in the other ad's values; what can still reach it is told apart by these values too.

        Where nothing can, it does not matter whose expression it was: all are taken for expressions of the rows.
        """
        reach = place.reach
        if self._this is None or self._this.ad is not other:
            self._this = GivenAd(other, self._rows, self._env)
        folded = self._fold(reach, self._this, Side.MY if reach.on_rows else Side.TARGET)
        if not (reach.leads_back or (folded.target if reach.on_rows else folded.my)):
            return _CachedExpression(folded.expr, True, (tree_key(folded.expr),))
        if not reach.on_rows:
            folded = self._fold(reach, self._this, Side.MY)
        key = tree_key(folded.expr), reach.on_rows, reach.names, place.values
        return _CachedExpression(folded.expr, reach.on_rows, key)

    def _as_it_is(self, place: CacheKey[T]) -> _CachedExpression:
        """Take the expression as it is written."""
        reach = place.reach
        key = tree_key(reach.expr), reach.on_rows, reach.names, place.values, reach.shadowed, "as it is"
        return _CachedExpression(reach.expr, reach.on_rows, key)

    def _evaluated(self, expr: Expr, other: ClassAd, env: Environment, *, on_rows: bool) -> T:
        side = Side.MY if on_rows else Side.TARGET
        reaches = self.reaches
        return self.make(evaluate_table(expr, reaches.table, other, side=side, env=env, reaches=reaches))
