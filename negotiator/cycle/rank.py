"""The order of candidates: whom a request would rather have.

Source: HTCondor manual, ``NEGOTIATOR_PRE_JOB_RANK`` and the job's ``Rank``; EvalNegotiatorMatchRank for what is no
number.
"""

from __future__ import annotations

from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ClassAd, Column, Environment, Expr, Side, bind, evaluate_table, parse
from negotiator.classad.columnar import ColumnCache, DependencyIndex, MemoryBudget
from negotiator.classad.syntax import Literal
from negotiator.hooks.records import Mask

Numbers: TypeAlias = NDArray[np.float64]

#: HTCondor's default: slots that prefer the job, then unclaimed ones, then small ones. MY is the slot.
PRE_JOB_RANK: Expr = bind(
    parse(
        "(10000000 * MY.Rank) + (1000000 * (MY.RemoteOwner =?= undefined)) - (100000 * MY.Cpus) - MY.Memory"
    )
)

_NO_RANK: Expr = Literal(0.0)
_LOWEST = float(-np.finfo(np.float64).max)


class Ranks:
    """The ranks of the slots of one cycle, found once for all jobs that are alike in what is read of them."""

    def __init__(self, reaches: DependencyIndex, env: Environment, room: MemoryBudget) -> None:
        self._slots = reaches.table
        self._pool = ColumnCache(reaches, env, _Order.of, room)
        self._job = ColumnCache(reaches, env, _job_rank, room)

    def of(self, rows: NDArray[np.intp], job: ClassAd, env: Environment) -> tuple[Numbers, Numbers]:
        """Give the ranks of some slots for a job, by row: the pool's own order first, then the job's Rank; (K,).

        What is no number counts as the lowest in the first, and as 0.0 in the second. The first is rounded to float32,
        as the real negotiator does, so that ties fall alike. ``env`` has what ``random`` draws from.
        """
        slots = self._slots.take(rows)
        pool = _pool_rank(evaluate_table(PRE_JOB_RANK, slots, job, side=Side.MY, env=env))
        written = job.get("Rank") or _NO_RANK
        return pool, _job_rank(evaluate_table(written, slots, job, side=Side.TARGET, env=env))

    def choose(
        self, job: ClassAd, among: Mask, count: int, env: Environment
    ) -> tuple[NDArray[np.intp], Numbers]:
        """Give the rows of the ``count`` best of some slots, (N,), for a job, best first, and its Rank of them.

        The pool's own order comes first, then the job's Rank, then the order of the rows. ``env`` has what ``random``
        draws from.
        """
        written = job.get("Rank") or _NO_RANK
        pool = self._pool.place(PRE_JOB_RANK, job, Side.MY)
        rank = self._job.place(written, job, Side.TARGET)
        if pool.reach.has_key and rank.reach.has_key:
            ranks = self._job.at(rank, job)
            chosen = self._pool.at(pool, job).best(among, ranks, count)
            return chosen, ranks[chosen]
        # They may be other numbers each time: only those that are asked for are drawn.
        rows = np.flatnonzero(among)
        by_pool, by_job = self.of(rows, job, env)
        first = best(min(count, len(rows)), by_pool, by_job)
        return rows[first], by_job[first]


@attrs.frozen(eq=False)
class _Order:
    """All slots in the pool's own order: their rows, best first, and how much each is less than the best."""

    rows: NDArray[np.intp]
    behind: Numbers  # ascending

    @classmethod
    def of(cls, column: Column) -> _Order:
        behind = -_comparable(_pool_rank(column))
        rows = np.argsort(behind, kind="stable")
        return cls(rows, behind[rows])

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes + self.behind.nbytes

    def best(self, among: Mask, ranks: Numbers, count: int) -> NDArray[np.intp]:
        """Give the rows of the best, best first: those of one place in this order go by ``ranks``, (N,)."""
        places = np.flatnonzero(among[self.rows])
        if len(places) > count > 0:
            last = self.behind[places[count - 1]]
            level = self.behind.searchsorted(last), self.behind.searchsorted(last, side="right")
            first, end = places.searchsorted(level).tolist()
        else:
            first = end = len(places)
        sure, tied = self.rows[places[:first]], self.rows[places[first:end]]
        ahead = np.lexsort((sure, -_comparable(ranks[sure]), self.behind[places[:first]]))
        return np.concatenate((sure[ahead], tied[best(min(count - first, len(tied)), ranks[tied])]))


def _pool_rank(column: Column) -> Numbers:
    with np.errstate(over="ignore"):
        return column.numbers(_LOWEST).astype(np.float32).astype(np.float64)


def _job_rank(column: Column) -> Numbers:
    return column.numbers(0.0)


def _comparable(ranks: Numbers) -> Numbers:
    """Put NaN below every number."""
    return np.where(np.isnan(ranks), -np.inf, ranks)


def best(count: int, *keys: NDArray[np.float64]) -> NDArray[np.intp]:
    """Give the rows of the ``count`` best candidates, best first; ties keep the order of the rows.

    ``keys`` are arrays of shape (N,), the weightiest first; NaN ranks below every number. Costs O(N) to choose and
    O(k log k) to sort what was chosen, not the sort of all.
    """
    rows = np.arange(len(keys[0]), dtype=np.intp)
    ordered = [_comparable(key) for key in keys]
    sure: list[NDArray[np.intp]] = []
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
