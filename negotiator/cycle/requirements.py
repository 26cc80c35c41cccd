"""The Requirements of both sides over the slots of one cycle, conjunct by conjunct.

The slots on which a conjunct is true are found once for all jobs that are equal in the attributes that it reads. Slots whose expressions
would make the conditions and ranks of all others hard to evaluate are set apart, and matched one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ERROR, Ad, ClassAdValue, Column, Environment, Expr, Kind, Side, Table, evaluate
from negotiator.classad.columnar import (
    ColumnCache,
    DependencyIndex,
    MemoryBudget,
    TrueRows,
    attributes_footprint,
    footprint,
)
from negotiator.classad.syntax import moved_attributes, rejoin, split
from negotiator.classad.tables import constant, from_values
from negotiator.cycle.conjunct import (
    NAME,
    SCOPES,
    WHOLE,
    Conjunct,
    SlotConjunct,
    WrittenConjunct,
    is_shadowed,
    may_reach_itself,
    slot_conjuncts,
    slot_layers,
)
from negotiator.cycle.work_accounts import STEPS_EACH_MACHINE

#: Slots that are set apart at most, in a large pool one in this many.
_MOST_HARD, _PART_HARD = 64, 64
#: All of them together may take the steps that so many machines may take beside those of each request.
_MACHINES_TOGETHER = 4
#: Beyond these bounds expressions of slots are hard, and slots with more of them: those of real slots are far from them.
_DEEPEST, _MOST_STEPS, _MOST_EXPRESSIONS = 50, 10_000, 150
#: Maximum of different Requirements of jobs whose conjuncts are cached; beyond it the cache is emptied.
MAX_KNOWN = 1000


@attrs.define(eq=False)
class HardSlots:
    """Slots with expressions in which anything may be read, or far more than real slots have: their ``rows``, and those of all others.

    They are evaluated one by one, at the cost of their machines, so that they do not make what jobs and other slots share be evaluated
    slot by slot. Beside the steps of a machine for each request, all of them together may take those of ``_MACHINES_TOGETHER``: then their
    values are errors.
    """

    slots: Table
    rows: NDArray[np.intp]
    easy: NDArray[np.intp]
    _left: int | None = attrs.field(default=None, init=False)  # steps of all of them

    def values(self, expr: Expr, job: Ad, side: Side, env: Environment, rows: NDArray[np.intp]) -> Column:
        """Return the values of an expression of each of some of these slots (``Side.MY``), or of a job that is matched with it."""
        if self._left is not None and self._left <= 0 and env.payers is not None:
            return constant(len(rows), self.slots.pool, ERROR)
        slots = [self.slots.ad(row) for row in rows.tolist()]
        found = [
            self._value(expr, slot, *((slot, job) if side is Side.MY else (job, slot)), env) for slot in slots
        ]
        return from_values(self.slots.pool, found)

    def _value(self, expr: Expr, slot: Ad, my: Ad, target: Ad, env: Environment) -> ClassAdValue:
        if env.payers is None:
            return evaluate(expr, my, target, env)
        machine = env.payers.rows(slot)
        if self._left is None:
            of_requests = max(0, machine.steps - STEPS_EACH_MACHINE)
            self._left = _MACHINES_TOGETHER * STEPS_EACH_MACHINE + len(self.rows) * of_requests
        if self._left <= 0:
            return ERROR
        before = machine.steps
        found = evaluate(expr, my, target, attrs.evolve(env, payers=attrs.evolve(env.payers, other=machine)))
        self._left -= before - machine.steps
        return found

    def spread(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of all other slots as a column of all, (N,): NaN for these slots."""
        found = np.full(len(self.slots), np.nan)
        found[self.easy] = values
        return found


