"""Which attributes of a job expressions can read, through the expressions of slots, of the bundle and of the job itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import Enum, auto
from typing import Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle, MatchMode
from negotiator.classad import Ad, Expr, Side, Table
from negotiator.classad.syntax import Literal, ReferenceScan, scan
from negotiator.cycle.conjunct import ConjunctPool
from negotiator.hooks.declarations import Expression

_JOB, _SLOT = Side.MY, Side.TARGET  # seen from the job
_Name: TypeAlias = tuple[Side, str]
#: The attributes that expressions name; None if they may read any.
_Reads: TypeAlias = frozenset[_Name] | None
_NOTHING: _Reads = frozenset()

#: If an ad has an attribute of such a name, a scope in an expression may mean that attribute instead of an ad.
SCOPE_NAMES: Final = frozenset({"my", "self", "target", "other"})


class OpaqueReads(Enum):
    """What an expression of slots counts as reading that may read anything: anything, the names in it, or nothing."""

    ANYTHING = auto()
    NAMES = auto()
    NOTHING = auto()


@attrs.define
class ReferenceClosure:
    """Follows references to the job attributes that they can reach.

    ``exact``: no ad has an attribute named like a scope, so that MY and TARGET determine the ad of a name.
    ``of_opaque`` is what an expression of slots counts as reading that may read anything (``eval``). ``opaque`` are the
    attributes of slots that have such expressions, as far as they were met.
    """

    slots: Table
    exact: bool
    requests: frozenset[str]  # the amounts that jobs request
    conjuncts: ConjunctPool = attrs.field(factory=ConjunctPool)
    of_opaque: OpaqueReads = OpaqueReads.ANYTHING
    opaque: set[str] = attrs.field(factory=set, init=False)
    _job_reads: dict[int, tuple[Expr, _Reads]] = attrs.field(factory=dict)  # by id of the expression
    _part_reads: dict[int, tuple[Expr, _Reads]] = attrs.field(
        factory=dict
    )  # of conjuncts; None: read as a whole
    _slot_reads: dict[str, _Reads] = attrs.field(factory=dict)  # by name
    _of_names: dict[_Name, frozenset[str] | None] = attrs.field(factory=dict)  # if jobs have constants only

    @classmethod
    def over(cls, slots: Table, jobs: Table, conjuncts: ConjunctPool | None = None) -> ReferenceClosure:
        """Return the closure over the attributes that jobs and slots may read of each other; ``conjuncts`` are shared with others."""
        names = jobs.names()
        requests = frozenset(name for name in names if name.startswith("request"))
        return cls(
            slots,
            exact=not (SCOPE_NAMES & (slots.names() | names)),
            requests=requests,
            conjuncts=conjuncts or ConjunctPool(),
        )

    def with_opaque(self, reads: OpaqueReads) -> ReferenceClosure:
        """Return the closure in which expressions of slots that may read anything count as reading less."""
        return ReferenceClosure(self.slots, self.exact, self.requests, self.conjuncts, reads)

    def opaque_slots(self) -> int:
        """Return how many slots have an expression, of those met, that may read anything."""
        found = np.zeros(len(self.slots), np.bool_)
        known: dict[int, bool] = {}
        for name in self.opaque:
            for row, expr in enumerate(self.slots.expressions(name)):
                if expr is not None:
                    if id(expr) not in known:
                        known[id(expr)] = scan(expr).opaque
                    found[row] |= known[id(expr)]
        return int(np.count_nonzero(found))

    def of_bundle(self, bundle: Bundle) -> frozenset[str] | None:
        """Return the attributes that the bundle and the slots read of any job; None if they cannot be found."""
        if bundle.job_attributes is None:
            return None
        pending: list[_Name] = [(_JOB, name) for name in ("requirements", "rank", *bundle.job_attributes)]
        pending.append((_SLOT, "requirements"))
        pending += ((_SLOT, name) for name in self.slots.names() if name.startswith("consumption"))
        if bundle.match is MatchMode.FILL:
            pending += ((_JOB, name) for name in self.requests)
        for owner, found in _central_expressions(bundle):
            if found.opaque:
                return None
            pending += _reached(owner, found, exact=self.exact)
        return self._follow(pending, None)

    def of_expression(self, owner: Side, expression: Expr) -> frozenset[str] | None:
        """Return the job attributes that one expression reads of any job; None if they cannot be found.

        :param owner: the side whose ad is MY in it, where the job is MY.
        """
        found = scan(expression)
        return None if found.opaque else self._follow([*_reached(owner, found, exact=self.exact)], None)

    def of_jobs(
        self, jobs: Table, rows: NDArray[np.intp], names: frozenset[str]
    ) -> list[tuple[frozenset[str] | None, bool]]:
        """Return, for each row, ``names`` and all attributes that expressions in these read; None if they cannot be found.

        They are found once for rows with the same expressions, of the first one: True with it. Expressions that these
        refer to may be others in other rows.
        """
        written = sorted(filter(jobs.has_expressions, names))
        groups, first = jobs.take(rows).group(written)
        first_rows = rows[first]
        reads = self._of_each(jobs.take(first_rows), written)
        # Most jobs differ in constants only: the same names are followed once.
        common = {each: self._of_reads(each) for each in set(reads)}
        # Of these names, other expressions may be others in each job.
        further = {each for each, names in common.items() if _has_others(jobs, names, written)}
        found = [
            self.of_job(jobs.ad(row), written) if each in further else common[each]
            for row, each in zip(first_rows.tolist(), reads, strict=True)
        ]
        reached = [None if each is None else names | each for each in found]
        is_first = np.zeros(len(rows), np.bool_)
        is_first[first] = True
        return [(reached[group], own) for group, own in zip(groups.tolist(), is_first.tolist(), strict=True)]

    def _of_reads(self, reads: Iterable[_Reads]) -> frozenset[str] | None:
        """Return the job attributes that expressions with these reads reach, those that are constants in jobs."""
        found: set[str] = set()
        for each in reads:
            if each is None:
                return None
            for name in each:
                if name not in self._of_names:
                    self._of_names[name] = self._follow([name], None)
                reached = self._of_names[name]
                if reached is None:
                    return None
                found |= reached
        return frozenset(found)

    def of_job(self, job: Ad, names: Iterable[str]) -> frozenset[str] | None:
        """Return the attributes that expressions in attributes of one job read; None if they cannot be found."""
        return self._follow([(_JOB, name) for name in names], job)

    def _follow(self, pending: list[_Name], job: Ad | None) -> frozenset[str] | None:
        """Return the job attributes that are reached from ``pending`` through the expressions of slots and of one job.

        None if an expression is opaque (``eval``).
        """
        seen: set[_Name] = set()
        while pending:
            item = pending.pop()
            if item in seen:
                continue
            seen.add(item)
            owner, name = item
            if owner is _SLOT:
                reads = self._of_slots(name)
            else:
                reads = self._of_expression(None if job is None else job.folded(name))
            if reads is None:
                return None
            pending += reads
        return frozenset(name for side, name in seen if side is _JOB)

    def _of_each(self, jobs: Table, names: Sequence[str]) -> list[tuple[_Reads, ...]]:
        """Return, for each job, what each of the attributes reads."""
        if not names:
            return [()] * len(jobs)
        columns = [[self._of_expression(expr) for expr in jobs.expressions(name)] for name in names]
        return list(zip(*columns, strict=True))

    def _of_expression(self, expr: Expr | None) -> _Reads:
        """Return what the expression of an attribute of a job reads; None is none."""
        if expr is None or type(expr) is Literal:
            return _NOTHING
        if id(expr) not in self._job_reads:  # the entry holds the tree, so that its id stays its own
            self._job_reads[id(expr)] = expr, self._of_conjuncts(expr)
        return self._job_reads[id(expr)][1]

    def _of_conjuncts(self, expr: Expr) -> _Reads:
        """Return what an expression reads: what its conjuncts read, which many expressions have in common."""
        parts = self.conjuncts.of(expr)
        if len(parts) == 1:
            return self._reads(_JOB, (scan(expr),))
        found: set[_Name] = set()
        for part in parts:
            if id(part) not in self._part_reads:
                scanned = scan(part)
                own = None if scanned.moves_scope else self._reads(_JOB, (scanned,))
                self._part_reads[id(part)] = part, own
            reads = self._part_reads[id(part)][1]
            if reads is None:  # a call moves the scope, or it may read anything
                return self._reads(_JOB, (scan(expr),))
            found |= reads
        return frozenset(found)

    def _of_slots(self, name: str) -> _Reads:
        """Return what the expressions of an attribute of slots read."""
        if name not in self._slot_reads:
            scans = self.slots.scans(name)
            if any(found.opaque for found in scans):
                self.opaque.add(name)
            self._slot_reads[name] = self._reads(_SLOT, scans)
        return self._slot_reads[name]

    def _reads(self, owner: Side, scans: Sequence[ReferenceScan]) -> _Reads:
        if any(found.opaque for found in scans):
            if owner is _JOB or self.of_opaque is OpaqueReads.ANYTHING:
                return None
            if self.of_opaque is OpaqueReads.NOTHING:
                scans = [found for found in scans if not found.opaque]
        return frozenset([name for found in scans for name in _reached(owner, found, exact=self.exact)])


def _has_others(jobs: Table, names: frozenset[str] | None, written: Collection[str]) -> bool:
    """True if some of the names, other than those that are ``written``, are expressions in jobs."""
    return names is not None and any(map(jobs.has_expressions, names.difference(written)))


def _central_expressions(bundle: Bundle) -> Iterator[tuple[Side, ReferenceScan]]:
    """Yield the side that is MY in each expression of the bundle, and its references."""
    if isinstance(bundle.audit.denials, Expression):
        yield _JOB, scan(bundle.audit.denials.tree)
    ranks = bundle.ordering.ranks
    read = (ranks.before, ranks.after, *ranks.reads)
    yield from ((_SLOT, scan(expression)) for expression in read if expression is not None)
    for constraint in bundle.constraints:
        owner = _SLOT if constraint.slot_side is _JOB else _JOB
        yield owner, scan(constraint.record.expression)


def _reached(owner: Side, found: ReferenceScan, *, exact: bool) -> Iterator[_Name]:
    """Yield the attributes that one expression names, with every ad in which they may be looked up."""
    other = _SLOT if owner is _JOB else _JOB
    for side, names in found.names.items():
        # A name without a scope is looked up in the own ad, then in the other.
        if side is None or found.moves_scope or not exact:
            yield from ((place, name) for place in (owner, other) for name in names)
        else:
            yield from ((owner if side is Side.MY else other, name) for name in names)
    if not exact:
        yield from ((place, name) for place in (owner, other) for name in SCOPE_NAMES)
