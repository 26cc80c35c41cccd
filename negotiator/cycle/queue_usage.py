"""The usage of each queue: sums over the jobs in use, independent of the charges of plugins.

Claims that are charged alike are added in one step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from negotiator.hooks.claims_in_use import ClaimsInUse
from negotiator.queues.names import parent_of, upwards
from negotiator.queues.quantities import Resources, added
from negotiator.queues.usage import QueueUsage


def queue_usage(in_use: Iterable[ClaimsInUse]) -> dict[str, QueueUsage]:
    """Return the usage of each queue that is in use, and of those above it, by path.

    Sums are exact, and may exceed the largest possible limit.

    :param in_use: what ``claim_requests`` yields.
    """
    resources: dict[str, Resources] = {}
    running: dict[str, set[str]] = defaultdict(set)
    for claims in in_use:
        request = claims.request
        used = {name: amount * len(claims.slots) for name, amount in request.resources.items()}
        resources[request.queue] = added(resources.get(request.queue, {}), used)
        running[request.queue].update(request.applications)
    return dict(_with_parents(resources, running))


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
