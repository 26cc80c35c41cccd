"""Which job attributes anything in a cycle can read: jobs that agree in them are alike.

Source: HTCondor manual, "autocluster" and ``SIGNIFICANT_ATTRIBUTES``. Here the closure is taken over the expressions
of the pool itself and of the bundle, so that nothing an expression reads can differ between jobs taken for alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import NoneType
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import ClassAd, Expr, Side, Table
from negotiator.classad.syntax import Literal, ReferenceScan, scan
from negotiator.cycle.rank import PRE_JOB_RANK
from negotiator.hooks.records import Expression

_JOB, _SLOT = Side.MY, Side.TARGET  # seen from the job
_Name: TypeAlias = tuple[Side, str]

#: Attributes of these names may stand for the ads themselves: then a scope says nothing of where a name is looked up.
_SHADOWS = frozenset({"my", "self", "target", "other"})


@attrs.frozen
class Autoclusters:
    """The jobs by kind: jobs of one kind agree in all that anything in the cycle can read of them.

    ``ids`` (N,) has the number of each job's kind. ``names`` (lower case) are the attributes that count for each kind;
    None where that cannot be told (``eval``, a plugin that does not say what it reads): such jobs are kinds of their own.
    """

    ids: NDArray[np.int64]
    significant: tuple[frozenset[str] | None, ...]


def idle_autoclusters(slots: Table, jobs: Table, bundle: Bundle, further: Sequence[str]) -> Autoclusters:
    """Find the kinds of jobs; what only the expressions of one job read splits the jobs that have these, and no others."""
    follow = _Closure.over(slots, jobs)
    return _alike(jobs, follow, follow.of_bundle(bundle), further)


def running_autoclusters(slots: Table, jobs: Table, bundle: Bundle) -> Autoclusters:
    """Find the kinds of jobs that run: nothing but what plugins read of them, and their queues, counts any more."""
    follow = _Closure.over(slots, jobs)
    return _alike(jobs, follow, bundle.job_attributes, ())


def _alike(
    jobs: Table, follow: _Closure, common: frozenset[str] | None, further: Sequence[str]
) -> Autoclusters:
    if common is None:
        return Autoclusters(np.arange(len(jobs)), (None,) * len(jobs))
    ids = np.full(len(jobs), -1, np.int64)
    names: list[frozenset[str] | None] = []
    pending = [(np.arange(len(jobs)), common)]
    while pending:
        rows, known = pending.pop()
        kinds, first = jobs.take(rows).group(sorted(known | set(further)))
        order = np.argsort(kinds, kind="stable")
        for first_row, places in zip(
            first, np.split(order, np.flatnonzero(np.diff(kinds[order])) + 1), strict=True
        ):
            members = rows[places]
            reached = follow.of_job(jobs.ad(int(rows[first_row])), known)
            if reached is None:
                ids[members] = np.arange(len(names), len(names) + len(members))
                names += [None] * len(members)
            elif len(members) > 1 and not reached <= known:
                pending.append((members, known | reached))
            else:
                ids[members] = len(names)
                names.append(known | reached)
    return Autoclusters(ids, tuple(names))


@attrs.define
class _Closure:
    """Follows references to the job attributes that they can reach."""

    slots: Table
    exact: bool
    _known: dict[tuple[object, ...], frozenset[str] | None] = attrs.field(factory=dict)
    _scans: dict[int, tuple[Expr, ReferenceScan]] = attrs.field(factory=dict)

    @classmethod
    def over(cls, slots: Table, jobs: Table) -> _Closure:
        """Follow what the jobs may read of each other's side."""
        return cls(slots, exact=not (_SHADOWS & (slots.names() | jobs.names())))

    def of_bundle(self, bundle: Bundle) -> frozenset[str] | None:
        """Give what the bundle and the slots read of any job, whatever the job's own expressions say."""
        if bundle.job_attributes is None:
            return None
        todo: list[_Name] = [(_JOB, name) for name in ("requirements", "rank", *bundle.job_attributes)]
        todo.append((_SLOT, "requirements"))
        for owner, found in _central(bundle):
            if found.opaque:
                return None
            todo += _reached(owner, found, exact=self.exact)
        return self._follow(todo, None)

    def of_job(self, job: ClassAd, names: frozenset[str]) -> frozenset[str] | None:
        """Give what is read of a job of which these attributes are, its own expressions followed; None: anything."""
        written = sorted(
            (name, expr) for name in names if type(expr := job.get(name)) not in (Literal, NoneType)
        )
        if not written:
            return names
        key = (names, *[(name, id(expr)) for name, expr in written])  # the table keeps the expressions
        if key not in self._known:
            self._known[key] = self._follow([(_JOB, name) for name in names], job)
        return self._known[key]

    def _follow(self, todo: list[_Name], job: ClassAd | None) -> frozenset[str] | None:
        seen: set[_Name] = set()
        while todo:
            item = todo.pop()
            if item in seen:
                continue
            seen.add(item)
            owner, name = item
            for found in self._job_scans(job, name) if owner is _JOB else self.slots.scans(name):
                if found.opaque:
                    return None
                todo += _reached(owner, found, exact=self.exact)
        return frozenset(name for side, name in seen if side is _JOB)

    def _job_scans(self, job: ClassAd | None, name: str) -> tuple[ReferenceScan, ...]:
        expr = None if job is None else job.get(name)
        if expr is None or type(expr) is Literal:
            return ()
        if id(expr) not in self._scans:
            self._scans[id(expr)] = (expr, scan(expr))
        return (self._scans[id(expr)][1],)


def _central(bundle: Bundle) -> Iterator[tuple[Side, ReferenceScan]]:
    if isinstance(bundle.audit.denials, Expression):
        yield _JOB, scan(bundle.audit.denials.tree)
    yield _SLOT, scan(PRE_JOB_RANK)
    for constraint in bundle.constraints:
        owner = _SLOT if constraint.slot_side is _JOB else _JOB
        yield owner, scan(constraint.record.expression)


def _reached(owner: Side, found: ReferenceScan, *, exact: bool) -> Iterator[_Name]:
    """Give the attributes that one expression names, in every ad in which they may be looked up."""
    other = _SLOT if owner is _JOB else _JOB
    for side, names in found.names.items():
        if side is None or found.moves_scope or not exact:
            yield from ((place, name) for place in (owner, other) for name in names)
        else:
            yield from ((owner if side is Side.MY else other, name) for name in names)
    if not exact:
        yield from ((place, name) for place in (owner, other) for name in _SHADOWS)
