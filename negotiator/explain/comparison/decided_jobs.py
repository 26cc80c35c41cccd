"""The jobs of two decisions of a cycle as columns, and which rows are the same job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Self, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.cycle.decisions import CycleDecisions

Places = NDArray[np.int64]
#: How many matches an ad has, by schedd and id.
MatchesOfAds: TypeAlias = Mapping[tuple[str, str], int]


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
