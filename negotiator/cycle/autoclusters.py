"""Autoclusters: jobs that are equal in every attribute that a cycle can read are alike.

Source: HTCondor manual, "autocluster" and ``SIGNIFICANT_ATTRIBUTES``. Here the significant attributes are the closure
over the references of all expressions of the pool and of the bundle, so that nothing an expression reads can differ
between jobs of one autocluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import NoneType
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle, MatchMode
from negotiator.classad import ClassAd, Expr, Side, Table
from negotiator.classad.syntax import Literal, ReferenceScan, scan
from negotiator.hooks.records import Expression

_JOB, _SLOT = Side.MY, Side.TARGET  # seen from the job
_Name: TypeAlias = tuple[Side, str]

#: If an ad has an attribute of such a name, a scope in an expression may mean that attribute instead of an ad.
_SHADOWS = frozenset({"my", "self", "target", "other"})


@attrs.frozen
class Autoclusters:
    """The autoclusters of a table of jobs.

    ``ids`` (N,) has the number of each job's autocluster. ``significant`` has the significant attributes of each
    autocluster, in lower case; None if they cannot be found (``eval``, a plugin that does not declare what it reads):
    such a job is an autocluster of its own.
    """

    ids: NDArray[np.int64]
    significant: tuple[frozenset[str] | None, ...]


def idle_autoclusters(slots: Table, jobs: Table, bundle: Bundle, further: Sequence[str]) -> Autoclusters:
    """Return the autoclusters of jobs that are to be matched.

    :param further: attributes that distinguish jobs without being significant for matching.
    """
    closure = _Closure.over(slots, jobs)
    return _autoclusters(jobs, closure, closure.of_bundle(bundle), further)


def running_autoclusters(slots: Table, jobs: Table, bundle: Bundle) -> Autoclusters:
    """Return the autoclusters of running jobs: only what plugins read of them is significant."""
    closure = _Closure.over(slots, jobs)
    return _autoclusters(jobs, closure, bundle.job_attributes, ())


def _autoclusters(
    jobs: Table, closure: _Closure, common: frozenset[str] | None, further: Sequence[str]
) -> Autoclusters:
    """Group the jobs by their significant attributes, refining a group as long as its own expressions read more.

    The jobs are first grouped by the ``common`` attributes, which are read of every job. Jobs of a group then have the
    same expressions in these, so one of them represents all: if its expressions read further attributes, the group is
    grouped again by these too. A job's own attributes thus never split the jobs of other groups.
    """
    if common is None:
        return Autoclusters(np.arange(len(jobs)), (None,) * len(jobs))
    ids = np.full(len(jobs), -1, np.int64)
    significant: list[frozenset[str] | None] = []
    pending = [(np.arange(len(jobs)), common)]
    while pending:
        rows, known = pending.pop()
        # By columns: Python runs once for each group below, not for each job.
        groups, first = jobs.take(rows).group(sorted(known | set(further)))
        order = np.argsort(groups, kind="stable")
        members_of = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
        for reached, places in zip(closure.of_jobs(jobs, rows[first], known), members_of, strict=True):
            members = rows[places]
            # Unknown reads: jobs that look alike may be treated differently, so each is an autocluster of its own.
            if reached is None:
                ids[members] = np.arange(len(significant), len(significant) + len(members))
                significant += [None] * len(members)
            # The group may differ in the attributes just found: group it again. Each turn adds attributes, so it ends.
            elif len(members) > 1 and not reached <= known:
                pending.append((members, known | reached))
            else:
                ids[members] = len(significant)
                significant.append(known | reached)
    return Autoclusters(ids, tuple(significant))


@attrs.define
class _Closure:
    """Follows references to the job attributes that they can reach.

    ``exact``: no ad has an attribute named like a scope, so that MY and TARGET determine the ad of a name.
    """

    slots: Table
    exact: bool
    requests: frozenset[str]  # the amounts that jobs request
    _known: dict[tuple[object, ...], frozenset[str] | None] = attrs.field(factory=dict)
    _scans: dict[int, tuple[Expr, ReferenceScan]] = attrs.field(factory=dict)

    @classmethod
    def over(cls, slots: Table, jobs: Table) -> _Closure:
        """Return the closure over the attributes that jobs and slots may read of each other."""
        names = jobs.names()
        requests = frozenset(name for name in names if name.startswith("request"))
        return cls(slots, exact=not (_SHADOWS & (slots.names() | names)), requests=requests)

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

    def of_jobs(
        self, jobs: Table, rows: NDArray[np.intp], names: frozenset[str]
    ) -> list[frozenset[str] | None]:
        """Return what ``of_job`` returns for some rows; found once for rows with the same expressions."""
        written = sorted(filter(jobs.has_expressions, names))
        groups, first = jobs.take(rows).group(written)
        found = [self.of_job(jobs.ad(int(rows[each])), names) for each in first]
        return [found[group] for group in groups.tolist()]

    def of_job(self, job: ClassAd, names: frozenset[str]) -> frozenset[str] | None:
        """Return ``names`` and all attributes that a job's expressions in these read; None if they cannot be found."""
        # Jobs of one submission share the trees of their expressions: the closure is computed once for all of them.
        written = sorted(
            (name, expr) for name in names if type(expr := job.folded(name)) not in (Literal, NoneType)
        )
        if not written:
            return names
        key = (names, *[(name, id(expr)) for name, expr in written])  # ids of trees that the table holds
        if key not in self._known:
            self._known[key] = self._follow([(_JOB, name) for name in names], job)
        return self._known[key]

    def _follow(self, pending: list[_Name], job: ClassAd | None) -> frozenset[str] | None:
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
            for found in self._job_scans(job, name) if owner is _JOB else self.slots.scans(name):
                if found.opaque:
                    return None
                pending += _reached(owner, found, exact=self.exact)
        return frozenset(name for side, name in seen if side is _JOB)

    def _job_scans(self, job: ClassAd | None, name: str) -> tuple[ReferenceScan, ...]:
        expr = None if job is None else job.folded(name)
        if expr is None or type(expr) is Literal:
            return ()
        if id(expr) not in self._scans:
            self._scans[id(expr)] = (expr, scan(expr))
        return (self._scans[id(expr)][1],)


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
        yield from ((place, name) for place in (owner, other) for name in _SHADOWS)
