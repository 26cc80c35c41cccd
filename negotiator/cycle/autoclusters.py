"""Autoclusters: jobs that are equal in every attribute that a cycle can read are alike.

Source: HTCondor manual, "autocluster" and ``SIGNIFICANT_ATTRIBUTES``. Here the significant attributes are the closure
over the references of all expressions of the pool and of the bundle, so that nothing an expression reads can differ
between jobs of one autocluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle, MatchMode
from negotiator.classad import ClassAd, Expr, Side, Table
from negotiator.classad.syntax import Literal, ReferenceScan, scan
from negotiator.hooks.declarations import Expression

_JOB, _SLOT = Side.MY, Side.TARGET  # seen from the job
_Name: TypeAlias = tuple[Side, str]
#: The attributes that expressions name; None if they may read any.
_Reads: TypeAlias = tuple[_Name, ...] | None

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
    grouped again by these too, together with all groups that read the same. A job's own attributes thus never split the
    jobs of groups that do not read them.
    """
    if common is None or not len(jobs):
        return Autoclusters(np.arange(len(jobs)), (None,) * len(jobs))
    ids = np.full(len(jobs), -1, np.int64)
    significant: list[frozenset[str] | None] = []
    distinct: dict[frozenset[str], frozenset[str]] = {}  # equal sets are one object
    pending = {common: [np.arange(len(jobs))]}
    while pending:
        known = next(iter(pending))
        rows = np.concatenate(pending.pop(known))
        # By columns: Python runs once for each group below, not for each job.
        groups, first = jobs.take(rows).group(sorted(known | set(further)))
        found = closure.of_jobs(jobs, rows[first], known)
        for members, (reached, is_own) in zip(_members(rows, groups), found, strict=True):
            # Unknown reads: jobs that look alike may be treated differently, so each is an autocluster of its own.
            if reached is None:
                ids[members] = np.arange(len(significant), len(significant) + len(members))
                significant += [None] * len(members)
            # The jobs may differ in the attributes just found: group them again. Each turn adds attributes, so it ends.
            elif not reached <= known and not (is_own and len(members) == 1):
                pending.setdefault(known | reached, []).append(members)
            else:
                ids[members] = len(significant)
                significant.append(distinct.setdefault(known | reached, known | reached))
    return Autoclusters(ids, tuple(significant))


def _members(rows: NDArray[np.intp], groups: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """Return the rows of each group, by its number."""
    order = np.argsort(groups, kind="stable")
    return np.split(rows[order], np.flatnonzero(np.diff(groups[order])) + 1)


@attrs.define
class _Closure:
    """Follows references to the job attributes that they can reach.

    ``exact``: no ad has an attribute named like a scope, so that MY and TARGET determine the ad of a name.
    """

    slots: Table
    exact: bool
    requests: frozenset[str]  # the amounts that jobs request
    _job_reads: dict[int, tuple[Expr, _Reads]] = attrs.field(factory=dict)  # by id of the expression
    _slot_reads: dict[str, _Reads] = attrs.field(factory=dict)  # by name

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
    ) -> list[tuple[frozenset[str] | None, bool]]:
        """Return, for each row, ``names`` and all attributes that expressions in these read; None if they cannot be found.

        They are found once for rows with the same expressions, of the first one: True with it. Expressions that these
        refer to may be others in other rows.
        """
        written = sorted(filter(jobs.has_expressions, names))
        groups, first = jobs.take(rows).group(written)
        found = [self._of_job(jobs.ad(row), written) for row in rows[first].tolist()]
        reached = [None if each is None else names | each for each in found]
        is_first = np.zeros(len(rows), np.bool_)
        is_first[first] = True
        return [(reached[group], own) for group, own in zip(groups.tolist(), is_first.tolist(), strict=True)]

    def _of_job(self, job: ClassAd, names: Sequence[str]) -> frozenset[str] | None:
        return self._follow([(_JOB, name) for name in names], job)

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
            reads = self._of_slots(name) if owner is _SLOT else self._of_expression(job, name)
            if reads is None:
                return None
            pending += reads
        return frozenset(name for side, name in seen if side is _JOB)

    def _of_expression(self, job: ClassAd | None, name: str) -> _Reads:
        """Return what the expression of an attribute of a job reads."""
        expr = None if job is None else job.folded(name)
        if expr is None or type(expr) is Literal:
            return ()
        if id(expr) not in self._job_reads:  # the entry holds the tree, so that its id stays its own
            self._job_reads[id(expr)] = expr, self._reads(_JOB, (scan(expr),))
        return self._job_reads[id(expr)][1]

    def _of_slots(self, name: str) -> _Reads:
        """Return what the expressions of an attribute of slots read."""
        if name not in self._slot_reads:
            self._slot_reads[name] = self._reads(_SLOT, self.slots.scans(name))
        return self._slot_reads[name]

    def _reads(self, owner: Side, scans: Sequence[ReferenceScan]) -> _Reads:
        if any(found.opaque for found in scans):
            return None
        return tuple({name for found in scans for name in _reached(owner, found, exact=self.exact)})


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
