"""Groups of jobs that are equal in the attributes that an expression or a plugin reads, found by columns."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np

from negotiator.classad import Ad, Table
from negotiator.cycle.numbering import Numbers, combined
from negotiator.hooks.records import Mask
from negotiator.ledger import Rows

#: Turns of refining a group of jobs by what further expressions read.
_MOST_TURNS = 8
#: Groups of which one job is followed; each job of further ones is by itself: users may write any number of expressions.
_MOST_GROUPS = 256
#: Sets of expressions by which jobs are parted.
_MOST_PARTS = 16


@attrs.define(eq=False)
class AlikeJobs:
    """Groups of the jobs of one table, (R,)."""

    jobs: Table
    _equal: dict[tuple[str, ...], Numbers] = attrs.field(factory=dict, init=False)
    _parts: dict[tuple[str, ...], list[Rows]] = attrs.field(factory=dict, init=False)

    def equal(self, names: tuple[str, ...]) -> Numbers:
        """Return a number for each job: those equal in these attributes as written share it, (R,)."""
        if names not in self._equal:
            self._equal[names] = self.jobs.group(list(names))[0]
        return self._equal[names]

    def with_constants(self, names: tuple[str, ...]) -> Mask:
        """Return which jobs have no expression in these attributes, (R,)."""
        found = np.ones(len(self.jobs), np.bool_)
        for name in names:
            for part in self.jobs.parts(name):
                found[part.rows] = False
        return found

    def parts(self, names: tuple[str, ...]) -> list[Rows]:
        """Return the rows of the jobs that have the same expressions in these attributes, whatever their constants.

        Those without an expression come first. Very many different expressions are left out.
        """
        if names not in self._parts:
            codes = np.zeros(len(self.jobs), np.int64)
            for name in names:
                own = np.zeros(len(self.jobs), np.int64)
                for number, part in enumerate(self.jobs.parts(name), 1):
                    own[part.rows] = number if part.expr is not None else -1
                codes = np.where((codes < 0) | (own < 0), -1, combined(codes, own)[0])
            kinds = np.unique(codes[codes >= 0])[:_MOST_PARTS].tolist()
            self._parts[names] = [np.flatnonzero(codes == kind) for kind in kinds]
        return self._parts[names]

    def refined(
        self, rows: Rows, names: tuple[str, ...], reads: Callable[[Ad], frozenset[str] | None]
    ) -> tuple[Numbers, frozenset[str]]:
        """Return a number for each of some jobs, (K,): those alike in all that is read share it, -1 for one that is alike to none.

        Return also all attributes that are read.

        :param names: what is read of each job.
        :param reads: returns what is read of one job, with what its expressions refer to; None if it may be anything.
        """
        groups, found = np.full(len(rows), -1), set(names)
        looked_at, last, pending = 0, 0, [(np.arange(len(rows)), frozenset[str](), frozenset(names), 0)]
        while pending:
            members, known, more, turn = pending.pop()
            if turn > _MOST_TURNS:
                continue
            if not more <= known:
                known |= more
                own = self.equal(tuple(sorted(known)))[rows[members]]
                distinct, numbers = np.unique(own, return_inverse=True)
                parts = members_of(numbers, len(distinct))
                pending += [(members[part], known, known, turn) for part in parts]
                continue
            looked_at += 1
            if looked_at > _MOST_GROUPS:
                break
            read = reads(self.jobs.ad(int(rows[members[0]])))
            if read is None:
                continue
            found |= read
            if not read <= known:
                pending.append((members, known, read, turn + 1))
                continue
            groups[members], last = last, last + 1
        return groups, frozenset(found)


def members_of(groups: Numbers, count: int) -> list[Rows]:
    """Return the rows of each of ``count`` groups, by its number."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.cumsum(np.bincount(groups, minlength=count))[:-1])
