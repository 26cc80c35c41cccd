"""Facts of an overview: every limit with what is used of it, the fullest first.

Limits of users and groups, maxima of queues, and concurrency limits. Those of resource quota sets are texts in Grid Engine's
units: see ``negotiator qquota``.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from negotiator.app.overview import PoolOverview
from negotiator.app.usage import entry_name
from negotiator.queues.quantities import Resources

#: The resource of a limit of running applications.
APPLICATIONS: Final = "applications"


class LimitKind(enum.StrEnum):
    """What a limit is for."""

    USER = "user"
    GROUP = "group"
    QUEUE = "queue"
    CONCURRENCY = "concurrency"


@attrs.frozen
class LimitUse:
    """A limit and what is used of it.

    ``name`` is the user, the group or the concurrency limit; empty for the maximum of a queue. ``queue`` is empty for a concurrency
    limit. ``resource`` is ``applications`` for running applications. Amounts are in the units of queues.yaml.
    """

    kind: LimitKind
    name: str
    queue: str
    resource: str
    used: float
    limit: float

    @property
    def share(self) -> float:
        """How much of the limit is used, 1.0 for all of it; infinite if something is used of nothing."""
        return share_of(self.used, self.limit)


def share_of(used: float, most: float) -> float:
    """Return how much of an amount is used, 1.0 for all of it; infinite if something is used of nothing."""
    if most:
        return used / most
    return math.inf if used else 0.0


def limit_uses(overview: PoolOverview) -> list[LimitUse]:
    """Return all limits, the fullest first."""
    found = [
        *_of_subjects(overview.users, LimitKind.USER),
        *_of_subjects(overview.groups, LimitKind.GROUP),
        *_of_queues(overview),
        *_of_concurrency(overview.concurrency),
    ]
    found.sort(key=lambda each: (-each.share, each.kind, each.name, each.queue, each.resource))
    return found


def subject_queues(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the queues of an entry, the root first; entries are of plugins, so that any value may be missing."""
    waiting = [entry.get("queues")]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping):
            yield each
            waiting += reversed(each.get("children") or ())


def amounts_of(value: Any) -> Resources:
    """Return the amounts of an entry; values that are none are left out."""
    if not isinstance(value, Mapping):
        return {}
    return {str(name): amount for name, amount in value.items() if isinstance(amount, int)}


def running_of(node: Mapping[str, Any]) -> int:
    """Return how many applications run in a queue of an entry."""
    return len(node.get("runningApplications") or ())


def _of_subjects(entries: Sequence[Mapping[str, Any]], kind: LimitKind) -> Iterator[LimitUse]:
    for entry in entries:
        name = entry_name(entry)
        for node in subject_queues(entry):
            queue, used = str(node.get("queuePath", "")), amounts_of(node.get("resourceUsage"))
            for resource, most in amounts_of(node.get("maxResources")).items():
                yield LimitUse(kind, name, queue, resource, used.get(resource, 0), most)
            most_applications = node.get("maxApplications")
            if isinstance(most_applications, int) and most_applications:
                yield LimitUse(kind, name, queue, APPLICATIONS, running_of(node), most_applications)


def _of_queues(overview: PoolOverview) -> Iterator[LimitUse]:
    contents = overview.contents
    for queue in contents.queues:
        used = contents.used(queue.path)
        for resource, most in queue.config.max.items():
            yield LimitUse(LimitKind.QUEUE, "", queue.path, resource, used.get(resource, 0), most)
        if queue.config.applications:
            running = contents.running_applications(queue.path)
            yield LimitUse(LimitKind.QUEUE, "", queue.path, APPLICATIONS, running, queue.config.applications)


def _of_concurrency(entries: Sequence[Mapping[str, Any]]) -> Iterator[LimitUse]:
    for entry in entries:
        used, most = entry.get("used"), entry.get("maximum")
        if isinstance(used, int | float) and isinstance(most, int | float):
            name = entry_name(entry)
            yield LimitUse(LimitKind.CONCURRENCY, name, "", name, used, most)
