"""Compares two decisions of one cycle, job by job, as columns.

Jobs of one request before and one after that changed alike are counted together: no Python runs for each job.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, Self, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.cycle.decisions import CycleDecisions, DecidedRequest, RuleReason
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

Places = NDArray[np.int64]
#: How many matches an ad has, by schedd and id.
MatchesOfAds: TypeAlias = Mapping[tuple[str, str], int]
#: The outcomes of a job.
_WAITS, _SAME, _GAINED, _LOST, _MOVED = range(5)
_KINDS: Final = {_GAINED: ChangeKind.GAINED, _LOST: ChangeKind.LOST, _MOVED: ChangeKind.MOVED}
_NONE: Final = DecidedRequest("")


@attrs.frozen(eq=False)
class NameCodes:
    """Numbers of names, in the order in which they were met."""

    codes: dict[str, int] = attrs.field(factory=dict)

    def of(self, name: str) -> int:
        """Return the number of a name."""
        return self.codes.setdefault(name, len(self.codes))

    @cached_property
    def names(self) -> list[str]:
        """The names by their numbers, once all are known."""
        return list(self.codes)


@attrs.frozen(eq=False)
class DecidedJobs:
    """The jobs of one decision, (N,).

    ``keys`` (N, 4) are schedd, cluster, proc, and a number for each job that one ad stands for. ``requests`` are places in
    ``CycleDecisions.requests``, ``slots`` the codes of slots, -1 for none. ``counts`` are 1, but that the jobs of one ad which get no slot in
    either decision have one row.
    """

    keys: Places
    requests: Places
    slots: Places
    counts: Places

    @classmethod
    def of(
        cls, decisions: CycleDecisions, schedds: NameCodes, slots: NameCodes, matches: MatchesOfAds
    ) -> Self:
        """Return the jobs of decisions.

        :param matches: the most matches that each ad has in one of the two decisions.
        """
        rows: list[tuple[int, ...]] = []
        ranges: list[Places] = []
        seen: Counter[tuple[int, str]] = Counter()

        def add(schedd: int, job: str, place: int, slot: int, count: int = 1) -> None:
            cluster, _, proc = job.partition(".")
            rows.append((schedd, int(cluster), int(proc), seen[schedd, job], place, slot, count))
            seen[schedd, job] += 1

        for place, request in enumerate(decisions.requests):
            schedd = schedds.of(request.schedd)
            for job, slot in request.matches:
                add(schedd, job, place, slots.of(slot))
            for job, count in request.copies:
                single = min(count, max(0, matches.get((request.schedd, job), 0) - seen[schedd, job]))
                for _ in range(single):
                    add(schedd, job, place, -1)
                if count > single:
                    add(schedd, job, place, -1, count - single)
            if len(request.left):
                bounds = request.left.bounds
                ranges.append(np.column_stack((np.full((len(bounds), 2), (schedd, place)), bounds)))
        left = _expanded(np.concatenate(ranges) if ranges else np.zeros((0, 5), np.int64))
        columns = np.concatenate((np.array(rows, np.int64).reshape(-1, 7), left))
        return cls(columns[:, :4], *columns[:, 4:].T)

    def __len__(self) -> int:
        return len(self.keys)


def most_matches(*decisions: CycleDecisions) -> MatchesOfAds:
    """Return the most matches that each ad has in one of the decisions."""
    own = [
        Counter((each.schedd, job) for each in one.requests for job, _ in each.matches) for one in decisions
    ]
    most: Counter[tuple[str, str]] = Counter()
    for each in own:
        most |= each
    return most


def _expanded(ranges: Places) -> Places:
    """Return a row for each job of ranges (schedd, request, cluster, first and last proc)."""
    lengths = ranges[:, 4] - ranges[:, 3] + 1
    each = np.repeat(np.arange(len(ranges)), lengths)
    starts = np.concatenate(([0], np.cumsum(lengths)))[:-1]
    procs = ranges[each, 3] + np.arange(len(each)) - starts[each]
    zeros, ones = np.zeros(len(each), np.int64), np.ones(len(each), np.int64)
    return np.column_stack((ranges[each, 0], ranges[each, 2], procs, zeros, ranges[each, 1], -ones, ones))


def paired(before: DecidedJobs, after: DecidedJobs) -> tuple[Places, Places]:
    """Return the rows of each job in both, (J,) each, in the order of the keys; -1 where it is missing."""
    keys = np.concatenate((before.keys, after.keys))
    order = np.lexsort(keys.T[::-1])
    ordered = keys[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    job = np.cumsum(is_new) - 1
    found = np.full((2, int(is_new.sum())), -1, np.int64)
    of_after = order >= len(before)
    found[0, job[~of_after]] = order[~of_after]
    found[1, job[of_after]] = order[of_after] - len(before)
    return found[0], found[1]


def taken(values: Places, rows: Places, missing: int = -1) -> Places:
    """Return the values of rows, and another one for row -1."""
    return np.append(values, missing)[rows]


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
