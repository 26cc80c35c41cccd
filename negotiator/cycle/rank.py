"""The order of candidates: which slots a request prefers.

Source: HTCondor manual, ``NEGOTIATOR_PRE_JOB_RANK`` and the job's ``Rank``; EvalNegotiatorMatchRank for values that are
not numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Ad, Column, Environment, Expr, Kind, Side, Table, evaluate_table
from negotiator.classad.columnar import CacheKey, ColumnCache, DependencyIndex, MemoryBudget
from negotiator.classad.syntax import Attr, Binary, Literal, Paren, Unary, scope_side
from negotiator.cycle.numbering import AlikeJobs
from negotiator.cycle.requirements import HardSlots
from negotiator.cycle.slot_order import PoolOrder, RankValues, SortedByRanks, SortedSlots, best, is_better
from negotiator.hooks.order import QueuedRequest
from negotiator.hooks.order_type import SlotRanks
from negotiator.hooks.records import Mask


class _JobRanks(NamedTuple):
    """The ad that the pool's ranks read of a job, and the keys of its ranks; ``cacheable``: none of them may be random."""

    read: Ad
    pool: CacheKey[PoolOrder]
    rank: CacheKey[RankValues]
    after: CacheKey[RankValues] | None
    cacheable: bool


#: The keys of the pool's ranks before and after the job's.
_PoolKeys: TypeAlias = tuple[CacheKey[PoolOrder], CacheKey[RankValues] | None]


class _RankSum(NamedTuple):
    """A Rank that adds an attribute of the job, of this name in lower case and with this sign, to an expression of slots."""

    of_job: str
    of_slots: Expr
    sign: int


class _RankClasses(NamedTuple):
    """Which requests have equal ranks, (R,).

    ``numbers`` has the class of each, -1 for one that shares it with no other, ``shifts`` what the job adds to the Rank of each slot
    in a class of ``sums``, None in others. ``uses`` counts the requests of each class, and ``read`` are the attributes of jobs that
    distinguish the classes.
    """

    numbers: list[int]
    shifts: list[int | None]
    sums: dict[int, _RankSum]
    uses: list[int]
    read: frozenset[str]


class ReplacedRanks(NamedTuple):
    """Ranks of some slots, ``rows`` (M,) ascending, in place of their own: ``values`` (M,) each, most significant first."""

    rows: NDArray[np.intp]
    values: tuple[RankValues, ...]

    def at(self, rows: NDArray[np.intp], keys: tuple[RankValues, ...]) -> tuple[RankValues, ...]:
        """Return keys of some rows, (K,) ascending, with those of the replaced ones."""
        places = np.searchsorted(rows, self.rows)
        found = np.append(rows, -1)[places] == self.rows
        changed = tuple(key.copy() for key in keys)
        for key, values in zip(changed, self.values, strict=True):
            key[places[found]] = values[found]
        return changed


_NO_RANK: Expr = Literal(0.0)
#: Of all jobs alike, if the pool ignores their ranks.
_SAME_RANK: Expr = Literal(1.0)
_NO_JOB = Ad([])
_LOWEST = float(-np.finfo(np.float64).max)
#: The sum of two integers below it is one number of 64 bits.
_EXACT = 2**52