def hard_slots(slots: Table) -> HardSlots | None:
    """Return the hard slots of a pool; None without any, or if they are many."""
    most, found = max(_MOST_HARD, len(slots) // _PART_HARD), np.zeros(len(slots), np.bool_)
    for name in SCOPES:
        found |= ~slots.column(name).where(Kind.ABSENT)
    names = [name for name in sorted(slots.names()) if slots.has_expressions(name)]
    if len(names) > _MOST_EXPRESSIONS:
        count = np.zeros(len(slots), np.intp)
        for name in names:
            count += slots.column(name).where(Kind.EXPRESSION)
        found |= count > _MOST_EXPRESSIONS
    others = np.flatnonzero(~found)
    table = slots if len(others) == len(slots) else slots.take(others)
    names = [name for name in names if table.has_expressions(name)]
    if _is_hard(table, names):
        groups, first = table.group_expressions(names)
        counts, hard = np.bincount(groups), np.zeros(len(first), np.bool_)
        # Halves of the kinds of slots, as long as one of them is hard. The largest kinds first: if many slots are hard, it is soon known.
        pending = [np.argsort(-counts, kind="stable")]
        while pending:
            kinds = pending.pop()
            if not _is_hard(table.take(first[kinds]), names):
                continue
            if len(kinds) > 1:
                half = len(kinds) // 2
                pending += (kinds[half:], kinds[:half])
                continue
            hard[kinds] = True
            if counts[hard].sum() > most:
                return None
        found[others] = hard[groups]
    rows = np.flatnonzero(found)
    if not 0 < len(rows) <= most or len(rows) == len(slots):
        return None
    return HardSlots(slots, rows, np.delete(np.arange(len(slots)), rows))


def _is_hard(slots: Table, names: Sequence[str]) -> bool:
    """True if one of these attributes, in lower case, leads to something hard, or back to Requirements."""
    found = [attributes_footprint([name for name in names if name != NAME], slots)]
    if NAME in names:
        shadowed = is_shadowed(slots)
        written = [part.expr for part in slots.parts(NAME)]
        found += (footprint(each or WHOLE, slots, None, on_rows=True, shadowed=shadowed) for each in written)
    return any(
        may_reach_itself(each)
        or each.bounds is None
        or each.bounds.depth > _DEEPEST
        or each.bounds.steps > _MOST_STEPS
        for each in found
    )


class Requirements:
    """The Requirements of jobs and of the slots of one cycle.

    ``cache`` has the slots on which expressions are true, for other
    users too, ``cache_of_easy`` the same of the slots that are not ``hard`` (None without any), which are matched one by one.
    """

    def __init__(self, slots: Table, env: Environment, budget: MemoryBudget) -> None:
        self.dependencies = DependencyIndex(slots)
        self.cache = ColumnCache(self.dependencies, env, TrueRows.from_column, budget)
        self._slots, self._env, self.budget = slots, env, budget
        self._caches: dict[bytes, ColumnCache[TrueRows]] = {}
        # By identity of the tree: jobs with the same text share it.
        self._of_jobs: dict[int, _SplitRequirements] = {}
        self.hard = hard_slots(slots)
        self._easy = None if self.hard is None else self.hard.easy
        self.cache_of_easy = self.cache if self._easy is None else self._cache_of(self._easy)
        self._whole_slots = self._of_easy(WHOLE, Side.MY, WHOLE)

    @cached_property
    def present(self) -> TrueRows:
        """The slots that have Requirements."""
        absent = np.broadcast_to(self._slots.column("Requirements").where(Kind.ABSENT), len(self._slots))
        return TrueRows.from_mask(~absent)

    @cached_property
    def _parts(self) -> tuple[SlotConjunct, ...]:
        """The conjuncts of the slots, without those of hard ones; a cycle without requests needs none."""
        if self._easy is None:
            return slot_conjuncts(self._slots)
        found = slot_conjuncts(self._slots.take(self._easy))
        return tuple(attrs.evolve(each, rows=self._easy[each.rows]) for each in found)

    @cached_property
    def layers(self) -> tuple[Conjunct, ...]:
        """The conjuncts of the slots, those that differ in their constants only together."""
        return tuple(self._of_layers())

    def of_job(self, job: Ad, env: Environment) -> Iterator[tuple[Conjunct, TrueRows]]:
        """Yield each conjunct of a job's Requirements with the slots on which it is true; none without Requirements.

        ``env`` has the clock of the cycle, and the state of ``random`` for this job.
        """
        written = job.get("Requirements")
        if written is not None:
            known = self._split_once(written)
            yield from _evaluated(self._job_conjuncts(known, job), known.whole, job, env)

    def of_slots(self, job: Ad, env: Environment) -> Iterator[tuple[Conjunct, TrueRows]]:
        """Yield the conjuncts of the slots' Requirements with the slots, of those that have them, on which they are true.

        Conjuncts that differ in their constants only come together. MY may mean anything where an ad has such an
        attribute: each conjunct is then by itself.
        """
        shadowed = self.cache_of_easy.dependencies.shadowed(job)
        conjuncts = self._apart if shadowed else self.layers
        yield from _evaluated(conjuncts, self._whole_slots, job, env)

    def of_hard_slots(self, job: Ad, env: Environment) -> Iterator[tuple[Conjunct, TrueRows]]:
        """Yield the whole Requirements of a job and of each hard slot with those of these slots on which they are true.

        The machine of the slot pays for both.
        """
        if self.hard is None:
            return
        written = job.get("Requirements")
        for side, printed in ((Side.TARGET, written), (Side.MY, WHOLE)):
            if printed is not None:
                conjunct = WrittenConjunct(printed, "Requirements", side)
                found = self.hard.values(WHOLE, job, side, env, self.hard.rows)
                yield (
                    Conjunct(WHOLE, self.cache, (conjunct,), self.hard.rows),
                    TrueRows.from_mask(found.is_true()),
                )

    def _split_once(self, written: Expr) -> _SplitRequirements:
        known = self._of_jobs.get(id(written))
        if known is None:
            if len(self._of_jobs) >= MAX_KNOWN:
                self._of_jobs.clear()
            known = self._of_jobs[id(written)] = self._split(written)
        return known

    def _job_conjuncts(self, known: _SplitRequirements, job: Ad) -> Sequence[Conjunct]:
        if not known.moves:
            return known.parts
        # Rare: a call moves the scope, and to which ad depends on the attributes of the job.
        own = frozenset([name for name in known.moves if name in job and "my" not in job])
        parts = known.rejoined.get(own)
        if parts is None:
            expressions = rejoin([part.expression for part in known.parts], own)
            parts = known.rejoined[own] = tuple(map(self.of_tree, expressions))
        return parts

    def _split(self, written: Expr) -> _SplitRequirements:
        parts = split(written)
        found = [
            self.cache_of_easy.dependencies.without_other_ad(part, on_rows=False, shadowed=False).footprint
            for part in parts
        ]
        moving = [part for part, reach in zip(parts, found, strict=True) if reach.moves_scope or reach.opaque]
        moves = frozenset[str]().union(*map(moved_attributes, moving))
        whole = self._of_easy(WHOLE, Side.TARGET, written)
        return _SplitRequirements(whole, tuple(map(self.of_tree, parts)), moves)

    def of_tree(self, expression: Expr) -> Conjunct:
        """Return a conjunct of jobs' Requirements."""
        return self._of_easy(expression, Side.TARGET, expression)

    def of_rule(self, expression: Expr, side: Side) -> Conjunct:
        """Return a condition of the pool, which hard slots meet too; ``side`` is that of the slots in it."""
        return Conjunct(expression, self.cache, (WrittenConjunct(expression, "Requirements", side),))

    def _of_easy(self, expression: Expr, side: Side, written: Expr) -> Conjunct:
        """Return a conjunct that applies to all but hard slots; ``written`` is what its reason prints."""
        conjunct = WrittenConjunct(written, "Requirements", side)
        return Conjunct(expression, self.cache_of_easy, (conjunct,), self._easy)

    @cached_property
    def _apart(self) -> tuple[Conjunct, ...]:
        """The conjuncts of the slots, each by itself."""
        return tuple(self._of_part(place) for place in range(len(self._parts)))

    def _of_layers(self) -> Iterator[Conjunct]:
        for layer in slot_layers(self._parts, self._slots):
            if isinstance(layer, int):
                yield self._of_part(layer)
                continue
            written = tuple(map(self._written, layer.places))
            shaped = layer.shaped
            cache = self._cache(shaped.table)
            yield Conjunct(shaped.expression, cache, written, rows=shaped.rows, codes=shaped.codes)

    def _of_part(self, place: int) -> Conjunct:
        part = self._parts[place]
        cache, rows = self.cache, None
        if len(part.rows) < len(self._slots):
            cache, rows = self._cache_of(part.rows), part.rows
        return Conjunct(part.expression, cache, (self._written(place),), rows)

    def _written(self, place: int) -> WrittenConjunct:
        part = self._parts[place]
        return WrittenConjunct(part.expression, part.attribute, Side.MY, place)

    def _cache_of(self, rows: NDArray[np.intp]) -> ColumnCache[TrueRows]:
        """Return the cache of some slots: conjuncts that apply to the same slots share it."""
        key = rows.tobytes()
        if key not in self._caches:
            self._caches[key] = self._cache(self._slots.take(rows))
        return self._caches[key]

    def _cache(self, slots: Table) -> ColumnCache[TrueRows]:
        dependencies = DependencyIndex(slots, self.dependencies.values)
        return ColumnCache(dependencies, self._env, self._of_some_slots, self.budget)

    def _of_some_slots(self, column: Column) -> TrueRows:
        """Return a result for some slots, with the memory for its extension to all of them (``TrueRows.extended``)."""
        found = TrueRows.from_column(column)
        found.reserved = len(self._slots) // 8
        return found


@attrs.frozen(eq=False)
class _SplitRequirements:
    """A job's Requirements as a whole, which holds their tree so that its id stays unique, and their conjuncts.

    They can be split as far as the job has the attributes in ``moves`` (see ``moved_attributes``): ``rejoined`` has the
    conjuncts by the attributes that a job has of them.
    """

    whole: Conjunct
    parts: tuple[Conjunct, ...]
    moves: frozenset[str]
    rejoined: dict[frozenset[str], tuple[Conjunct, ...]] = attrs.field(factory=dict, init=False)


def _evaluated(
    conjuncts: Sequence[Conjunct], whole: Conjunct, job: Ad, env: Environment
) -> Iterator[tuple[Conjunct, TrueRows]]:
    """Evaluate each conjunct, or only the whole where one of them may refer to the whole."""
    keys = [(part, part.key(job, env)) for part in conjuncts]
    if not all(key is None or part.is_independent(key) for part, key in keys):
        keys = [(whole, whole.key(job, env))]
    for part, key in keys:
        yield part, part.truth(key, job, env)
