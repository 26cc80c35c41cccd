"""Compares two decisions of one cycle, job by job.

Jobs of one request before and one after that changed alike are counted together: no Python runs for each job.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import attrs
import numpy as np

from negotiator.cycle.decisions import CycleDecisions, DecidedRequest, RuleReason
from negotiator.explain.comparison.decided_jobs import (
    DecidedJobs,
    NameCodes,
    Places,
    most_matches,
    paired,
    taken,
)
from negotiator.explain.comparison.report import (
    ChangedJob,
    ChangeKind,
    CycleComparison,
    MatchChanges,
    RuleChanges,
    ShareChange,
    ShareSums,
    merged,
)
from negotiator.hooks.order import ShareUse
from negotiator.records import CORE

#: The outcomes of a job.
_WAITS, _SAME, _GAINED, _LOST, _MOVED = range(5)
_KINDS: Final = {_GAINED: ChangeKind.GAINED, _LOST: ChangeKind.LOST, _MOVED: ChangeKind.MOVED}
_NONE: Final = DecidedRequest("")


def compare(
    before: CycleDecisions, after: CycleDecisions, number: int = 0, most_jobs: int = 0
) -> CycleComparison:
    """Return what differs between two decisions of a cycle.

    :param number: of the cycle.
    :param most_jobs: how many changed jobs are named.
    """
    return _PairedJobs.of(before, after).comparison(number, most_jobs)


@attrs.frozen(eq=False)
class _PairedJobs:
    """The jobs of both decisions, side by side, (J,): the places of their requests (-1 if they take no part), their outcomes and numbers."""

    before: CycleDecisions
    after: CycleDecisions
    jobs: tuple[DecidedJobs, DecidedJobs]
    rows: tuple[Places, Places]
    requests: tuple[Places, Places]
    outcomes: Places
    counts: Places
    schedds: NameCodes
    slots: NameCodes

    @classmethod
    def of(cls, before: CycleDecisions, after: CycleDecisions) -> _PairedJobs:
        schedds, slots = NameCodes(), NameCodes()
        most = most_matches(before, after)
        jobs = DecidedJobs.of(before, schedds, slots, most), DecidedJobs.of(after, schedds, slots, most)
        rows = paired(*jobs)
        requests = taken(jobs[0].requests, rows[0]), taken(jobs[1].requests, rows[1])
        old, new = taken(jobs[0].slots, rows[0]), taken(jobs[1].slots, rows[1])
        had, has = old >= 0, new >= 0
        outcomes = np.select(
            [had & has & (old == new), had & has, had, has], [_SAME, _MOVED, _LOST, _GAINED], _WAITS
        )
        counts = np.maximum(taken(jobs[0].counts, rows[0], 0), taken(jobs[1].counts, rows[1], 0))
        return cls(before, after, jobs, rows, requests, outcomes, counts, schedds, slots)

    def comparison(self, number: int, most_jobs: int) -> CycleComparison:
        """Return the sums, and the first changed jobs."""
        sizes = len(self.before.requests) + 1, len(self.after.requests) + 1
        packed = (self.outcomes * sizes[0] + self.requests[0] + 1) * sizes[1] + self.requests[1] + 1
        _, first, groups = np.unique(packed, return_index=True, return_inverse=True)
        counts = np.bincount(groups, self.counts, len(first)).astype(np.int64)
        parts = []
        changed: dict[int, ChangeKind] = {}  # by group
        for group, (row, count) in enumerate(zip(first.tolist(), counts.tolist(), strict=True)):
            outcome, (was, now) = int(self.outcomes[row]), self._requests(row)
            kind = _kind(outcome, was, now)
            if kind:
                changed[group] = kind
            if kind or outcome == _SAME:
                parts.append(_part(kind, was, now, count))
        total = merged(parts)
        rows = np.flatnonzero(np.isin(groups, list(changed)))[:most_jobs].tolist()
        jobs = tuple(self._named(row, changed[int(groups[row])], number) for row in rows)
        return attrs.evolve(
            total,
            cycles=1,
            shares=tuple(_shares(self.before.shares, self.after.shares)),
            jobs=jobs,
            jobs_left_out=total.total.changed - int(self.counts[rows].sum()),
            failures=(self.before.failures, self.after.failures),
            stops=(self.before.stops, self.after.stops),
        )

    def _named(self, row: int, kind: ChangeKind, number: int) -> ChangedJob:
        """Return a changed job."""
        was, now = self._requests(row)
        side = 1 if self.rows[1][row] >= 0 else 0
        schedd, cluster, proc, _ = self.jobs[side].keys[self.rows[side][row]].tolist()
        before, after = self._slot(0, row), self._slot(1, row)
        return ChangedJob(
            cycle=number,
            kind=kind,
            schedd=self.schedds.names[schedd],
            job=f"{cluster}.{proc}",
            user=now.user or was.user,
            queue=now.queue or was.queue,
            before=before,
            after=after,
            denied=None if before else was.decisive,
            denies=None if after else now.decisive,
        )

    def _slot(self, side: int, row: int) -> str:
        place = int(self.rows[side][row])
        code = int(self.jobs[side].slots[place]) if place >= 0 else -1
        return self.slots.names[code] if code >= 0 else ""

    def _requests(self, row: int) -> tuple[DecidedRequest, DecidedRequest]:
        """Return the requests of a job before and after."""
        old, new = int(self.requests[0][row]), int(self.requests[1][row])
        was = self.before.requests[old] if old >= 0 else _NONE
        return was, self.after.requests[new] if new >= 0 else _NONE


def _kind(outcome: int, was: DecidedRequest, now: DecidedRequest) -> ChangeKind | None:
    """Return the change of jobs; None if there is none."""
    if outcome != _WAITS:
        return _KINDS.get(outcome)
    identities = [None if each.decisive is None else each.decisive.identity for each in (was, now)]
    return ChangeKind.REASON if identities[0] != identities[1] else None


def _part(kind: ChangeKind | None, was: DecidedRequest, now: DecidedRequest, count: int) -> CycleComparison:
    """Return the sums of jobs that changed alike."""
    had = kind not in {ChangeKind.GAINED, ChangeKind.REASON}
    changes = MatchChanges(before=count if had else 0, **({str(kind): count} if kind else {}))
    return CycleComparison(
        users={now.user or was.user: changes},
        queues={now.queue or was.queue: changes},
        rules=tuple(_rules(kind, was, now, count)),
    )


def _rules(
    kind: ChangeKind | None, was: DecidedRequest, now: DecidedRequest, count: int
) -> Iterator[RuleChanges]:
    """Yield the rules that the change of jobs counts for."""
    match kind:
        case ChangeKind.LOST:
            yield RuleChanges(_cause(now, was), lost=count)
        case ChangeKind.GAINED:
            yield RuleChanges(_cause(was, now), gained=count)
        case ChangeKind.REASON:
            yield RuleChanges(now.decisive, denies=count)
            yield RuleChanges(was.decisive, denied=count)


def _cause(denied: DecidedRequest, other: DecidedRequest) -> RuleReason | None:
    """Return the rule to which it is due that jobs were denied in one of the two decisions only.

    A rule of a policy that took candidates only there comes before the core's reasons: that other slots are taken is seldom the cause.
    """
    if denied.decisive is None or denied.decisive.plugin != CORE:
        return denied.decisive
    known = {each.identity for each in other.policies}
    return next((each for each in reversed(denied.policies) if each.identity not in known), denied.decisive)


def _shares(before: Iterable[ShareUse], after: Iterable[ShareUse]) -> Iterator[ShareChange]:
    """Yield the shares of each holder, in the order of their turns."""
    own = [{(each.holder, each.unit): _sums(each) for each in uses} for uses in (before, after)]
    for holder, unit in dict.fromkeys((*own[0], *own[1])):
        key = holder, unit
        yield ShareChange(holder, unit, own[0].get(key, ShareSums()), own[1].get(key, ShareSums()))


def _sums(use: ShareUse) -> ShareSums:
    return ShareSums(use.entitled, use.used, use.granted)
