"""The tree of queues: what each uses, what waits in it, its limits, and what is left of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from negotiator.app.overview import PoolContents
from negotiator.queues import ROOT, Queue
from negotiator.queues.model import ChildTemplate
from negotiator.queues.names import parent_of
from negotiator.queues.quantities import Resources
from negotiator.service.yunikorn.shapes import percent, present

_NOTHING: Final[Resources] = {}
_SORTING: Final = "application.sort.policy"
_PRIORITY_SORTING: Final = "application.sort.priority"
_PREEMPTION: Final = "preemption.policy"
_PRIORITY: Final = "priority.policy"


def queue_tree(
    contents: PoolContents, partition: str, top: str = ROOT, *, subtree: bool = True
) -> dict[str, Any]:
    """Return a queue, with all queues below it if ``subtree``.

    :param top: the path of a queue that exists.
    """
    children: dict[str, list[Queue]] = {}
    for queue in contents.queues:
        if queue.path != ROOT:
            children.setdefault(parent_of(queue.path), []).append(queue)
    room = headrooms(contents)

    def entry(queue: Queue) -> dict[str, Any]:
        below = children.get(queue.path, [])
        found = _queue(queue, contents, partition, room[queue.path])
        found |= present({"childNames": [each.path for each in below]})
        if subtree:
            found["children"] = [entry(each) for each in below]
        return found

    found = contents.queues.get(top)
    assert found is not None, top  # noqa: S101 - see the parameter
    return entry(found)


def _queue(queue: Queue, contents: PoolContents, partition: str, headroom: Resources) -> dict[str, Any]:
    config, path = queue.config, queue.path
    usage = contents.usage.get(path)
    used = dict(usage.resources) if usage else {}
    most = maximum(queue, contents)
    properties = dict(config.properties)
    preemption = properties.get(_PREEMPTION, "default").lower()
    optional = {
        "status": str(queue.state),
        "pendingResource": dict(contents.pending.get(path, _NOTHING)),
        "maxResource": dict(most),
        "guaranteedResource": dict(config.guaranteed),
        "allocatedResource": used,
        "headroom": dict(headroom),
        "properties": properties,
        "parent": parent_of(path) if path != ROOT else "",
        "template": _template(config.template),
        "absUsedCapacity": percent(most, used),
        "maxRunningApps": config.applications,
        "runningApps": usage.applications if usage else 0,
        "sortingPolicy": properties.get(_SORTING, "fifo") if queue.leaf else "fair",
    }
    return {
        "queuename": path,
        "partition": partition,
        "isLeaf": queue.leaf,
        "isManaged": queue.managed,
        "currentPriority": 0,
        "prioritySorting": properties.get(_PRIORITY_SORTING, "enabled").lower() != "disabled",
        "preemptionEnabled": preemption != "disabled",
        "isPreemptionFence": preemption == "fence",
        "isPriorityFence": properties.get(_PRIORITY, "default").lower() == "fence",
        **present(optional),
    }


def maximum(queue: Queue, contents: PoolContents) -> Resources:
    """Return the maximum of a queue; that of the root queue is what the pool has."""
    return contents.capacity if queue.path == ROOT else queue.config.max


def headrooms(contents: PoolContents) -> dict[str, Resources]:
    """Return what is left of the maxima of each queue and all above it, by path.

    Every queue comes after its parent.
    """
    found: dict[str, Resources] = {}
    for queue in contents.queues:
        usage = contents.usage.get(queue.path)
        used = usage.resources if usage else _NOTHING
        own = {name: amount - used.get(name, 0) for name, amount in maximum(queue, contents).items()}
        above = found.get(parent_of(queue.path), _NOTHING) if queue.path != ROOT else _NOTHING
        found[queue.path] = _least(above, own)
    return found


def _least(one: Resources, other: Resources) -> Resources:
    """Return the lower amount of each resource that either has."""
    return {
        name: min(each[name] for each in (one, other) if name in each)
        for name in dict.fromkeys((*one, *other))
    }


def _template(template: ChildTemplate | None) -> Mapping[str, Any]:
    if template is None:
        return {}
    return present(
        {
            "maxApplications": template.applications,
            "maxResource": dict(template.max),
            "guaranteedResource": dict(template.guaranteed),
            "properties": dict(template.properties),
        }
    )
