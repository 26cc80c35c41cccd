"""The conditions of all requests of a cycle as a table: a row for each conjunct and each group of requests alike in what it reads.

A thousand classes of jobs share a few hundred rows, and a few hundred combinations of rows. Which requests share a row is found by
columns, for all requests at once. A row is evaluated at the first turn that needs it, so that its owner pays; so is a combination of
rows: the slots that all of them leave, and what each of them removes. Further requests with the combination look it up.

Some requests share no rows: their Requirements refer to themselves, read a random number or an attribute of the turn, or mean an
attribute of an ad by MY. ``apply_conditions`` evaluates them, each by itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from itertools import chain
from operator import itemgetter

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.constraints import BoundConstraint
from negotiator.classad import Ad, Environment, Kind, Side, Table
from negotiator.classad.columnar import Dependencies, MemoryBudget, TrueRows
from negotiator.classad.syntax import Expr, moved_attributes, scan
from negotiator.cycle.candidate_set import NO_SLOT_REQUIREMENTS, FoundConditions
from negotiator.cycle.conjunct import WHOLE, Conjunct, ConjunctPool
from negotiator.cycle.numbering import AlikeJobs, Numbers, combined, members_of
from negotiator.cycle.requirements import Requirements
from negotiator.cycle.result import Removal
from negotiator.cycle.slot_comparisons import ComparedSlots, SlotComparisons
from negotiator.cycle.work_accounts import WorkAccounts, for_policy
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.order import QueuedRequest
from negotiator.hooks.records import Cycle, Mask
from negotiator.ledger import Rows
from negotiator.records import Mode, Reason

#: A request with more conditions is evaluated by itself.
_MOST_CONDITIONS = 200
#: A conjunct that fewer requests have has a row for each of them.
_FEW_REQUESTS = 8
#: Bytes of a combination beside the slots that it leaves, and of those that are combined at once.
_COMBINATION, _BLOCK = 2000, 1 << 20
_NO_AD = Ad([])


@attrs.define(eq=False)
class _Row:
    """A condition of alike requests.

    ``reads`` are the attributes of jobs that it reads, in lower case. ``split`` are the slots in the order of the compared values, if it is
    a comparison, and ``place`` is where the job's is among them. ``rule`` is the reason of a rule of the pool. Once it was evaluated,
    ``bits`` is its place in ``_TrueBits``, and ``rejected`` the number of slots on which it is not true: of each written conjunct, (W,).
    """

    conjunct: Conjunct
    reads: frozenset[str]
    split: ComparedSlots | None = None
    place: int = 0
    rule: Reason | None = None
    bits: int = -1
    rejected: list[int] = attrs.field(factory=list)
    #: False for a row of one request as long as it is not known what it reads.
    is_followed: bool = True
    #: What each written conjunct removes, with its place, where no slot is left for it to remove.
    none_removed: list[tuple[int, Removal]] = attrs.field(factory=list)
    #: Combinations that are not known before the row is.
    waiting: list[_Combination] = attrs.field(factory=list)

    @property
    def is_enforced(self) -> bool:
        return self.rule is None or self.rule.mode is Mode.ENFORCE

    def removals(self, removed: Sequence[int]) -> list[tuple[int, Removal]]:
        """Return what each written conjunct removes, (W,), with its place among those of the slots."""
        if not self.none_removed:
            self.none_removed = [
                (written.place, Removal(self.rule or written.reason(), 0, rejected))
                for written, rejected in zip(self.conjunct.written, self.rejected, strict=True)
            ]
        return [
            (none[0], Removal(none[1].reason, count, rejected)) if count else none
            for none, count, rejected in zip(self.none_removed, removed, self.rejected, strict=True)
            if rejected
        ]


@attrs.define(eq=False)
class _Combination:
    """The rows of alike requests in the order in which they are applied, those of the slots' Requirements in ``of_slots``.

    ``missing`` of the rows have to be evaluated before they can be combined. ``requests`` have it and no turn yet.
    ``is_followed``: it is known what all of them read.
    """

    rows: list[_Row]
    of_slots: range
    is_followed: bool
    missing: int = 0
    found: FoundConditions | None = None
    requests: int = 0


@attrs.define(eq=False)
class _TrueBits:
    """The slots on which each row is true, a bit for each slot, (C, W) words; the first row is true of all slots."""

    size: int
    budget: MemoryBudget
    count: int = attrs.field(default=1, init=False)
    words: NDArray[np.uint64] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.words = np.zeros((64, max(1, -(-self.size // 64))), np.uint64)
        self._write(0, np.packbits(np.ones(self.size, np.bool_)))

    def add(self, truth: TrueRows, *, until_removed: bool = False) -> int:
        """Add a row, and return its number; -1 if there is no memory left, but for one ``until_removed``: the last one."""
        if truth.bits is None and truth.count:
            return 0
        if not until_removed and not self.budget.take(self.words[0].nbytes):
            return -1
        if self.count == len(self.words):
            self.words = np.concatenate((self.words, np.zeros_like(self.words)))
        if truth.bits is not None:
            self._write(self.count, truth.bits)
        else:
            self.words[self.count] = 0
        self.count += 1
        return self.count - 1

    def _write(self, row: int, bits: NDArray[np.uint8]) -> None:
        self.words[row].view(np.uint8)[: len(bits)] = bits

    def of(self, row: int) -> TrueRows:
        """Return the slots on which a row is true."""
        words = self.words[row]
        return self.rows(words, int(np.bitwise_count(words).sum()))

    def rows(self, words: NDArray[np.uint64], count: int) -> TrueRows:
        """Return some slots of which the words are known, and their number."""
        bits = words.view(np.uint8)[: -(-self.size // 8)]
        return TrueRows(self.size, count, bits if 0 < count < self.size else None)


@attrs.define(eq=False)
class ConditionTable:
    """The conditions of the requests of one cycle over its slots.

    :param alike: the first job of each request, (R,).
    """

    requests: Sequence[QueuedRequest]
    alike: AlikeJobs
    slots: Table
    requirements: Requirements
    constraints: Sequence[BoundConstraint]
    cycle: Cycle
    work: WorkAccounts
    conjuncts: ConjunctPool
    bits: _TrueBits = attrs.field(init=False)
    _codes: dict[Conjunct, NDArray[np.intp]] = attrs.field(factory=dict, init=False)
    #: Combinations whose rows cost nobody any more.
    _ready: deque[_Combination] = attrs.field(factory=deque, init=False)
    #: Combinations of which each request had its turn: if there is no memory for others, they are forgotten.
    _served: deque[_Combination] = attrs.field(factory=deque, init=False)
    _had_turns: set[int] = attrs.field(factory=set, init=False)
    _reads: frozenset[str] = attrs.field(default=frozenset(), init=False)  # of all rows
    _read_by_alike: frozenset[str] = attrs.field(default=frozenset(), init=False)

    def __attrs_post_init__(self) -> None:
        self.bits = _TrueBits(len(self.slots), self.requirements.budget)

    @property
    def read(self) -> frozenset[str]:
        """The attributes of jobs, in lower case, that conditions of alike requests read."""
        return self._read_by_alike if self._of_requests else frozenset()

    def of(self, queued: QueuedRequest, replaced: frozenset[str]) -> FoundConditions | None:
        """Return what the conditions of a request leave; None if it is to be evaluated by itself.

        :param replaced: the attributes that the order adds at its turn, in lower case.
        """
        combination = self._of_requests[queued.number]
        if combination is None or not (combination.is_followed or self._follow(combination, queued)):
            return None
        if not self._reads.isdisjoint(replaced) and not all(
            row.reads.isdisjoint(replaced) for row in combination.rows
        ):
            return None
        found = combination.found or self._evaluate(combination, queued.request.ad)
        if queued.number not in self._had_turns:
            self._had_turns.add(queued.number)
            combination.requests -= 1
            if not combination.requests:
                self._served.append(combination)
        return found

    def _follow(self, combination: _Combination, queued: QueuedRequest) -> bool:
        """Find what the rows of one request alone read; False if it is to be evaluated by itself, or its owner has no steps left."""
        job = queued.request.ad
        env = self.work.for_job(self.cycle, job).environment
        for row in combination.rows:
            if row.is_followed:
                continue
            key = row.conjunct.key(job, env)
            if env.payers is not None and env.payers.exhausted:
                return False
            if key is not None:
                if not (key.dependencies.cacheable and row.conjunct.is_independent(key)):
                    self._of_requests[queued.number] = None
                    return False
                row.reads = frozenset(key.dependencies.names)
                self._reads |= row.reads
            row.is_followed = True
        combination.is_followed = True
        return True

    def _evaluate(self, combination: _Combination, job: Ad) -> FoundConditions | None:
        """Evaluate the rows of a combination that are not known yet, and combine them; None if the owner has no steps left.

        Other combinations of known rows are combined with them.
        """
        cycle = self.work.for_job(self.cycle, job)
        env, policy = cycle.environment, for_policy(cycle).environment
        block, without_memory = [combination], list[_Row]()
        for row in combination.rows:
            if row.bits < 0:
                truth = self._find(row, job, env if row.rule is None else policy)
                if row.bits < 0 and truth is not None:
                    row.bits = self.bits.add(truth, until_removed=True)
                    without_memory.append(row)
        is_known = all(row.bits >= 0 for row in combination.rows)
        if is_known and not without_memory:
            for _ in range(min(len(self._ready), _BLOCK // self.bits.words[0].nbytes)):
                each = self._ready.popleft()
                for row in each.rows:
                    if row.bits < 0 and row.split is not None:
                        self._find(row, _NO_AD, self.cycle.environment)
                if each.found is None and each is not combination and all(row.bits >= 0 for row in each.rows):
                    block.append(each)
        found = [*self._combined(block)] if is_known else [None]
        for row in without_memory:
            row.bits = -1
        self.bits.count -= len(without_memory)
        for each, own in zip(block, found, strict=True):
            if own is not None and self._has_memory(own):
                each.found = own
        return found[0]

    def _has_memory(self, found: FoundConditions) -> bool:
        """Return whether a combination can be kept; those that were served are forgotten for it."""
        budget = self.requirements.budget
        while not budget.take(_size(found)):
            if not self._served:
                return False
            served = self._served.popleft()
            before, served.found = served.found, None
            if before is not None:
                budget.left += _size(before)
        return True

    def _find(self, row: _Row, job: Ad, env: Environment) -> TrueRows | None:
        """Evaluate a row, and keep it if there is memory; None if the owner of the job has no steps left."""
        conjunct = row.conjunct
        if row.split is not None:
            truth = row.split.truth(row.place)
        else:
            truth = conjunct.truth(conjunct.key(job, env), job, env)
            if env.payers is not None and env.payers.exhausted:
                return None
        if conjunct.codes is None:
            row.rejected = [truth.size - truth.count]
        else:
            codes = conjunct.codes[~truth.rows]
            row.rejected = np.bincount(codes, minlength=len(conjunct.written)).tolist()
        if conjunct.rows is not None:
            truth = truth.extended(conjunct.rows, len(self.slots))
        row.bits = self.bits.add(truth)
        for each in row.waiting:
            each.missing -= 1
            if not each.missing:
                self._ready.append(each)
        row.waiting = []
        return truth

    def _combined(self, block: Sequence[_Combination]) -> Iterator[FoundConditions]:
        """Yield what the conditions of some combinations leave, all of them at once."""
        rows = [[row for row in each.rows if row.bits] for each in block]  # the others are true of all slots
        counts = np.fromiter(map(len, rows), np.intp, len(rows))
        each_row = [*chain.from_iterable(rows)]
        there = np.arange(counts.max(initial=1)) < counts[:, None]
        numbers, keeps = np.zeros(there.shape, np.intp), np.ones(there.shape, np.bool_)
        numbers[there] = [row.bits for row in each_row]
        keeps[there] = [row.is_enforced for row in each_row]
        coded = np.zeros(there.shape, np.bool_)
        coded[there] = [row.conjunct.codes is not None for row in each_row]
        any_coded = coded.any()
        words = self.bits.words
        left = np.broadcast_to(words[0], (len(block), words.shape[1]))
        found = np.full(len(block), self.bits.size)
        removed = np.zeros(there.shape, np.intp)
        of_codes: dict[tuple[int, int], list[int]] = {}
        for place in range(there.shape[1]):
            more = left & words[numbers[:, place]]
            own = np.bitwise_count(more).sum(axis=1, dtype=np.intp)
            removed[:, place] = found - own
            for number in (
                np.flatnonzero(coded[:, place] & (removed[:, place] > 0)).tolist() if any_coded else ()
            ):
                gone = left[number] & ~more[number]
                of_codes[number, place] = self._by_code(rows[number][place].conjunct, gone)
            kept = keeps[:, place]
            left = more if kept.all() else np.where(kept[:, None], more, left)
            found = np.where(kept, own, found)
        each_removed: list[list[int]] = [*map(np.ndarray.tolist, removed)]
        sizes: list[int] = [*found.tolist()]
        for number, combination in enumerate(block):
            of_rows = [
                row.removals(
                    (each_removed[number][place],)
                    if row.conjunct.codes is None
                    else of_codes.get((number, place), [0] * len(row.rejected))
                )
                for place, row in enumerate(rows[number])
            ]
            yield self._found(combination, self.bits.rows(left[number], sizes[number]), iter(of_rows))

    def _found(
        self, combination: _Combination, kept: TrueRows, of_rows: Iterator[list[tuple[int, Removal]]]
    ) -> FoundConditions:
        """Return what a combination leaves; ``of_rows`` are the removals of its rows that are not true of all slots."""
        rows, of_slots = combination.rows, combination.of_slots
        found = [next(of_rows) if row.bits else () for row in rows]
        by_place = [*chain.from_iterable(found[of_slots.start : of_slots.stop])]
        by_place.sort(key=itemgetter(0))
        in_order = chain(
            chain.from_iterable(found[: of_slots.start]),
            by_place,
            chain.from_iterable(found[of_slots.stop :]),
        )
        warnings: tuple[tuple[Reason, TrueRows], ...] = ()
        if self.constraints:
            all_slots = TrueRows(len(self.slots), len(self.slots), None)
            shown = [row for row in rows if row.rule is not None and row.bits and not row.is_enforced]
            warnings = tuple(
                [(row.rule, all_slots.without(self.bits.of(row.bits))) for row in shown if row.rule]
            )
        return FoundConditions(kept, tuple([removal for _, removal in in_order]), warnings)

    def _by_code(self, conjunct: Conjunct, gone: NDArray[np.uint64]) -> list[int]:
        """Return how many of some slots each written conjunct applies to, (W,)."""
        if conjunct not in self._codes:
            codes = np.zeros(len(self.slots), np.intp)
            codes[np.asarray(conjunct.rows)] = np.asarray(conjunct.codes)
            self._codes[conjunct] = codes
        rows = np.flatnonzero(np.unpackbits(gone.view(np.uint8), count=len(self.slots)))
        counts: list[int] = np.bincount(self._codes[conjunct][rows], minlength=len(conjunct.written)).tolist()
        return counts

    @cached_property
    def _of_requests(self) -> list[_Combination | None]:
        """The combination of each request; None for one that is evaluated by itself."""
        columns = _ConditionColumns(self, self.alike)
        found = columns.combinations()
        self._reads = self._read_by_alike = frozenset[str]().union(*{row.reads for row in columns.rows})
        for each in found:
            if each is not None:
                each.requests += 1
        for each in {id(each): each for each in found if each is not None}.values():
            costly = [row for row in each.rows if row.bits < 0 and row.split is None]
            each.missing = len(costly)
            for row in costly:
                row.waiting.append(each)
            if not costly:
                self._ready.append(each)
        return found


def _size(found: FoundConditions) -> int:
    return _COMBINATION + found.kept.nbytes


@attrs.define(eq=False)
class _ConditionColumns:
    """The rows of each request, found by columns over all requests, (R,).

    ``places`` sorts the conditions of a request: those of the job, of the slots, of the pool.
    """

    table: ConditionTable
    alike: AlikeJobs
    alone: Mask = attrs.field(init=False)  # (R,)
    rows: list[_Row] = attrs.field(factory=list, init=False)
    _found: list[tuple[Rows, Numbers, Numbers]] = attrs.field(factory=list, init=False)
    _comparisons: SlotComparisons = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.alone = np.zeros(len(self.table.requests), np.bool_)
        table = self.table
        of_jobs, of_slots = (
            table.work.for_ads(table.cycle, kind).environment for kind in (AdKind.JOB, AdKind.STARTD)
        )
        self._comparisons = SlotComparisons(self.alike, of_jobs, of_slots)

    def combinations(self) -> list[_Combination | None]:
        """Return the combination of each request; None for one that is evaluated by itself."""
        table = self.table
        count = len(table.requests)
        shadowed = any(self.alike.jobs.column(name).kind is not Kind.ABSENT for name in ("my", "target"))
        if shadowed or table.requirements.cache_of_easy.dependencies.shadowed(_NO_AD):
            return [None] * count
        everything = np.arange(count)
        of_job = self._of_jobs()
        first_of_slots = 1 + max((int(places.max(initial=0)) for _, places in of_job.values()), default=0)
        for conjunct, (requests, places) in ((each, of_job[each]) for each in of_job):
            self._add(conjunct, requests, places)
        layers = table.requirements.layers
        for place, conjunct in enumerate(layers, first_of_slots):
            self._add(conjunct, everything, np.full(count, place))
        first_of_pool = first_of_slots + len(layers)
        rules = [
            (table.requirements.of_rule(conjunct.expression, each.slot_side), conjunct.reason)
            for each in table.constraints
            for conjunct in each.conjuncts
        ]
        for place, (conjunct, rule) in enumerate(rules, first_of_pool):
            self._add(conjunct, everything, np.full(count, place), rule)
        return self._combined(first_of_slots, first_of_pool)

    def _of_jobs(self) -> dict[Conjunct, tuple[Rows, Numbers]]:
        """Return the requests that have each conjunct in their jobs' Requirements, and its place there."""
        table = self.table
        groups, first = self.alike.jobs.group(["Requirements"])
        written = self.alike.jobs.take(first).expressions("Requirements")
        known: dict[int, Conjunct] = {}  # by identity of the tree
        uses: dict[Conjunct, list[tuple[Rows, int]]] = {}
        for expression, members in zip(written, members_of(groups, len(first)), strict=True):
            parts = () if expression is None else table.conjuncts.of(expression)
            if expression is None or len(parts) > _MOST_CONDITIONS:
                self.alone[members] = True
                continue
            for place, part in enumerate(parts):
                conjunct = known.get(id(part))
                if conjunct is None:
                    conjunct = known[id(part)] = table.requirements.of_tree(part)
                uses.setdefault(conjunct, []).append((members, place))
        for conjunct, each in uses.items():
            requests = np.concatenate([members for members, _ in each])
            if len(requests) >= _FEW_REQUESTS and self._moves_scope(conjunct.expression):
                self.alone[requests] = True
        return {
            conjunct: (
                np.concatenate([members for members, _ in each]),
                np.concatenate([np.full(len(members), place) for members, place in each]),
            )
            for conjunct, each in uses.items()
        }

    def _moves_scope(self, part: Expr) -> bool:
        """True if what a part of Requirements means may depend on the attributes that a job has (``Requirements.of_job``)."""
        index = self.table.requirements.cache_of_easy.dependencies
        found = index.without_other_ad(part, on_rows=False, shadowed=False).footprint
        return (found.moves_scope or found.opaque) and bool(moved_attributes(part))

    def _add(self, conjunct: Conjunct, requests: Rows, places: Numbers, rule: Reason | None = None) -> None:
        """Add the rows of a conjunct for some requests, at these places among the conditions of each; ``rule`` is one of the pool."""
        if len(requests) < _FEW_REQUESTS:
            self._add_apart(conjunct, requests, places, rule)
            return
        dependencies = conjunct.cache.dependencies_of(conjunct.expression, conjunct.side)
        groups, reads, compared = self._alike(conjunct, dependencies, requests)
        known = groups >= 0
        self.alone[requests[~known]] = True
        distinct, numbers = np.unique(groups[known], return_inverse=True)
        self._found.append((requests[known], places[known], numbers + len(self.rows)))
        last = -1 if compared is None else len(compared.values)
        self.rows += [
            _Row(conjunct, reads, compared if group <= last else None, group, rule)
            for group in distinct.tolist()
        ]

    def _add_apart(self, conjunct: Conjunct, requests: Rows, places: Numbers, rule: Reason | None) -> None:
        """Add a row for each of few requests: users may write any number of conjuncts, and to compare them costs more than they share."""
        if not self._is_simple(conjunct.expression):
            # What it leads to is followed at the turn, as long as the owner can pay.
            self._found.append((requests, places, np.arange(len(requests)) + len(self.rows)))
            self.rows += [
                _Row(conjunct, frozenset(), rule=rule, is_followed=False) for _ in range(len(requests))
            ]
            return
        dependencies = conjunct.cache.dependencies_of(conjunct.expression, conjunct.side)
        shared = dependencies.cacheable and conjunct.is_independent_with(dependencies, direct=True)
        reads, constants = frozenset(dependencies.names), self.alike.with_constants(dependencies.names)
        for place, request in enumerate(requests.tolist()):
            if not shared or not constants[request]:
                self.alone[request] = True
            else:
                own = slice(place, place + 1)
                self._found.append((requests[own], places[own], np.array([len(self.rows)])))
                self.rows.append(_Row(conjunct, reads, rule=rule))

    def _is_simple(self, expression: Expr) -> bool:
        """True if an expression of jobs reads constants of the slots only."""
        found, slots = scan(expression), self.table.slots
        names = (*found.names[Side.TARGET], *found.names[None])
        return not (found.opaque or found.moves_scope or any(map(slots.has_expressions, names)))

    def _alike(
        self, conjunct: Conjunct, dependencies: Dependencies, requests: Rows
    ) -> tuple[Numbers, frozenset[str], ComparedSlots | None]:
        """Return a number for each request: those alike in all that a conjunct reads share it, -1 for one by itself.

        Return also the attributes of jobs that it reads, and the slots in the order of the values that it compares: numbers up to
        their number are places among these.
        """
        names = dependencies.names
        numbers, reads = np.full(len(requests), -1), frozenset(names)
        if not dependencies.cacheable:
            return numbers, reads, None
        direct = conjunct.is_independent_with(dependencies, direct=True)
        if not names:
            return np.full(len(requests), 0 if direct else -1), reads, None
        found = self._comparisons.of(conjunct, dependencies) if direct else None
        compared, last = None, 0
        if found is None and direct:
            found, last = self._comparisons.by_values(conjunct, dependencies), len(self.alone)
        if found is not None:
            numbers, reads = found.numbers[requests], reads | found.read
            compared = found.slots
            last = last if compared is None else len(compared.values) + 1
        of_constants = self.alike.with_constants(names)[requests]
        if direct:
            rest = of_constants & (numbers < 0)
            numbers[rest] = last + self.alike.equal(names)[requests[rest]]
            last += len(self.alone)
        others = np.flatnonzero(~of_constants & (numbers < 0))
        if len(others):
            read = partial(self._reads, conjunct)
            refined, further = self.alike.refined(requests[others], names, read)
            numbers[others] = np.where(refined < 0, -1, refined + last)
            reads |= further
        return numbers, reads, compared

    def _reads(self, conjunct: Conjunct, job: Ad) -> frozenset[str] | None:
        """Return what a conjunct reads of a job; None if the job may not share a row. The job's owner pays for following its expressions."""
        table = self.table
        key = conjunct.key(job, table.work.for_job(table.cycle, job).environment)
        if key is None:
            return frozenset()
        shared = key.dependencies.cacheable and conjunct.is_independent(key)
        return frozenset(key.dependencies.names) if shared else None

    def _present(self) -> _Row | None:
        """Return the condition that a slot has Requirements; None if all have."""
        table = self.table
        truth = table.requirements.present
        if not truth.has_false:
            return None
        conjunct = table.requirements.of_rule(WHOLE, Side.MY)
        rejected = [truth.size - truth.count]
        return _Row(
            *(conjunct, frozenset()),
            rule=NO_SLOT_REQUIREMENTS,
            bits=table.bits.add(truth),
            rejected=rejected,
        )

    def _combined(self, first_of_slots: int, first_of_pool: int) -> list[_Combination | None]:
        if not self._found:  # no request and no slot has Requirements
            return [None] * len(self.alone)
        requests, places, rows = (np.concatenate(each) for each in zip(*self._found, strict=True))
        order = np.lexsort((places, requests))
        requests, places, rows = requests[order], places[order], rows[order]
        counts = np.bincount(requests, minlength=len(self.alone))
        starts = np.cumsum(counts) - counts
        # One column for each condition of a request: the number of its row, -1 after the last one.
        matrix = np.full((counts.max(initial=1), len(counts)), -1)
        matrix[np.arange(len(rows)) - starts[requests], requests] = rows
        numbers, count = combined(*matrix)
        first = np.empty(count, np.intp)
        first[numbers[::-1]] = np.arange(len(numbers))[::-1]
        slots, pool = (
            np.bincount(requests[places < each], minlength=len(counts))[first].tolist()
            for each in (first_of_slots, first_of_pool)
        )
        made, present = [], self._present()
        of_rows = [*map(self.rows.__getitem__, rows.tolist())]
        spans = zip(starts[first].tolist(), (starts + counts)[first].tolist(), slots, pool, strict=True)
        for start, end, begin_of_slots, end_of_slots in spans:
            own, of_slots = of_rows[start:end], range(begin_of_slots, end_of_slots)
            if present is not None:
                own.insert(begin_of_slots, present)
                of_slots = range(begin_of_slots + 1, end_of_slots + 1)
            made.append(_Combination(own, of_slots, all(row.is_followed for row in own)))
        alone = self.alone.tolist()
        return [
            None if by_itself else made[number]
            for number, by_itself in zip(numbers.tolist(), alone, strict=True)
        ]
