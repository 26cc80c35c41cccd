"""The Requirements of both sides over the slots of one cycle, conjunct by conjunct.

On which slots a conjunct is true is found once for all jobs that are alike in what it reads of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.constraints import conjunct_text
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
from negotiator.records import Reason, Station, Verdict

#: So many different Requirements of jobs are remembered as conjuncts; with more, all are forgotten and split again.
MAX_KNOWN = 1000

_NAMES = frozenset({(True, NAME), (False, NAME)})
_MINE = Side.MY  # before Python 3.12 it takes long to find a member


@attrs.define(eq=False)
class Conjunct:
    """A part of the Requirements of a job or of slots that a match needs to be true.

    ``rows`` are the slots that it is about (None: all), and ``kept`` has on which of these it is true. ``told`` is what
    the reason shows of it.
    """

    expression: Expr
    told: Expr
    attribute: str
    side: Side  # where the slots stand
    kept: ColumnCache[TrueRows]
    rows: NDArray[np.intp] | None = None
    _reason: Reason | None = attrs.field(default=None, init=False)
    _always: TrueRows | None = attrs.field(default=None, init=False)

    def place(self, job: ClassAd) -> CacheKey[TrueRows] | None:
        """Find where it is kept for a job; None where it is known already for all jobs."""
        if self._always is not None and not self.kept.reaches.shadowed(job):
            return None
        return self.kept.place(self.expression, job, self.side)

    def truth(self, place: CacheKey[TrueRows] | None, job: ClassAd, env: Environment) -> TrueRows:
        """Give the slots on which it is true; what nothing of a job has a say in is remembered."""
        if place is None and self._always is not None:
            return self._always
        place = place or self.kept.place(self.expression, job, self.side)
        truth = self.kept.at(place, job, env)
        if place.is_common:
            self._always = truth
        return truth

    def reason(self) -> Reason:
        """Give the reason where it is not true: printed when it is first asked for."""
        if self._reason is None:
            text = conjunct_text(self.told)
            code, whose = (
                ("slot_requirements", f"the slot's {self.attribute}")
                if self.side is Side.MY
                else ("job_requirements", "the job's Requirements")
            )
            self._reason = core_reason(Station.MATCH, Verdict.DENIED, code, f"{whose}: {text}", text)
        return self._reason

    def stands_alone(self, place: CacheKey[TrueRows]) -> bool:
        """Tell whether the whole that it is a part of is not met again on the way, where it would be undefined."""
        if self.side is _MINE and (place.is_plain or self.expression is WHOLE):
            return True  # with jobs that have no expressions ``slot_conjuncts`` has seen to it
        found = place.reach.found
        if self.side is not _MINE:
            return not found.opaque and _NAMES.isdisjoint(found.names)
        return not found.opaque and found.names.isdisjoint({(True, NAME), (True, fold(self.attribute))})


class Requirements:
    """What the Requirements of jobs and of the slots say, for one cycle.

    ``given`` are the slots that have Requirements. ``kept`` has the slots on which expressions are true, for whoever
    else asks.
    """

    def __init__(self, slots: Table, env: Environment, room: MemoryBudget) -> None:
        self.reaches = DependencyIndex(slots)
        self.kept = ColumnCache(self.reaches, env, TrueRows.of, room)
        self._of_slots = tuple(self._over_rows(slots, env, room))
        self._whole_slots = Conjunct(WHOLE, WHOLE, "Requirements", Side.MY, self.kept)
        absent = np.broadcast_to(slots.column("Requirements").where(Kind.ABSENT), len(slots))
        self.given = TrueRows.where(~absent)
        self._of_jobs: dict[int, _Written] = {}

    def of_job(self, job: ClassAd, env: Environment) -> Iterator[tuple[Conjunct, TrueRows]]:
        """Give each conjunct of a job's Requirements with the slots on which it is true; none if it has none.

        ``env`` has the clock of the cycle, and what ``random`` draws from for this job.
        """
        written = job.get("Requirements")
        if written is not None:
            whole = Conjunct(WHOLE, written, "Requirements", Side.TARGET, self.kept)
            yield from _tests(self._job_conjuncts(written, job), whole, job, env)

    def of_slots(self, job: ClassAd, env: Environment) -> Iterator[tuple[Conjunct, TrueRows]]:
        """Give each conjunct of the slots' Requirements with the slots, of those that have it, on which it is true."""
        yield from _tests(self._of_slots, self._whole_slots, job, env)

    def _job_conjuncts(self, written: Expr, job: ClassAd) -> Sequence[Conjunct]:
        known = self._of_jobs.get(id(written))
        if known is None:
            if len(self._of_jobs) >= MAX_KNOWN:
                self._of_jobs.clear()
            known = self._of_jobs[id(written)] = self._take_apart(written)
        if not known.moves:
            return known.parts
        own = frozenset([name for name in known.moves if name in job and "my" not in job])
        parts = known.rejoined.get(own)
        if parts is None:
            texts = rejoin([part.expression for part in known.parts], own)
            parts = known.rejoined[own] = tuple(map(self._of_job, texts))
        return parts

    def _take_apart(self, written: Expr) -> _Written:
        parts = split(written)
        found = [self.reaches.of(part, on_rows=False, shadowed=False).found for part in parts]
        moving = [part for part, reach in zip(parts, found, strict=True) if reach.moves_scope or reach.opaque]
        return _Written(
            written, tuple(map(self._of_job, parts)), frozenset().union(*map(moved_attributes, moving))
        )

    def _of_job(self, expression: Expr) -> Conjunct:
        return Conjunct(expression, expression, "Requirements", Side.TARGET, self.kept)

    def _over_rows(self, slots: Table, env: Environment, room: MemoryBudget) -> Iterator[Conjunct]:
        """Give the conjuncts of the slots; those of the same rows keep what is found together."""
        some: dict[bytes, ColumnCache[TrueRows]] = {}
        for part in slot_conjuncts(slots):
            if len(part.rows) == len(slots):
                yield Conjunct(part.expression, part.expression, part.attribute, Side.MY, self.kept)
                continue
            rows = part.rows.tobytes()
            if rows not in some:
                some[rows] = ColumnCache(DependencyIndex(slots.take(part.rows)), env, TrueRows.of, room)
            yield Conjunct(part.expression, part.expression, part.attribute, Side.MY, some[rows], part.rows)


@attrs.frozen(eq=False)
class _Written:
    """A job's Requirements as they are written (held: no other tree takes its identity), and taken apart.

    How far they can be depends on which of the attributes that they move to (``moved_attributes``) the job has.
    """

    expression: Expr
    parts: tuple[Conjunct, ...]
    moves: frozenset[str]
    rejoined: dict[frozenset[str], tuple[Conjunct, ...]] = attrs.field(factory=dict, init=False)


def _tests(
    conjuncts: Sequence[Conjunct], whole: Conjunct, job: ClassAd, env: Environment
) -> Iterator[tuple[Conjunct, TrueRows]]:
    """Evaluate each conjunct, or the whole where one of them may meet it again."""
    asked = [(part, part.place(job)) for part in conjuncts]
    if not all(place is None or part.stands_alone(place) for part, place in asked):
        asked = [(whole, whole.place(job))]
    for part, place in asked:
        yield part, part.truth(place, job, env)
