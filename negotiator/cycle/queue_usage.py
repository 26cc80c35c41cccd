"""The usage of each queue: sums over the jobs in use, independent of the charges of plugins.

Added up by columns: Python loops run over queues and applications, not over jobs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.cycle.numbering import Numbers, combined, first_rows, numbered
from negotiator.cycle.place import PlacedJobs, PlacedPool
from negotiator.cycle.resources import amounts
from negotiator.hooks.records import Cycle
from negotiator.queues.names import parent_of, upwards
from negotiator.queues.quantities import Resources, added

_HALF = 32
_LOW = (1 << _HALF) - 1


@attrs.frozen
class QueueUsage:
    """The usage of one queue and those below it: the amount of each resource, and the number of applications."""

    resources: Resources
    applications: int


def queue_usage(pool: PlacedPool, bundle: Bundle, cycle: Cycle) -> dict[str, QueueUsage]:
    """Return the usage of each queue that is in use, and of those above it, by path.

    A missing or invalid amount of a job counts as 0. Sums are exact, and may exceed the largest possible limit.
    """
    resources: dict[str, Resources] = {}
    running: dict[str, set[str]] = defaultdict(set)
    for placed in pool.in_use:
        for path, used in _sums(placed, bundle, cycle):
            resources[path] = added(resources.get(path, {}), used)
        for path, application in _applications(placed):
            running[path].add(application)
    for entry in pool.unseen:
        resources[entry.queue] = added(resources.get(entry.queue, {}), dict(entry.resources))
        running[entry.queue].add(entry.application)
    return dict(_with_parents(resources, running))


def _sums(placed: PlacedJobs, bundle: Bundle, cycle: Cycle) -> Iterator[tuple[str, Resources]]:
    """Yield the sums of each queue without those below it."""
    queues, count = numbered(placed.queues)
    requested = amounts(placed.jobs, bundle, cycle.environment)
    sums = {name: _added_up(values, queues, count) for name, values in requested.items()}
    for number, row in enumerate(first_rows(queues, count).tolist()):
        yield placed.queues[row], {name: values[number] for name, values in sums.items()}


def _added_up(values: NDArray[np.int64], queues: Numbers, count: int) -> list[int]:
    """Return the sum of each queue: added by halves, since a few jobs may request more than 64 bits hold."""
    high, low = np.zeros(count, np.int64), np.zeros(count, np.int64)
    np.add.at(high, queues, values >> _HALF)
    np.add.at(low, queues, values & _LOW)
    return [(over << _HALF) + rest for over, rest in zip(high.tolist(), low.tolist(), strict=True)]


def _applications(placed: PlacedJobs) -> Iterator[tuple[str, str]]:
    """Yield each application once, with its queue; a job without an application is one by itself."""
    single = placed.applications < 0
    each, count = combined(placed.queues, np.where(single, -1 - np.arange(len(single)), placed.applications))
    rows = first_rows(each, count)
    yield from zip(placed.queues[rows], placed.names(rows), strict=True)


def _with_parents(
    resources: dict[str, Resources], running: Mapping[str, set[str]]
) -> Iterator[tuple[str, QueueUsage]]:
    """Add each queue to the one above it, from the bottom.

    An application that was moved may be in two queues, and counts once above both. Of two sets the smaller is put
    into the larger: so a deep tree costs little more than a flat one.
    """
    every = {each for path in resources for each in upwards(path)}
    waiting = dict(running)
    for path in sorted(every, key=lambda path: -path.count(".")):
        own, above = waiting.pop(path, set()), parent_of(path)
        yield path, QueueUsage(resources.get(path, {}), len(own))
        less, more = sorted((own, waiting.get(above, set())), key=len)
        more |= less
        waiting[above] = more
        resources[above] = added(resources.get(above, {}), resources.get(path, {}))
