"""Comparisons of a number of the slots with one of the job: jobs between the same two values of the slots are alike."""

from __future__ import annotations

from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Ad, Environment, Kind, Side, evaluate_table
from negotiator.classad.columnar import Dependencies, DependencyIndex, TrueRows
from negotiator.classad.syntax import Binary, Expr, Paren, tree_key
from negotiator.classad.tables import AttributeTable
from negotiator.cycle.conjunct import Conjunct
from negotiator.cycle.numbering import AlikeJobs, Numbers
from negotiator.ledger import Rows

#: Comparisons that are true of the slots before a job's place.
_BEFORE = frozenset({"<", "<="})
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
#: Integers from here on are not exact as real numbers.
_EXACT = 2.0**53
_NO_AD = Ad([])


@attrs.frozen(eq=False)
class ComparedSlots:
    """The ``values`` of an expression of slots that are numbers, (V,) ascending, for one comparison with a job's.

    A number of a job stands at a place among them, 0 to V: the comparison is true of the slots before it, or of all others.
    ``place_of`` is that of each slot, (N,); one without a number has a place on which no comparison is true.
    """

    values: NDArray[np.float64]
    place_of: NDArray[np.int32]
    comparison: str

    @classmethod
    def of(cls, values: NDArray[np.float64], comparison: str) -> ComparedSlots:
        """Sort slots by the values of all of them, (N,): NaN for one that is no number."""
        rows = np.flatnonzero(~np.isnan(values))
        rows = rows[np.argsort(values[rows], kind="stable")]
        place_of = np.full(len(values), len(values) if comparison in _BEFORE else -1, np.int32)
        place_of[rows] = np.arange(len(rows))
        return cls(values[rows], place_of, comparison)

    def places(self, numbers: NDArray[np.float64]) -> Numbers:
        """Return the place of each finite number; -1 for others."""
        side: Literal["left", "right"] = "left" if self.comparison in {"<", ">="} else "right"
        places = self.values.searchsorted(numbers, side=side)
        return np.where(np.isfinite(numbers), places, -1)

    def truth(self, place: int) -> TrueRows:
        """Return the slots on which the comparison with a job at a place is true."""
        return TrueRows.from_mask(
            self.place_of < place if self.comparison in _BEFORE else self.place_of >= place
        )


@attrs.define(eq=False)
class SlotComparisons:
    """Comparisons of an expression of the slots with one of the job: jobs between the same two values of slots are alike.

    They are computed where each reads attributes of its own side only. ``of_jobs`` and ``of_slots`` have the accounts of the ads, each of
    which pays for itself.
    """

    alike: AlikeJobs
    of_jobs: Environment
    of_slots: Environment
    _indexes: dict[tuple[str, ...], list[tuple[Rows, DependencyIndex]]] = attrs.field(
        factory=dict, init=False
    )
    _known: dict[tuple[str, Side, int], tuple[DependencyIndex, NDArray[np.float64] | None]] = attrs.field(
        factory=dict, init=False
    )

    def of(self, conjunct: Conjunct, dependencies: Dependencies) -> tuple[Numbers, ComparedSlots] | None:
        """Return the place of each request among the slots, (R,), -1 where its expression is no number; None for other conjuncts."""
        written = _inner(dependencies.expr)
        if not isinstance(written, Binary) or written.op not in _FLIPPED:
            return None
        of_slot, of_job = (Side.MY, Side.TARGET) if dependencies.on_rows else (Side.TARGET, Side.MY)
        index = conjunct.cache.dependencies
        for slot, job, comparison in (
            (written.left, written.right, written.op),
            (written.right, written.left, _FLIPPED[written.op]),
        ):
            if _reads_only(slot, of_slot, index, self.alike.jobs):
                values = self._numbers(slot, of_slot, index, self.of_slots)
                if values is None or np.isinf(values).any():
                    return None
                slots = ComparedSlots.of(values, comparison)
                places = np.full(len(self.alike.jobs), -1)
                for rows, part in self._parts(dependencies.names):
                    if _reads_only(job, of_job, part, index.table):
                        numbers = self._numbers(job, of_job, part, self.of_jobs)
                        if numbers is not None:
                            places[rows] = slots.places(numbers)
                return places, slots
        return None

    def _parts(self, names: tuple[str, ...]) -> list[tuple[Rows, DependencyIndex]]:
        """Return the jobs that have the same expressions in some attributes, with what expressions read of them."""
        if names not in self._indexes:
            jobs = self.alike.jobs
            self._indexes[names] = [
                (rows, DependencyIndex(jobs.take(rows))) for rows in self.alike.parts(names)
            ]
        return self._indexes[names]

    def _numbers(
        self, expression: Expr, side: Side, index: DependencyIndex, env: Environment
    ) -> NDArray[np.float64] | None:
        """Return the numbers that an expression is over ads, NaN where it is none, infinite where its comparison may be another one."""
        key = tree_key(expression), side, id(index)
        if key not in self._known:  # the entry holds the index, so that its id stays its own
            self._known[key] = index, _evaluated(expression, side, index, env)
        return self._known[key][1]


def _evaluated(
    expression: Expr, side: Side, index: DependencyIndex, env: Environment
) -> NDArray[np.float64] | None:
    other = None if side is Side.MY else _NO_AD
    column = evaluate_table(expression, index.table, other, side=side, env=env, dependencies=index)
    if column.has(Kind.OTHER):
        return None
    numbers = np.array(np.broadcast_to(column.numbers(), (len(index.table),)))
    with np.errstate(invalid="ignore"):
        odd = np.broadcast_to(column.where(Kind.BOOLEAN), numbers.shape) | (np.abs(numbers) >= _EXACT)
    numbers[odd] = np.inf
    return numbers


def _reads_only(expression: Expr, side: Side, index: DependencyIndex, others: AttributeTable) -> bool:
    """True if an expression surely reads attributes of the ads of one side only, and some of them."""
    found = index.without_other_ad(expression, on_rows=side is Side.MY, shadowed=False)
    return (
        any(of_rows for of_rows, _ in found.footprint.names)
        and found.cacheable
        and found.within_limits
        and all(others.column(name).kind is Kind.ABSENT for name in found.names)
    )


def _inner(expression: Expr) -> Expr:
    while isinstance(expression, Paren):
        expression = expression.inner
    return expression
