"""The order of candidates: which slots a request prefers.

Source: HTCondor manual, ``NEGOTIATOR_PRE_JOB_RANK`` and the job's ``Rank``; EvalNegotiatorMatchRank for values that are
not numbers.
"""

from __future__ import annotations

from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ClassAd, Column, Environment, Expr, Side, evaluate_table
from negotiator.classad.columnar import ColumnCache, DependencyIndex, MemoryBudget
from negotiator.classad.syntax import Literal
from negotiator.hooks.order import SlotRanks
from negotiator.hooks.records import Mask

RankValues: TypeAlias = NDArray[np.float64]

_NO_RANK: Expr = Literal(0.0)
#: Of all jobs alike, if the pool ignores their ranks.
_SAME_RANK: Expr = Literal(1.0)
_NO_JOB = ClassAd([])
_LOWEST = float(-np.finfo(np.float64).max)


class Ranks:
    """The ranks of the slots of one cycle, computed once for all jobs that are equal in the attributes that ranks read."""

    def __init__(
        self, dependencies: DependencyIndex, env: Environment, budget: MemoryBudget, pool: SlotRanks
    ) -> None:
        self._slots, self._of_pool = dependencies.table, pool
        #: Sort slots instead of the pool's rank before the job's, (N,); the order of a bundle may bring them.
        self.scores: RankValues | None = None
        self._pool = ColumnCache(dependencies, env, _PoolOrder.of, budget)
        self._job = ColumnCache(dependencies, env, _job_rank, budget)
        self._after = ColumnCache(dependencies, env, _pool_rank, budget)
        self._sorted = _SortedByRanks(budget)

    def over(self, dependencies: DependencyIndex, env: Environment, budget: MemoryBudget) -> Ranks:
        """Return the same ranks of other slots, with empty caches."""
        ranks = Ranks(dependencies, env, budget, self._of_pool)
        ranks.scores = self.scores
        return ranks

    def of(self, rows: NDArray[np.intp], job: ClassAd, env: Environment) -> tuple[RankValues, ...]:
        """Return the ranks of some slots for a job, by row, most significant first; (K,) each.

        These are the pool's rank before the job's, the job's Rank, and the pool's rank after it if there is one. Values that
        are not numbers count as the lowest in the pool's, and as 0.0 in the job's. The pool's are rounded to float32, as
        condor_negotiator does, so that ties fall alike. ``env`` has the state of ``random``.
        """
        job, written = self._read(job)
        slots = self._slots.take(rows)
        if self.scores is None:
            before = _pool_rank(evaluate_table(self._of_pool.before, slots, job, side=Side.MY, env=env))
        else:
            before = self.scores[rows]
        own = _job_rank(evaluate_table(written, slots, job, side=Side.TARGET, env=env))
        if self._of_pool.after is None:
            return before, own
        return before, own, _pool_rank(evaluate_table(self._of_pool.after, slots, job, env=env))

    def of_pool(self, rank: Expr, job: ClassAd, env: Environment) -> RankValues:
        """Return a further rank of the pool of all slots for a job, (N,), as the pool's ranks of ``of`` are computed."""
        return self._after.get(rank, job, Side.MY, env)

    def choose(
        self,
        job: ClassAd,
        among: Mask,
        count: int,
        env: Environment,
        further: tuple[RankValues, ...] = (),
    ) -> tuple[NDArray[np.intp], RankValues]:
        """Return the rows of the ``count`` best of some slots, (N,), for a job, best first, and its Rank of them.

        The pool's own order comes first, then the job's Rank, then the pool's rank after it, then the ``further`` ones,
        (N,) each, then the order of the rows. ``env`` has the state of ``random``.
        """
        job, written = self._read(job)
        pool = self._pool.key(self._of_pool.before, job, Side.MY)
        rank = self._job.key(written, job, Side.TARGET)
        last = None if self._of_pool.after is None else self._after.key(self._of_pool.after, job, Side.MY)
        if all(key is None or key.dependencies.cacheable for key in (pool, rank, last)):
            ranks = self._job.get_by_key(rank, job, env)
            after = () if last is None else (self._after.get_by_key(last, job, env),)
            if self.scores is not None:
                rows = np.flatnonzero(among)
                scored = [each[rows] for each in (self.scores, ranks, *after, *further)]
                chosen = rows[best(min(count, len(rows)), *scored)]
                return chosen, ranks[chosen]
            order = self._pool.get_by_key(pool, job, env)
            sorted_slots = None if further else self._sorted.of(order, ranks, *after)
            if sorted_slots is None:
                chosen = order.best(among, (ranks, *after, *further), count)
            else:
                chosen = sorted_slots.first(among, count)
            return chosen, ranks[chosen]
        # A rank that cannot be cached may be random: only the slots in question are evaluated.
        rows = np.flatnonzero(among)
        keys = (*self.of(rows, job, env), *(each[rows] for each in further))
        first = best(min(count, len(rows)), *keys)
        return rows[first], keys[1][first]

    def _read(self, job: ClassAd) -> tuple[ClassAd, Expr]:
        """Return the ad that the pool's ranks read of a job, and the job's Rank."""
        return (job, job.get("Rank") or _NO_RANK) if self._of_pool.of_job else (_NO_JOB, _SAME_RANK)


