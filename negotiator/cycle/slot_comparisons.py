"""Requests that are alike in what a conjunct makes of their jobs, found by columns.

Of a comparison of a number of the slots with one of the job, jobs between the same two values of the slots are alike. Of any other
conjunct, those for which its parts that read nothing but the job have equal values: ``TARGET.RequestMemory <= 8192 ||
stringListMember(TARGET.Owner, "a,b")`` is true of some jobs and false of the others, however many they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Literal as Words

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Ad, Column, Environment, Kind, Side, evaluate_table
from negotiator.classad.columnar import Dependencies, DependencyIndex, TrueRows
from negotiator.classad.syntax import (
    AdRef,
    Attr,
    Binary,
    Expr,
    Literal,
    Paren,
    children,
    scan,
    scope_side,
    tree_key,
)
from negotiator.classad.tables import AttributeTable
from negotiator.cycle.conjunct import Conjunct
from negotiator.cycle.numbering import AlikeJobs, Numbers, combined
from negotiator.ledger import Rows

#: Comparisons that are true of the slots before a job's place.
_BEFORE = frozenset({"<", "<="})
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
#: Integers from here on are not exact as real numbers.
_EXACT = 2.0**53
#: Expressions of slots that a conjunct may lead to, so that its parts are looked for, and nodes of all of them.
_MOST_TREES, _MOST_NODES = 64, 1000
#: Nodes that are looked at in one cycle: ads may have any number of conjuncts.
_NODES_OF_CYCLE = 4096
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
        side: Words["left", "right"] = "left" if self.comparison in {"<", ">="} else "right"
        places = self.values.searchsorted(numbers, side=side)
        return np.where(np.isfinite(numbers), places, -1)

    def truth(self, place: int) -> TrueRows:
        """Return the slots on which the comparison with a job at a place is true."""
        return TrueRows.from_mask(
            self.place_of < place if self.comparison in _BEFORE else self.place_of >= place
        )


@attrs.frozen(eq=False)
class AlikeRequests:
    """A number for each request, (R,): alike ones share it, -1 for one of which it is not known.

    ``read`` are the attributes of jobs that are read for it, also by their expressions, in lower case. In a comparison with
    ``slots`` the numbers are places among them.
    """

    numbers: Numbers
    read: frozenset[str]
    slots: ComparedSlots | None = None


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
    _nodes_left: int = attrs.field(default=_NODES_OF_CYCLE, init=False)
    _known_values: dict[tuple[str, Side, int], tuple[DependencyIndex, list[Numbers] | None]] = attrs.field(
        factory=dict, init=False
    )
    _known: dict[tuple[str, Side, int], tuple[DependencyIndex, NDArray[np.float64] | None]] = attrs.field(
        factory=dict, init=False
    )

    def of(self, conjunct: Conjunct, dependencies: Dependencies) -> AlikeRequests | None:
        """Return which requests are alike in a comparison: their places among the slots; None for other conjuncts."""
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
                places, read = np.full(len(self.alike.jobs), -1), set[str]()
                for rows, part in self._parts(dependencies.names):
                    if _reads_only(job, of_job, part, index.table):
                        numbers = self._numbers(job, of_job, part, self.of_jobs)
                        if numbers is not None:
                            places[rows] = slots.places(numbers)
                            read |= _names_of(job, of_job, part)
                return AlikeRequests(places, frozenset(read), slots)
        return None

    def by_values(self, conjunct: Conjunct, dependencies: Dependencies) -> AlikeRequests | None:
        """Return which requests are alike as the parts of a conjunct that read the job only have equal values; -1 for others.

        None for a conjunct that moves the scope, that is long, or in which it is not certain what reads the job.
        """
        slots = conjunct.cache.dependencies.table
        trees = _trees(dependencies, slots) if dependencies.keeps_scope else None
        if trees is None or sum(scan(tree).size for tree, _ in trees) > _MOST_NODES:
            return None
        found, last, read = np.full(len(self.alike.jobs), -1), 0, set[str]()
        for rows, index in self._parts(dependencies.names):
            parts = self._parts_of_jobs(trees, index, slots)
            codes = [self._values(part, side, index) for part, side in parts]
            columns = [*chain.from_iterable(each for each in codes if each is not None)]
            if not columns or any(each is None for each in codes):
                continue
            numbers, count = combined(*columns)
            found[rows], last = numbers + last, last + count
            read |= {name for part, side in parts for name in _names_of(part, side, index)}
        return AlikeRequests(found, frozenset(read))

    def _parts_of_jobs(
        self, trees: Sequence[tuple[Expr, Side]], index: DependencyIndex, slots: AttributeTable
    ) -> list[tuple[Expr, Side]]:
        """Return the largest parts of some expressions that read the jobs only, with their side; none if something else reads a job."""
        found: list[tuple[Expr, Side]] = []
        for tree, of_job in trees:
            pending = [tree]
            while pending:
                node = pending.pop()
                if isinstance(node, Literal | AdRef):
                    continue
                self._nodes_left -= 1
                if self._nodes_left < 0:
                    return []
                if _reads_only(node, of_job, index, slots):
                    found.append((node, of_job))
                elif not isinstance(node, Attr):
                    pending += children(node)
                elif not _is_of_slots(node, of_job, index.table, slots):
                    return []
        return found

    def _values(self, part: Expr, side: Side, index: DependencyIndex) -> list[Numbers] | None:
        """Return arrays, (K,) each, in which jobs for which a part has equal values of one type are equal; None for lists and ads."""
        key = tree_key(part), side, id(index)
        if key not in self._known_values:  # the entry holds the index, so that its id stays its own
            other = None if side is Side.MY else _NO_AD
            column = evaluate_table(part, index.table, other, side=side, env=self.of_jobs, dependencies=index)
            self._known_values[key] = index, _codes_of(column)
        return self._known_values[key][1]

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


def _names_of(expression: Expr, side: Side, index: DependencyIndex) -> frozenset[str]:
    """Return the attributes that an expression may read, its own and those that these lead to."""
    found = index.without_other_ad(expression, on_rows=side is Side.MY, shadowed=False)
    return frozenset(found.names).union(name for _, name in found.footprint.names)


def _trees(dependencies: Dependencies, slots: AttributeTable) -> list[tuple[Expr, Side]] | None:
    """Return a conjunct and the expressions of slots that it leads to, each with the side of the job in it.

    Those of an attribute that has many are left out if they read nothing of jobs. None if there are many others.
    """
    top = scan(dependencies.expr)
    found = [(dependencies.expr, Side.TARGET if dependencies.on_rows else Side.MY)]
    pending = [*top.names[None], *top.names[Side.MY if dependencies.on_rows else Side.TARGET]]
    seen = set(pending)
    while pending:
        name = pending.pop()
        if not slots.has_expressions(name):
            continue
        scans, parts = slots.scans(name), slots.parts(name)
        is_few = len(parts) + len(found) <= _MOST_TREES and all(part.expr is not None for part in parts)
        for each in scans:
            if not is_few and (
                each.names[Side.TARGET] or not each.names[None].keys().isdisjoint(dependencies.names)
            ):
                return None
            further = {*each.names[None], *each.names[Side.MY]} - seen
            seen |= further
            pending += further
        if is_few:
            found += [(part.expr, Side.TARGET) for part in parts if part.expr is not None]
    return found


def _is_of_slots(node: Attr, of_job: Side, jobs: AttributeTable, slots: AttributeTable) -> bool:
    """True if a reference in an expression is to an attribute of the slots, whatever the job."""
    side = scope_side(node.scope)
    if node.absolute or (node.scope is not None and side is None) or side is of_job:
        return False
    if side is not None or jobs.column(node.name).kind is Kind.ABSENT:
        return True
    # Without a scope the ad that has the expression comes first.
    return of_job is Side.TARGET and not slots.column(node.name).has(Kind.ABSENT)


def _codes_of(column: Column) -> list[Numbers] | None:
    """Return arrays in which rows with equal values of one type are equal; None for lists and ads."""
    if column.has(Kind.OTHER) or column.has(Kind.EXPRESSION):
        return None
    codes: list[Numbers] = [np.broadcast_to(column.kinds, (len(column),)).astype(np.int64)]
    for kind, values in column.data.items():
        # A real by its bits: -0.0 and NaN are values like others.
        plain = values.view(np.int64) if kind is Kind.REAL else values.astype(np.int64)
        codes.append(np.broadcast_to(np.where(column.where(kind), plain, 0), (len(column),)))
    return codes


def _inner(expression: Expr) -> Expr:
    while isinstance(expression, Paren):
        expression = expression.inner
    return expression
