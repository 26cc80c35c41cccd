"""The Requirements of both sides over the slots of one cycle, conjunct by conjunct.

The slots on which a conjunct is true are found once for all jobs that are equal in the attributes that it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ClassAd, Environment, Expr, Kind, Side, Table
from negotiator.classad.columnar import (
    CacheKey,
    ColumnCache,
    DependencyIndex,
    MemoryBudget,
    TrueRows,
    moved_attributes,
    rejoin,
    split,
)
from negotiator.classad.syntax import fold
from negotiator.cycle.reasons import core_reason
from negotiator.cycle.slot_conjuncts import NAME, WHOLE, slot_conjuncts
from negotiator.cycle.slot_layers import slot_layers
from negotiator.pool.shown_expression import shown_expression
from negotiator.records import Reason, Station, Verdict

#: Maximum of different Requirements of jobs whose conjuncts are cached; beyond it the cache is emptied.
MAX_KNOWN = 1000

_NAMES = frozenset({(True, NAME), (False, NAME)})
_MINE = Side.MY  # before Python 3.12 looking up an enumeration's member is slow


@attrs.define(eq=False)
class Conjunct:
    """A part of the Requirements of a job or of slots that must be true for a match.

    ``rows`` are the slots that it applies to (None: all); ``cache`` has those of them on which it is true.
    ``shown`` is the expression that the reason prints. ``place`` is that among the conjuncts of its side.

    With ``parts`` it stands for several conjuncts that apply to different slots: ``codes`` (R,) is the part of each.
    """

    expression: Expr
    shown: Expr
    attribute: str
    side: Side  # of the slots
    cache: ColumnCache[TrueRows]
    rows: NDArray[np.intp] | None = None
    place: int = 0
    parts: tuple[Conjunct, ...] = ()
    codes: NDArray[np.intp] | None = None
    _reason: Reason | None = attrs.field(default=None, init=False)
    _always: TrueRows | None = attrs.field(default=None, init=False)

    def key(self, job: ClassAd) -> CacheKey[TrueRows] | None:
        """Return its key in the cache for a job; None if one result, computed before, holds for all jobs."""
        if self._always is not None and not self.cache.dependencies.shadowed(job):
            return None
        return self.cache.key(self.expression, job, self.side)

    def truth(self, key: CacheKey[TrueRows] | None, job: ClassAd, env: Environment) -> TrueRows:
        """Return the slots on which it is true; a result that holds for all jobs is stored here."""
        if key is None and self._always is not None:
            return self._always
        key = key or self.cache.key(self.expression, job, self.side)
        truth = self.cache.get_by_key(key, job, env)
        if key.is_shared_by_all:
            self._always = truth
        return truth

    def reason(self) -> Reason:
        """Return the reason for slots on which it is not true; its text is printed when first needed."""
        if self._reason is None:
            text = shown_expression(self.shown)
            code, owner = (
                ("slot_requirements", f"the slot's {self.attribute}")
                if self.side is Side.MY
                else ("job_requirements", "the job's Requirements")
            )
            self._reason = core_reason(Station.MATCH, Verdict.DENIED, code, f"{owner}: {text}", text)
        return self._reason

    def is_independent(self, key: CacheKey[TrueRows]) -> bool:
        """True if its evaluation never reads the Requirements that it is a part of.

        Inside these such a reference is circular, and undefined; in the conjunct by itself it would have a value.
        """
        if self.side is _MINE and (key.is_direct or self.expression is WHOLE):
            return True  # ``slot_conjuncts`` has checked it for jobs without expressions
        found = key.dependencies.footprint
        if self.side is not _MINE:
            return not found.opaque and _NAMES.isdisjoint(found.names)
        return not found.opaque and found.names.isdisjoint({(True, NAME), (True, fold(self.attribute))})


class Requirements:
    """The Requirements of jobs and of the slots of one cycle.

    ``present`` are the slots that have Requirements. ``cache`` has the slots on which expressions are true, for other
    users too.
    """

    def __init__(self, slots: Table, env: Environment, budget: MemoryBudget) -> None:
        self.dependencies = DependencyIndex(slots)
        self.cache = ColumnCache(self.dependencies, env, TrueRows.from_column, budget)
        self._slots, self._env, self._budget = slots, env, budget
        self._caches: dict[bytes, ColumnCache[TrueRows]] = {}
        self._parts = slot_conjuncts(slots)
        self._layers = tuple(self._of_layers())
        self._whole_slots = Conjunct(WHOLE, WHOLE, "Requirements", Side.MY, self.cache)
        absent = np.broadcast_to(slots.column("Requirements").where(Kind.ABSENT), len(slots))
        self.present = TrueRows.from_mask(~absent)
        # By identity of the tree: jobs with the same text share it.
        self._of_jobs: dict[int, _SplitRequirements] = {}

    def of_job(self, job: ClassAd, env: Environment) -> Iterator[tuple[Conjunct, TrueRows]]:
        """Yield each conjunct of a job's Requirements with the slots on which it is true; none without Requirements.

        ``env`` has the clock of the cycle, and the state of ``random`` for this job.
        """
        written = job.get("Requirements")
        if written is not None:
            whole = Conjunct(WHOLE, written, "Requirements", Side.TARGET, self.cache)
            yield from _evaluated(self._job_conjuncts(written, job), whole, job, env)

    def of_slots(self, job: ClassAd, env: Environment) -> Iterator[tuple[Conjunct, TrueRows]]:
        """Yield the conjuncts of the slots' Requirements with the slots, of those that have them, on which they are true.

        Conjuncts that differ in their constants only come together. MY may mean anything where an ad has such an
        attribute: each conjunct is then by itself.
        """
        conjuncts = self._apart if self.dependencies.shadowed(job) else self._layers
        yield from _evaluated(conjuncts, self._whole_slots, job, env)

    def _job_conjuncts(self, written: Expr, job: ClassAd) -> Sequence[Conjunct]:
        known = self._of_jobs.get(id(written))
        if known is None:
            if len(self._of_jobs) >= MAX_KNOWN:
                self._of_jobs.clear()
            known = self._of_jobs[id(written)] = self._split(written)
        if not known.moves:
            return known.parts
        # Rare: a call moves the scope, and to which ad depends on the attributes of the job.
        own = frozenset([name for name in known.moves if name in job and "my" not in job])
        parts = known.rejoined.get(own)
        if parts is None:
            expressions = rejoin([part.expression for part in known.parts], own)
            parts = known.rejoined[own] = tuple(map(self._of_job, expressions))
        return parts

    def _split(self, written: Expr) -> _SplitRequirements:
        parts = split(written)
        found = [
            self.dependencies.without_other_ad(part, on_rows=False, shadowed=False).footprint
            for part in parts
        ]
        moving = [part for part, reach in zip(parts, found, strict=True) if reach.moves_scope or reach.opaque]
        moves = frozenset[str]().union(*map(moved_attributes, moving))
        return _SplitRequirements(written, tuple(map(self._of_job, parts)), moves)

    def _of_job(self, expression: Expr) -> Conjunct:
        return Conjunct(expression, expression, "Requirements", Side.TARGET, self.cache)

    @cached_property
    def _apart(self) -> tuple[Conjunct, ...]:
        """The conjuncts of the slots, each by itself."""
        return tuple(self._of_part(place) for place in range(len(self._parts)))

    def _of_layers(self) -> Iterator[Conjunct]:
        for layer in slot_layers(self._parts, self._slots):
            if isinstance(layer, int):
                yield self._of_part(layer)
                continue
            parts = tuple(
                Conjunct(part.expression, part.expression, part.attribute, Side.MY, self.cache, place=place)
                for place, part in ((place, self._parts[place]) for place in layer.places)
            )
            shown, attribute = parts[0].shown, parts[0].attribute
            cache = self._cache(layer.slots)
            yield Conjunct(
                *(layer.expression, shown, attribute, Side.MY, cache, layer.rows),
                parts=parts,
                codes=layer.codes,
            )

    def _of_part(self, place: int) -> Conjunct:
        part = self._parts[place]
        cache, rows = self.cache, None
        if len(part.rows) < len(self._slots):
            cache, rows = self._cache_of(part.rows), part.rows
        return Conjunct(part.expression, part.expression, part.attribute, Side.MY, cache, rows, place=place)

    def _cache_of(self, rows: NDArray[np.intp]) -> ColumnCache[TrueRows]:
        """Return the cache of some slots: conjuncts that apply to the same slots share it."""
        key = rows.tobytes()
        if key not in self._caches:
            self._caches[key] = self._cache(self._slots.take(rows))
        return self._caches[key]

    def _cache(self, slots: Table) -> ColumnCache[TrueRows]:
        return ColumnCache(DependencyIndex(slots), self._env, TrueRows.from_column, self._budget)


@attrs.frozen(eq=False)
class _SplitRequirements:
    """A job's Requirements and their conjuncts; holding the tree keeps its id unique.

    They can be split as far as the job has the attributes in ``moves`` (see ``moved_attributes``): ``rejoined`` has the
    conjuncts by the attributes that a job has of them.
    """

    expression: Expr
    parts: tuple[Conjunct, ...]
    moves: frozenset[str]
    rejoined: dict[frozenset[str], tuple[Conjunct, ...]] = attrs.field(factory=dict, init=False)


def _evaluated(
    conjuncts: Sequence[Conjunct], whole: Conjunct, job: ClassAd, env: Environment
) -> Iterator[tuple[Conjunct, TrueRows]]:
    """Evaluate each conjunct, or only the whole where one of them may refer to the whole."""
    keys = [(part, part.key(job)) for part in conjuncts]
    if not all(key is None or part.is_independent(key) for part, key in keys):
        keys = [(whole, whole.key(job))]
    for part, key in keys:
        yield part, part.truth(key, job, env)
