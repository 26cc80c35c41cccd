"""The jobs of two decisions of a cycle as columns, and which rows are the same job."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.cycle.decisions import CycleDecisions

Places = NDArray[np.int64]


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
    ``CycleDecisions.requests``, ``slots`` the codes of slots, -1 for none.
    """

    keys: Places
    requests: Places
    slots: Places

    @classmethod
    def of(cls, decisions: CycleDecisions, schedds: NameCodes, slots: NameCodes) -> Self:
        """Return the jobs of decisions."""
        rows: list[tuple[int, ...]] = []
        ranges: list[Places] = []
        seen: Counter[tuple[int, int, int]] = Counter()
        for place, request in enumerate(decisions.requests):
            schedd = schedds.of(request.schedd)
            given = [(job, slots.of(slot)) for job, slot in request.matches]
            given += [(job, -1) for job, count in request.copies for _ in range(count)]
            for job, slot in given:
                cluster, _, proc = job.partition(".")
                key = schedd, int(cluster), int(proc)
                rows.append((*key, seen[key], place, slot))
                seen[key] += 1
            if len(request.left):
                bounds = request.left.bounds
                ranges.append(np.column_stack((np.full((len(bounds), 2), (schedd, place)), bounds)))
        left = _expanded(np.concatenate(ranges) if ranges else np.zeros((0, 5), np.int64))
        columns = np.concatenate((np.array(rows, np.int64).reshape(-1, 6), left))
        return cls(columns[:, :4], columns[:, 4], columns[:, 5])

    def __len__(self) -> int:
        return len(self.keys)


def _expanded(ranges: Places) -> Places:
    """Return a row for each job of ranges (schedd, request, cluster, first and last proc)."""
    lengths = ranges[:, 4] - ranges[:, 3] + 1
    each = np.repeat(np.arange(len(ranges)), lengths)
    starts = np.concatenate(([0], np.cumsum(lengths)))[:-1]
    procs = ranges[each, 3] + np.arange(len(each)) - starts[each]
    zeros, none = np.zeros(len(each), np.int64), np.full(len(each), -1)
    return np.column_stack((ranges[each, 0], ranges[each, 2], procs, zeros, ranges[each, 1], none))


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


def taken(values: Places, rows: Places) -> Places:
    """Return the values of rows, -1 for row -1."""
    return np.append(values, -1)[rows]