@attrs.frozen(eq=False)
class _PoolOrder:
    """All slots in the pool's own order: their rows, best first, and how much each rank is below the best, (N,)."""

    rows: NDArray[np.intp]
    behind: RankValues  # ascending

    @classmethod
    def of(cls, column: Column) -> _PoolOrder:
        behind = -_comparable(_pool_rank(column))
        rows = np.argsort(behind, kind="stable")
        return cls(rows, behind[rows])

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes + self.behind.nbytes

    def best(self, among: Mask, ranks: tuple[RankValues, ...], count: int) -> NDArray[np.intp]:
        """Return the rows of the best, best first; slots with equal ranks of the pool go by ``ranks``, (N,) each.

        The pool's order is sorted already, so only the last level that is reached needs a choice: all slots above it
        are chosen, those on it compete by the job's Rank.
        """
        places = np.flatnonzero(among[self.rows])
        if len(places) > count > 0:
            last = self.behind[places[count - 1]]
            level = self.behind.searchsorted(last), self.behind.searchsorted(last, side="right")
            first, end = places.searchsorted(level).tolist()
        else:
            first = end = len(places)
        sure, tied = self.rows[places[:first]], self.rows[places[first:end]]
        return np.concatenate(
            (
                self._in_order(sure, self.behind[places[:first]], ranks),
                tied[best(min(count - first, len(tied)), *(each[tied] for each in ranks))],
            )
        )

    def sorted(self, ranks: tuple[RankValues, ...]) -> NDArray[np.intp]:
        """Return the rows of all slots, best first, as ``best`` orders them."""
        return self._in_order(self.rows, self.behind, ranks)

    @staticmethod
    def _in_order(
        rows: NDArray[np.intp], behind: RankValues, ranks: tuple[RankValues, ...]
    ) -> NDArray[np.intp]:
        keys = [-_comparable(each[rows]) for each in reversed(ranks)]
        return np.asarray(rows[np.lexsort((rows, *keys, behind))], np.intp)


#: Slots are sorted by ranks that so many requests have had: from then on it is cheaper than to choose among all.
_USES = 32
#: Different ranks that are counted: jobs may have any number.
_MAX_RANKS = 1024
_CHUNK = 256


@attrs.frozen(eq=False)
class _SortedSlots:
    """All slots by one combination of ranks, best first: ``rows`` (N,). ``ranks`` are held so that they keep their identity."""

    ranks: tuple[object, ...]
    rows: NDArray[np.intp]

    def first(self, among: Mask, count: int) -> NDArray[np.intp]:
        """Return the rows of the best of some slots, best first; what comes after them is seldom looked at."""
        found: list[NDArray[np.intp]] = [self.rows[:0]]
        start, size = 0, max(_CHUNK, 2 * count)
        while count > 0 and start < len(self.rows):
            part = self.rows[start : start + size]
            part = part[among[part]][:count]
            found.append(part)
            count -= len(part)
            start, size = start + size, 4 * size
        return np.concatenate(found)


@attrs.define(eq=False)
class _SortedByRanks:
    """The slots sorted by ranks that many requests have in common, found by the identity of cached ranks."""

    budget: MemoryBudget
    _known: dict[tuple[int, ...], _SortedSlots] = attrs.field(factory=dict, init=False)
    _uses: dict[tuple[int, ...], tuple[int, tuple[object, ...]]] = attrs.field(factory=dict, init=False)

    def of(self, order: _PoolOrder, *ranks: RankValues) -> _SortedSlots | None:
        """Return all slots sorted by the pool's order and these ranks, (N,) each; None for ranks that few requests have."""
        key = id(order), *map(id, ranks)
        known = self._known.get(key)
        if known is not None:
            return known
        uses = self._uses.get(key, (0, ()))[0] + 1
        if uses < _USES:
            if len(self._uses) < _MAX_RANKS or key in self._uses:
                self._uses[key] = uses, (order, *ranks)  # held: an identity is not used again
            return None
        if not self.budget.take(order.rows.nbytes):
            return None
        rows = order.sorted(ranks)
        self._known[key] = found = _SortedSlots((order, *ranks), rows)
        del self._uses[key]
        return found


def _pool_rank(column: Column) -> RankValues:
    with np.errstate(over="ignore"):
        return column.numbers(_LOWEST).astype(np.float32).astype(np.float64)


def _job_rank(column: Column) -> RankValues:
    return column.numbers(0.0)


def _comparable(ranks: RankValues) -> RankValues:
    """Put NaN below every number."""
    return np.where(np.isnan(ranks), -np.inf, ranks)


def best(count: int, *keys: RankValues) -> NDArray[np.intp]:
    """Return the rows of the ``count`` best candidates, best first; ties keep the order of the rows.

    ``keys`` are arrays of shape (N,), the most significant first; NaN ranks below every number. Costs O(N) to choose
    and O(k log k) to sort the chosen ones; not all are sorted.
    """
    rows = np.arange(len(keys[0]), dtype=np.intp)
    ordered = [_comparable(key) for key in keys]
    sure: list[NDArray[np.intp]] = []
    # Key by key: rows above the threshold are chosen, those equal to it are decided by the next key.
    for key in ordered:
        left = count - sum(map(len, sure))
        if left >= len(rows):
            break
        values = key[rows]
        threshold = np.partition(values, len(values) - left)[len(values) - left] if left else np.inf
        sure.append(rows[values > threshold])
        rows = rows[values == threshold] if left else rows[:0]
    chosen = np.concatenate([*sure, rows[: count - sum(map(len, sure))]])
    return chosen[np.lexsort((chosen, *(-key[chosen] for key in reversed(ordered))))]