class Ranks:
    """The ranks of the slots of one cycle, computed once for all jobs that are equal in the attributes that ranks read."""

    def __init__(
        self,
        dependencies: DependencyIndex,
        env: Environment,
        budget: MemoryBudget,
        pool: SlotRanks,
        hard: HardSlots | None = None,
    ) -> None:
        """Rank the slots of an index, and ``hard`` ones that are not in it."""
        self._hard, self._of_pool = hard, pool
        self._slots = dependencies.table if hard is None else hard.slots
        #: Sort slots instead of the pool's rank before the job's, (N,); the order of a bundle may bring them.
        self.scores: RankValues | None = None
        #: Slots that no request gets any more, (N,): they are not among those to choose from. More are added as a cycle goes on.
        self.taken: Mask | None = None
        self._pool = ColumnCache(dependencies, env, self._pool_order, budget)
        # Of its own: a rank has 64 times the memory of a condition, and each job may have another one.
        of_jobs = MemoryBudget.of(len(dependencies.table))
        self._job = ColumnCache(dependencies, env, lambda column: self._spread(_job_rank(column)), of_jobs)
        self._after = ColumnCache(dependencies, env, lambda column: self._spread(_pool_rank(column)), budget)
        self._sorted = SortedByRanks()
        self._latest: tuple[Ad, _JobRanks] | None = None
        #: The first job of each request of the cycle; None if they are not known.
        self.alike: AlikeJobs | None = None
        #: Returns the environment in which the owner of a job pays for following its expressions.
        self.paid_by_owner: Callable[[Ad], Environment] | None = None
        self._by_class: dict[int, _JobRanks] = {}
        self._sorted_of_class: dict[int, tuple[SortedSlots, RankValues]] = {}
        self._class = -1
        self._shift: int | None = None
        self._pool_keys: _PoolKeys | None = None
        #: Whether all slots have an integer of exact size in an attribute.
        self._integers: dict[str, bool] = {}

    def over(
        self,
        dependencies: DependencyIndex,
        env: Environment,
        budget: MemoryBudget,
        hard: HardSlots | None = None,
    ) -> Ranks:
        """Return the same ranks of other slots, with empty caches."""
        ranks = Ranks(dependencies, env, budget, self._of_pool, hard)
        ranks.scores, ranks.taken = self.scores, self.taken
        ranks.alike, ranks.paid_by_owner = self.alike, self.paid_by_owner
        return ranks

    def begin_turn(self, queued: QueuedRequest) -> None:
        """Look up the ranks of a request by those of alike ones until the next turn."""
        self._class, self._shift, self._latest = -1, None, None
        if self.alike is not None and self._classes.read.isdisjoint(queued.replaced_names):
            self._class = self._classes.numbers[queued.number]
            self._shift = self._classes.shifts[queued.number]

    @cached_property
    def _classes(self) -> _RankClasses:
        """The classes of the requests of the cycle; none where it is not known which are alike."""
        if self.alike is None:
            return _RankClasses([], [], {}, [], frozenset())
        jobs = self.alike.jobs
        shifted, shifts, sums = self._sums_of_classes(jobs)
        rows = np.flatnonzero(shifted < 0)
        numbers, read = np.empty(len(jobs), np.intp), frozenset({"rank"}).union(each.of_job for each in sums)
        numbers[rows], further = self.alike.refined(rows, ("rank",), self._reads)
        last = int(numbers[rows].max(initial=-1)) + 1
        rows = np.flatnonzero(shifted >= 0)
        numbers[rows] = shifted[rows] + last
        uses = np.bincount(numbers[numbers >= 0]).tolist()
        of_classes = dict(enumerate(sums, last))
        return _RankClasses(numbers.tolist(), shifts, of_classes, uses, read | further)

    def _sums_of_classes(self, jobs: Table) -> tuple[NDArray[np.intp], list[int | None], list[_RankSum]]:
        """Return which Rank each job has that is a sum (``_RankSum``) of an integer that it has written, -1 for none; (N,).

        Return also these integers, and the sums.
        """
        shifted, sums = np.full(len(jobs), -1, np.intp), list[_RankSum]()
        shifts: list[int | None] = [None] * len(jobs)
        if not self._of_pool.of_job or self._is_shadowed(jobs):
            return shifted, shifts, sums
        groups, first = jobs.group(["Rank"])
        for number, rank in enumerate(jobs.take(first).expressions("Rank")):
            found = None if rank is None else self._sum_of(rank)
            if found is None:
                continue
            column = jobs.column(found.of_job)
            is_exact = column.where(Kind.INTEGER) & (np.abs(column.numbers()) < _EXACT)
            rows = np.flatnonzero(is_exact & (groups == number))
            shifted[rows] = len(sums)
            for row, value in zip(rows.tolist(), column.numbers()[rows].tolist(), strict=True):
                shifts[row] = found.sign * int(value)
            sums.append(found)
        return shifted, shifts, sums

    def _is_shadowed(self, jobs: Table) -> bool:
        """True if MY or TARGET may be an attribute of an ad."""
        names = {"my", "target"}
        return not names.isdisjoint(jobs.names()) or self._pool.dependencies.shadowed(_NO_JOB)

    def _reads(self, job: Ad) -> frozenset[str] | None:
        """Return what the ranks read of a job; None if one of them may be random, or its owner has no steps left."""
        found = self._of_job(job, None if self.paid_by_owner is None else self.paid_by_owner(job))
        if not found.cacheable:
            return None
        keys = (found.pool, found.rank, found.after)
        return frozenset({"rank"}).union(*(key.dependencies.names for key in keys if key is not None))

    def is_random(self, job: Ad) -> bool:
        """True if a rank of the slots for a job may have another value each time."""
        return not self._read_ranks(job, None).cacheable

    def _read_ranks(self, job: Ad, env: Environment | None) -> _JobRanks:
        """Return the ranks of a job; those of the latest one are kept, since a turn asks several times."""
        shared = self._class >= 0 and self._shift is None
        if shared and self._class in self._by_class:
            return self._by_class[self._class]
        if self._latest is None or self._latest[0] is not job:
            self._latest = job, self._of_job(job, env)
            if shared:
                self._by_class[self._class] = self._latest[1]
        return self._latest[1]

    def _of_job(self, job: Ad, env: Environment | None) -> _JobRanks:
        job, written = self._read(job)
        rank = self._job.key(written, job, Side.TARGET, env)
        pool, after = self._pool_keys or self._find_pool_keys(job, env)
        cacheable = all(key is None or key.dependencies.cacheable for key in (pool, rank, after))
        return _JobRanks(job, pool, rank, after, cacheable)

    def _find_pool_keys(self, job: Ad, env: Environment | None) -> _PoolKeys:
        """Return the keys of the pool's ranks for a job; those that read nothing of it are the same for all jobs."""
        pool = self._pool.key(self._of_pool.before, job, Side.MY, env)
        last = self._of_pool.after
        after = None if last is None else self._after.key(last, job, Side.MY, env)
        read = [key.dependencies for key in (pool, after) if key is not None]
        shadowed = self.alike is None or self._is_shadowed(self.alike.jobs)
        if not shadowed and all(each.cacheable and not each.names for each in read):
            self._pool_keys = pool, after
        return pool, after

    def of(self, rows: NDArray[np.intp], job: Ad, env: Environment) -> tuple[RankValues, ...]:
        """Return the ranks of some slots for a job, by row, most significant first; (K,) each.

        These are the pool's rank before the job's, the job's Rank, and the pool's rank after it if there is one. Values that
        are not numbers count as the lowest in the pool's, and as 0.0 in the job's. The pool's are rounded to float32, as
        condor_negotiator does, so that ties fall alike. ``env`` has the state of ``random``.
        """
        job, written = self._read(job)
        if self.scores is None:
            before = _pool_rank(self._column(self._of_pool.before, rows, job, Side.MY, env))
        else:
            before = self.scores[rows]
        own = _job_rank(self._column(written, rows, job, Side.TARGET, env))
        if self._of_pool.after is None:
            return before, own
        return before, own, _pool_rank(self._column(self._of_pool.after, rows, job, Side.MY, env))

    def _column(self, rank: Expr, rows: NDArray[np.intp], job: Ad, side: Side, env: Environment) -> Column:
        """Return the values of a rank of some slots, (K,)."""
        index, hard = self._pool.dependencies, self._hard
        if hard is not None:
            place = np.searchsorted(hard.easy, rows)
            places = np.minimum(place, len(hard.easy) - 1)
            if (hard.easy[places] != rows).any():
                return evaluate_table(rank, self._slots.take(rows), job, side=side, env=env)
            rows = places
        if index.is_easy_before_rows(rank, job, on_rows=side is Side.MY):
            # Some slots' own expressions may be random. The others are columns, which are those of all slots.
            table = index.table
            found = evaluate_table(rank, table, job, side=side, env=env, dependencies=index, rows=rows)
            return found.take(rows)
        return evaluate_table(rank, index.table.take(rows), job, side=side, env=env)

    def of_pool(self, rank: Expr, job: Ad, env: Environment) -> RankValues:
        """Return a further rank of the pool of all slots for a job, (N,), as the pool's ranks of ``of`` are computed."""
        found = self._after.get(rank, job, Side.MY, env)
        if self._hard is not None:
            found, rows = found.copy(), self._hard.rows
            found[rows] = _pool_rank(self._hard.values(rank, job, Side.MY, env, rows))
        return found

    @property
    def read(self) -> frozenset[str]:
        """The attributes of jobs, in lower case, by which alike requests share their ranks."""
        return self._classes.read

    def best_of_class(self, among: Mask, count: int) -> tuple[NDArray[np.intp], RankValues] | None:
        """Return what ``choose`` returns for the job of the turn, if the slots are sorted for alike ones."""
        known = self._sorted_of_class.get(self._class)
        if known is None or self.scores is not None or self._hard is not None:
            return None
        chosen = known[0].first(among, count, self.taken)
        return chosen, _plus(known[1][chosen], self._shift or 0)

    def choose(
        self,
        job: Ad,
        among: Mask,
        count: int,
        env: Environment,
        further: tuple[RankValues, ...] = (),
        first: tuple[RankValues, ...] = (),
        replaced: ReplacedRanks | None = None,
    ) -> tuple[NDArray[np.intp], RankValues]:
        """Return the rows of the ``count`` best of some slots, (N,), for a job, best first, and its Rank of them.

        The ``first`` values sort them before everything else, (N,) each. The pool's own order comes first, then the job's Rank, then the pool's rank after it, then the ``further`` ones,
        (N,) each, then the order of the rows. ``replaced`` has all of these but the ``first`` of some slots. ``env`` has the state of
        ``random``.
        """
        if replaced is None:
            replaced = self._of_hard(job, among, env, further)
        plain = self.scores is None and not (further or first) and replaced is None
        read, pool, rank, last, cacheable = self._read_ranks(job, env)
        if cacheable:
            own = 0
            if plain and self._shift is not None:  # an integer of the job does not change the order
                of_slots = self._classes.sums[self._class].of_slots
                own = self._shift
                key = self._job.key(of_slots, _NO_JOB, Side.TARGET, env)
                ranks = self._job.get_by_key(key, _NO_JOB, env)
            else:
                ranks = self._job.get_by_key(rank, read, env)
            after = () if last is None else (self._after.get_by_key(last, read, env),)
            if self.scores is None and not first and replaced is None:
                order = self._pool.get_by_key(pool, read, env)
                uses = self._classes.uses[self._class] if self._class >= 0 else 0
                sorted_slots = None if further else self._sorted.of(order, ranks, *after, uses=uses)
                if sorted_slots is None:
                    chosen = order.best(among, (ranks, *after, *further), count)
                else:
                    chosen = sorted_slots.first(among, count, self.taken)
                    if self._class >= 0:
                        self._sorted_of_class[self._class] = sorted_slots, ranks
                return chosen, _plus(ranks[chosen], own)
            rows = np.flatnonzero(among)
            keys = tuple(each[rows] for each in (self._before(pool, read, env), ranks, *after, *further))
        else:  # the rank may be random: only the slots in question are evaluated
            rows = np.flatnonzero(among)
            keys = (*self.of(rows, job, env), *(each[rows] for each in further))
        if replaced is not None:
            keys = replaced.at(rows, keys)
        places = best(min(count, len(rows)), *(each[rows] for each in first), *keys)
        return rows[places], keys[1][places]

    def _of_hard(
        self, job: Ad, among: Mask, env: Environment, further: tuple[RankValues, ...] = ()
    ) -> ReplacedRanks | None:
        """Return the ranks of the hard slots among some, (N,); None without any."""
        if self._hard is None:
            return None
        rows = self._hard.rows[among[self._hard.rows]]
        if not len(rows):
            return None
        read, written = self._read(job)
        before = (
            _pool_rank(self._hard.values(self._of_pool.before, read, Side.MY, env, rows))
            if self.scores is None
            else self.scores[rows]
        )
        own = _job_rank(self._hard.values(written, read, Side.TARGET, env, rows))
        after = self._of_pool.after
        last = () if after is None else (_pool_rank(self._hard.values(after, read, Side.MY, env, rows)),)
        return ReplacedRanks(rows, (before, own, *last, *(each[rows] for each in further)))

    def _spread(self, values: RankValues) -> RankValues:
        """Return values of the slots of the index as values of all, (N,)."""
        return values if self._hard is None else self._hard.spread(values)

    def _pool_order(self, column: Column) -> PoolOrder:
        return PoolOrder.of(self._spread(_pool_rank(column)))

    def _sum_of(self, rank: Expr) -> _RankSum | None:
        """Return a Rank as the sum of an attribute of the job and one of its slot, of which all slots have an integer."""
        while isinstance(rank, Paren):
            rank = rank.inner
        if not isinstance(rank, Binary) or rank.op not in ("+", "-"):
            return None
        is_minus = rank.op == "-"
        if _is_own(rank.left) and self._has_integers(rank.right):
            of_slots = Unary("-", rank.right) if is_minus else rank.right
            return _RankSum(rank.left.name.lower(), of_slots, 1)
        if _is_own(rank.right) and self._has_integers(rank.left):
            return _RankSum(rank.right.name.lower(), rank.left, -1 if is_minus else 1)
        return None

    def _has_integers(self, expr: Expr) -> bool:
        """True if an expression of a job is an attribute of its slot, and all slots have an integer there."""
        if not isinstance(expr, Attr) or scope_side(expr.scope) is not Side.TARGET:
            return False
        name = expr.name.lower()
        if name not in self._integers:
            column = self._job.dependencies.table.column(name)
            values = column.numbers()
            is_integer = column.kind is Kind.INTEGER and len(column) > 0
            self._integers[name] = bool(is_integer and values.min() > -_EXACT and values.max() < _EXACT)
        return self._integers[name]

    def _before(self, pool: CacheKey[PoolOrder], read: Ad, env: Environment) -> RankValues:
        """Return what sorts slots before the job's Rank, (N,)."""
        return self._pool.get_by_key(pool, read, env).ranks if self.scores is None else self.scores

    def ahead(
        self, job: Ad, among: Mask, row: int, env: Environment, first: tuple[RankValues, ...] = ()
    ) -> NDArray[np.intp]:
        """Return the rows of some slots, (N,), that ``choose`` puts before another slot for a job, in any order.

        The ranks must not be random.
        """
        read, pool, rank, last, _ = self._read_ranks(job, env)
        ranks = self._job.get_by_key(rank, read, env)
        after = () if last is None else (self._after.get_by_key(last, read, env),)
        hard = self._of_hard(job, among, env)
        if self.scores is not None or first or hard is not None:
            rows = np.flatnonzero(among)
            keys: tuple[RankValues, ...] = (self._before(pool, read, env), ranks, *after)
            if hard is not None:
                keys = hard.at(np.arange(len(ranks)), keys)
            return rows[is_better(rows, row, (*first, *keys))]
        order = self._pool.get_by_key(pool, read, env)
        sorted_slots = self._sorted.known(order, ranks, *after)
        if sorted_slots is None:
            return order.ahead(among, row, (ranks, *after))
        return sorted_slots.ahead(among, row)

    def _read(self, job: Ad) -> tuple[Ad, Expr]:
        """Return the ad that the pool's ranks read of a job, and the job's Rank."""
        return (job, job.get("Rank") or _NO_RANK) if self._of_pool.of_job else (_NO_JOB, _SAME_RANK)


def _pool_rank(column: Column) -> RankValues:
    with np.errstate(over="ignore"):
        return column.numbers(_LOWEST).astype(np.float32).astype(np.float64)


def _job_rank(column: Column) -> RankValues:
    return column.numbers(0.0)


def _plus(ranks: RankValues, of_job: int) -> RankValues:
    """Add an integer; -0.0 stays as it is without one."""
    return ranks + of_job if of_job else ranks


def _is_own(expr: Expr) -> TypeGuard[Attr]:
    """True if an expression of a job is an attribute that the job may have."""
    return isinstance(expr, Attr) and not expr.absolute and expr.scope is None
