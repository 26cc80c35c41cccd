"""Caches columns: an expression is evaluated once for all ads that are alike in the attributes it reads.

A thousand job classes share a few hundred conjuncts. The cache has two levels:

1. By identity of the expression and by the other ad's values (``Dependencies.values``): a look-up that costs next to
   nothing. It finds the conjunct of a slot for a further job with the same RequestMemory.
2. By text: the canonical text of the expression after these values and those common to all rows were folded in. It
   finds that ``TARGET.Memory >= RequestMemory`` of one job and ``TARGET.Memory >= 512`` of another are the same.

Why a hit is right: a column depends on the table, which is fixed for the life of the cache, and on the other ad's
attributes that evaluation can read. ``DependencyIndex`` finds a superset of these; the key has the type and value of each
(or the number of its tree, if it is an expression, together with everything that tree reads in turn). Types are part of
the key, since ``1``, ``1.0`` and ``true`` are equal in Python but not in ClassAds. Expressions whose values depend on
more than attributes (``random``, ``eval``) have no key and are evaluated each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Protocol, TypeVar

import attrs

from negotiator.classad.columnar.evaluation import evaluate_table
from negotiator.classad.columnar.partial import CommonAttributes, GivenAd, UnknownAd, fold_constants
from negotiator.classad.syntax import Side, tree_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from negotiator.classad.columnar.dependencies import Dependencies, DependencyIndex, Values
    from negotiator.classad.columnar.partial import Folded, KnownAd
    from negotiator.classad.context import Environment
    from negotiator.classad.scalar import Ad
    from negotiator.classad.syntax import Expr
    from negotiator.classad.tables import Column

MAX_BYTES: Final = 256 << 20
"""Approximate memory of the cached columns of one table; beyond it nothing more is cached."""

_BYTES_OF_ROW: Final = 512
"""Memory of the cached columns of a large table for each of its rows: 4,000 conditions, or the ranks of 64 expressions."""

_ENTRY: Final = 1000
"""Approximate bytes of a key."""


class Sized(Protocol):
    """A value that can be cached."""

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""


T = TypeVar("T", bound=Sized)

_UNKNOWN: Final = UnknownAd()
_MINE: Final = Side.MY  # before Python 3.12 it takes long to find a member of an enum


@attrs.define(eq=False)
class MemoryBudget:
    """The remaining memory for all caches of one cycle, in bytes."""

    left: int = MAX_BYTES

    @classmethod
    def of(cls, rows: int) -> MemoryBudget:
        """Return the memory for the columns of a table of so many rows."""
        return cls(max(MAX_BYTES, _BYTES_OF_ROW * rows))

    def take(self, size: int) -> bool:
        """Reserve memory; return False, reserving nothing, if not enough is left."""
        if size > self.left:
            return False
        self.left -= size
        return True


@attrs.frozen(eq=False)
class _CachePlan(Generic[T]):
    """How to look up an expression: its dependencies as written, and after folding in the values that all rows share.

    ``folded`` is None if folding is not safe. ``results`` is the first level of the cache.
    """

    written: Dependencies
    folded: Dependencies | None
    results: dict[object, T] = attrs.field(factory=dict, init=False)


class CacheKey(NamedTuple, Generic[T]):
    """The entry for an expression and all ads with the same ``values`` of the attributes that it depends on.

    ``can_fold``: these values may be folded into the expression.
    """

    plan: _CachePlan[T]
    dependencies: Dependencies
    values: Values
    can_fold: bool

    @property
    def is_direct(self) -> bool:
        """True if all attributes of the other ad that the expression depends on are constants."""
        return self.dependencies is self.plan.folded or self.dependencies is self.plan.written

    @property
    def is_shared_by_all(self) -> bool:
        """True if the entry holds for every ad without attributes called MY or TARGET, and is filled."""
        return self.can_fold and not self.values and bool(self.plan.results)


class _CachedExpression(NamedTuple):
    """The expression to evaluate, which side owns it, and its key in the second level, whose first part is its text."""

    expr: Expr
    on_rows: bool
    key: tuple[Any, ...]


class ColumnCache(Generic[T]):
    """The results of expressions over one table, for the life of this object: one cycle.

    ``convert`` makes a result of a column (its true rows, its numbers); results must not change afterwards. ``env`` has the
    cycle's clock. ``budget`` limits the memory of the results. The first level of the cache is dropped whenever
    ``dependencies`` is emptied (a new ``epoch``), since its keys hold numbers and objects of that index. The second level
    has texts as keys and stays.
    """

    def __init__(
        self,
        dependencies: DependencyIndex,
        env: Environment,
        convert: Callable[[Column], T],
        budget: MemoryBudget,
    ) -> None:
        self.dependencies = dependencies
        self.convert = convert
        self._env = env
        self._budget = budget
        self._common = CommonAttributes(dependencies.table)
        self._given: GivenAd | None = None  # the ad of the last look-up
        self._epoch = dependencies.epoch
        self._plans: dict[Dependencies, _CachePlan[T]] = {}
        self._by_text: dict[object, T] = {}

    def get(self, expr: Expr, other: Ad, side: Side, env: Environment | None = None) -> T:
        """Return the result of an expression: of the column that ``evaluate_table`` gives.

        ``env`` has the state of ``random``, and the allowances that pay for evaluations.
        """
        return self.get_by_key(self.key(expr, other, side, env), other, env)

    def key(self, expr: Expr, other: Ad, side: Side, env: Environment | None = None) -> CacheKey[T]:
        """Return the key of an expression and an ad; nothing is evaluated.

        Following the ad's expressions is charged to its owner, if ``env`` has one.
        """
        index = self.dependencies
        payer = None if env is None or env.payers is None else env.payers.other
        written = index.without_other_ad(expr, on_rows=side is _MINE, shadowed=index.shadowed(other))
        plan = self._plans.get(written) or self._plan(written)
        if plan.folded is not None:
            # Folding in the rows' common values often removes references to the other ad: fewer values in the key, more
            # hits. The other ad's expressions count towards the limits too, so these are checked again here.
            dependencies, values = index.resolve(plan.folded, other, payer)
            if dependencies.within_limits:
                return CacheKey(plan, dependencies, values, True)
        dependencies, values = index.resolve(plan.written, other, payer)
        return CacheKey(plan, dependencies, values, False)

    def dependencies_of(self, expr: Expr, side: Side) -> Dependencies:
        """Return what an expression depends on with all ads that have constants only, and no attribute called MY or TARGET."""
        written = self.dependencies.without_other_ad(expr, on_rows=side is _MINE, shadowed=False)
        plan = self._plans.get(written) or self._plan(written)
        return written if plan.folded is None or not plan.folded.within_limits else plan.folded

    def get_by_key(self, key: CacheKey[T], other: Ad, env: Environment | None = None) -> T:
        """Return the result for a key of this ad; evaluate it if it is not cached."""
        env = env or self._env
        dependencies = key.dependencies
        if not dependencies.cacheable:
            expr = key.plan.written.expr
            return self._evaluate(expr, other, env, on_rows=dependencies.on_rows)
        # First level. Usually the values alone are the key. With other dependencies (not folded, or extended by the other
        # ad's expressions) the same values may belong to other names, so the key has the dependencies too.
        first = key.values if dependencies is key.plan.folded else (dependencies, key.values)
        result = key.plan.results.get(first)
        if result is None:
            # Second level: fold, and evaluate only if no expression with the same text was evaluated before.
            text = self._folded(key, other) if key.can_fold else self._unfolded(key)
            result = self._by_text.get(text.key)
            if result is None:
                owner = _MINE if dependencies.on_rows else Side.TARGET
                result = self._evaluate(text.expr, other, env, on_rows=text.on_rows, owner=owner)
                # A result that was cut short is for nobody else: an ad whose owner has steps left would get it too.
                if env.payers is not None and env.payers.exhausted:
                    return result
                # The budget is used up: return the result without storing it.
                if not self._budget.take(_ENTRY + len(text.key[0]) + result.nbytes):
                    return result
                self._by_text[text.key] = result
            key.plan.results[first] = result
            self.dependencies.add_memory(_ENTRY)
        return result

    def _plan(self, written: Dependencies) -> _CachePlan[T]:
        # Plans of an earlier epoch are unreachable, since ``without_other_ad`` now returns new objects.
        if self._epoch != self.dependencies.epoch:
            self._epoch = self.dependencies.epoch
            self._plans.clear()
        # Folding needs less depth and fewer steps than evaluation as written: near the limits it would hide an error.
        safe = written.within_limits and not written.shadowed
        plan = _CachePlan[T](written, self._fold_common(written) if safe else None)
        self._plans[written] = plan
        return plan

    def _fold_common(self, written: Dependencies) -> Dependencies:
        """Return the dependencies after folding in the values that all rows share, for any other ad."""
        expr = self._fold(written, _UNKNOWN).expr
        if expr is written.expr:
            return written
        return self.dependencies.without_other_ad(expr, on_rows=written.on_rows, shadowed=False)

    def _fold(self, dependencies: Dependencies, other: KnownAd, canonical: Side | None = None) -> Folded:
        my, target = (self._common, other) if dependencies.on_rows else (other, self._common)
        return fold_constants(
            dependencies.expr,
            my,
            target,
            self._env,
            known_to_keep_scope=dependencies.keeps_scope,
            canonical=canonical,
        )

    def _folded(self, key: CacheKey[T], other: Ad) -> _CachedExpression:
        """Fold in the other ad's values.

        If the folded expression cannot read the other ad, its text alone is the key, and expressions of both sides share
        it: all are evaluated as expressions of the rows. Otherwise the key has the values too.
        """
        dependencies = key.dependencies
        if self._given is None or self._given.ad is not other:
            self._given = GivenAd(other, self._common, self._env)
        folded = self._fold(dependencies, self._given, Side.MY if dependencies.on_rows else Side.TARGET)
        reads_other = folded.reads_target if dependencies.on_rows else folded.reads_my
        if not (dependencies.rows_refer_back or reads_other):
            return _CachedExpression(folded.expr, True, (tree_key(folded.expr),))
        # The form of Side.TARGET is valid only without references to ``my`` (see ``fold_constants``): fold again.
        if not dependencies.on_rows:
            folded = self._fold(dependencies, self._given, Side.MY)
        text = tree_key(folded.expr)
        full_key = text, dependencies.on_rows, dependencies.names, key.values
        return _CachedExpression(folded.expr, dependencies.on_rows, full_key)

    def _unfolded(self, key: CacheKey[T]) -> _CachedExpression:
        """Return the expression as written."""
        dependencies = key.dependencies
        text = tree_key(dependencies.expr)
        full_key = (
            *(text, dependencies.on_rows, dependencies.names, key.values),
            *(dependencies.shadowed, "unfolded"),
        )
        return _CachedExpression(dependencies.expr, dependencies.on_rows, full_key)

    def _evaluate(
        self, expr: Expr, other: Ad, env: Environment, *, on_rows: bool, owner: Side | None = None
    ) -> T:
        side = Side.MY if on_rows else Side.TARGET
        index = self.dependencies
        return self.convert(
            evaluate_table(expr, index.table, other, side=side, env=env, dependencies=index, owner=owner)
        )
