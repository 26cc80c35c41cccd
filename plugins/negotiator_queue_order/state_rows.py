"""What the order ``queues`` keeps from cycle to cycle: when it looked for jobs to end, and since when requests wait.

The row ``preemption`` has the time of the last check. A row ``waiting:QUEUE`` has the requests of a leaf queue without QDate and
EnteredCurrentStatus, each with the time of the first cycle that left it without a slot. A schedd sends the attributes in which
the jobs of a request are equal, so these are rarely among them.

Source: YuniKorn's ``CheckPreconditions``: ``preemption.delay`` counts from the time when an ask was created.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Self

import attrs
import numpy as np

from negotiator.plugin import OrderContext, OrderRows, QueuedRequest, Table
from negotiator_queue_order.leaf_jobs import Ints, Numbers
from negotiator_queue_order.settings import QueuePreemption

#: So many requests of a queue are remembered, those that wait longest: a user may submit any number of unlike jobs.
MAX_REQUESTS: Final = 1000
_MAX_NAME: Final = 2000
_PREEMPTION, _CHECKED, _WAITING = "preemption", "checked", "waiting:"


def is_due(context: OrderContext, settings: QueuePreemption) -> bool:
    """True if the interval since the last check is over.

    A last check in the future is ignored: the clock was set back.
    """
    last = context.rows.get(_PREEMPTION, {}).get(_CHECKED, -math.inf)
    return not 0 <= context.cycle.now - last < settings.interval


@attrs.frozen(eq=False)
class _UndatedJobs:
    """Jobs of one autocluster or cluster, without QDate and EnteredCurrentStatus; ``ads`` are their rows in the table of jobs.

    ``name`` identifies them in their ``queue`` from cycle to cycle. They wait since the time ``since``.
    """

    queue: str
    name: str
    since: float
    ads: Ints


@attrs.frozen(eq=False)
class WaitingTimes:
    """Since when the jobs of a cycle wait, (J,) in seconds since the epoch, by row of the table of jobs."""

    since: Numbers
    _undated: Sequence[_UndatedJobs]
    _silent: OrderRows  # the rows of submitters that have idle jobs and offered none

    @classmethod
    def of(cls, context: OrderContext, leaves: Mapping[str, Iterable[QueuedRequest]]) -> Self:
        """Return the times of a cycle.

        A job waits since EnteredCurrentStatus, else since QDate, else since the first cycle that saw its autocluster (without
        one, its cluster) waiting in this queue.

        :param leaves: the requests of each leaf queue, by its path.
        """
        since, now = _known_times(context.jobs), context.cycle.now
        undated: list[_UndatedJobs] = []
        numbers = _numbers(context.jobs)
        for queue, requests in leaves.items() if np.isinf(since).any() else ():
            seen = context.rows.get(_WAITING + queue, {})
            for queued in requests:
                for number, ads in _by_number(numbers, queued.ads[np.isinf(since[queued.ads])]):
                    kind = f"autocluster {number}" if number >= 0 else f"cluster {-1 - number}"
                    name = f"{queued.request.schedd}#{queued.request.submitter}#{kind}"
                    first = min(seen.get(name, now), now)  # the clock may have been set back
                    since[ads] = first
                    undated.append(_UndatedJobs(queue, name, first, ads))
        return cls(since, undated, _rows_of_silent(context))

    def rows_of(self, unserved: Ints) -> OrderRows:
        """Return the rows of jobs that are left without a slot, and of those that could not be offered.

        :param unserved: how many jobs of each ad have no slot, (J,).
        """
        found = {key: dict(row) for key, row in self._silent.items()}
        for each in self._undated:
            if len(each.name) <= _MAX_NAME and unserved[each.ads].any():
                found.setdefault(_WAITING + each.queue, {})[each.name] = each.since
        return {
            key: dict(sorted(row.items(), key=_oldest_first)[:MAX_REQUESTS]) for key, row in found.items()
        }


def rows_after(context: OrderContext, *, checked: bool, waiting: OrderRows) -> OrderRows | None:
    """Return the rows that a cycle leaves, None if they are those with which it began.

    :param checked: it looked for jobs to end.
    :param waiting: the rows of ``WaitingTimes``.
    """
    last = {_PREEMPTION: context.rows[_PREEMPTION]} if _PREEMPTION in context.rows else {}
    rows = {**({_PREEMPTION: {_CHECKED: context.cycle.now}} if checked else last), **waiting}
    return None if rows == context.rows else rows


def check_row(key: str, row: Mapping[str, Any]) -> None:
    """Check a row that an earlier process left.

    :raises ValueError: it is damaged.
    """
    if key == _PREEMPTION:
        if set(row) != {_CHECKED}:
            raise ValueError(f"expected {_CHECKED} alone in the row {_PREEMPTION}")
    elif not key.startswith(_WAITING):
        raise ValueError(f"expected the row {_PREEMPTION} or one that begins with {_WAITING}")
    for name, time in row.items():
        if isinstance(time, bool) or not isinstance(time, int | float) or not math.isfinite(time):
            raise ValueError(f"expected seconds since the epoch as {name[:200]}")


def _known_times(jobs: Table) -> Numbers:
    """Return since when each job waits by its own ad, (J,); infinity if that is unknown."""
    status, submitted = (jobs.numbers(name, default=0.0) for name in ("EnteredCurrentStatus", "QDate"))
    since = np.where(status > 0, status, submitted)
    return np.where(since > 0, since, np.inf)


def _numbers(jobs: Table) -> Numbers:
    """Return the AutoClusterId of each job, (J,); without one -1 - ClusterId."""
    clusters, autoclusters = (jobs.numbers(name, default=-1.0) for name in ("ClusterId", "AutoClusterId"))
    found: Numbers = np.where(autoclusters >= 0, autoclusters, -1.0 - np.maximum(clusters, 0.0))
    return np.nan_to_num(found, nan=-1.0)


def _by_number(numbers: Numbers, rows: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield each of the numbers of some rows with its rows."""
    order = rows[np.argsort(numbers[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-np.inf))
    for part in np.split(order, starts[1:]) if len(order) else ():
        yield int(numbers[part[0]]), part


def _rows_of_silent(context: OrderContext) -> OrderRows:
    """Return the rows of submitters whose ads have idle jobs, and of which this cycle has none: their schedds are slow."""
    if not any(key.startswith(_WAITING) for key in context.rows):
        return {}
    ads = context.submitters
    names, schedds, idle = ads.strings("Name"), ads.strings("ScheddName"), ads.numbers("IdleJobs") > 0
    silent = {
        f"{schedd}#{name}".lower()
        for schedd, name, waits in zip(schedds, names, idle.tolist(), strict=True)
        if waits
    } - {f"{queued.request.schedd}#{queued.request.submitter}" for queued in context.requests}
    found = {
        key: {name: since for name, since in row.items() if name.rpartition("#")[0] in silent}
        for key, row in context.rows.items()
        if key.startswith(_WAITING)
    }
    return {key: row for key, row in found.items() if row}


def _oldest_first(item: tuple[str, float]) -> tuple[float, str]:
    return item[1], item[0]
