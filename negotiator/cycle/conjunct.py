"""One conjunct of Requirements: as an ad has it, and as it is evaluated over slots."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Ad, Environment, Expr, Side
from negotiator.classad.columnar import CacheKey, ColumnCache, Dependencies, TrueRows
from negotiator.classad.syntax import fold, split, tree_key
from negotiator.cycle.reasons import core_reason
from negotiator.cycle.slot_conjuncts import NAME, WHOLE
from negotiator.pool.shown_expression import shown_expression
from negotiator.records import Reason, Station, Verdict

_NAMES = frozenset({(True, NAME), (False, NAME)})
_MINE = Side.MY  # before Python 3.12 looking up an enumeration's member is slow


@attrs.define(eq=False)
class ConjunctPool:
    """The conjuncts of expressions: each expression is split once, and equal conjuncts are one tree."""

    _by_id: dict[int, tuple[Expr, tuple[Expr, ...]]] = attrs.field(factory=dict, init=False)
    _by_tree: dict[str, Expr] = attrs.field(factory=dict, init=False)

    def of(self, expression: Expr) -> tuple[Expr, ...]:
        """Return the conjuncts of an expression, as ``split`` does."""
        known = self._by_id.get(id(expression))  # the entry holds the tree, so that its id stays its own
        if known is None:
            parts = split(expression)
            if len(parts) > 1:
                parts = tuple([self._by_tree.setdefault(tree_key(part), part) for part in parts])
            known = self._by_id[id(expression)] = expression, tuple(parts)
        return known[1]


@attrs.define(eq=False)
class WrittenConjunct:
    """A conjunct as an ad of one side has it in an attribute.

    ``place`` is its place among the conjuncts of all slots, 0 for those of jobs.
    """

    expression: Expr
    attribute: str
    side: Side  # of the slots
    place: int = 0
    _reason: Reason | None = attrs.field(default=None, init=False)

    def reason(self) -> Reason:
        """Return the reason for slots on which it is not true; its text is printed when first needed."""
        if self._reason is None:
            text = shown_expression(self.expression)
            code, owner = (
                ("slot_requirements", f"the slot's {self.attribute}")
                if self.side is _MINE
                else ("job_requirements", "the job's Requirements")
            )
            self._reason = core_reason(Station.MATCH, Verdict.DENIED, code, f"{owner}: {text}", text)
        return self._reason


@attrs.define(eq=False)
class Conjunct:
    """An expression that must be true for a match, evaluated for written conjuncts of one attribute of one side.

    ``rows`` are the slots that it applies to (None: all); ``cache`` has those of them on which it is true.

    ``written`` is one conjunct, or several that apply to different slots: ``codes`` (R,) is then the one of each row.
    """

    expression: Expr
    cache: ColumnCache[TrueRows]
    written: tuple[WrittenConjunct, ...]
    rows: NDArray[np.intp] | None = None
    codes: NDArray[np.intp] | None = None
    side: Side = attrs.field(init=False)  # of the slots
    _always: TrueRows | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self.side = self.written[0].side

    def key(self, job: Ad, env: Environment) -> CacheKey[TrueRows] | None:
        """Return its key in the cache for a job, at the cost of its owner; None if one result, computed before, holds for all jobs."""
        if self._always is not None and not self.cache.dependencies.shadowed(job):
            return None
        return self.cache.key(self.expression, job, self.side, env)

    def truth(self, key: CacheKey[TrueRows] | None, job: Ad, env: Environment) -> TrueRows:
        """Return the slots on which it is true; a result that holds for all jobs is stored here."""
        if key is None and self._always is not None:
            return self._always
        key = key or self.cache.key(self.expression, job, self.side, env)
        truth = self.cache.get_by_key(key, job, env)
        if key.is_shared_by_all:
            self._always = truth
        return truth

    def is_independent(self, key: CacheKey[TrueRows]) -> bool:
        """True if its evaluation never reads the Requirements that it is a part of.

        Inside these such a reference is circular, and undefined; in the conjunct by itself it would have a value.
        """
        return self.is_independent_with(key.dependencies, direct=key.is_direct)

    def is_independent_with(self, dependencies: Dependencies, *, direct: bool) -> bool:
        """True if its evaluation with these dependencies never reads them; ``direct``: the job has constants only."""
        if self.side is _MINE and (direct or self.expression is WHOLE):
            return True  # ``slot_conjuncts`` has checked it for jobs without expressions
        found = dependencies.footprint
        if self.side is not _MINE:
            return not found.opaque and _NAMES.isdisjoint(found.names)
        own = (True, fold(self.written[0].attribute))
        return not found.opaque and found.names.isdisjoint({(True, NAME), own})
