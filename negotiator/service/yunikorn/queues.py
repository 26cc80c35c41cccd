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


def queue_tree(contents: PoolContents, partition: str, top: Queue, *, subtree: bool = True) -> dict[str, Any]:
    """Return a queue, with all queues below it if ``subtree``."""
    children: dict[str, list[Queue]] = {}
    for queue in contents.queues:
        if queue.path != ROOT:
            children.setdefault(parent_of(queue.path), []).append(queue)

    def entry(queue: Queue) -> dict[str, Any]:
        below = children.get(queue.path, [])
        found = _queue(queue, contents, partition)
        found |= present({"childNames": [each.path for each in below]})
        if subtree:
            found["children"] = [entry(each) for each in below]
        return found

    return entry(top)


def _queue(queue: Queue, contents: PoolContents, partition: str) -> dict[str, Any]:
    config, path = queue.config, queue.path
    used, most = contents.used(path), contents.maximum(queue)
    properties = dict(config.properties)
    preemption = properties.get(_PREEMPTION, "default").lower()
    optional = {
        "status": str(queue.state),
        "pendingResource": dict(contents.pending.get(path, _NOTHING)),
        "maxResource": dict(most),
        "guaranteedResource": dict(config.guaranteed),
        "allocatedResource": dict(used),
        "headroom": dict(contents.headrooms[path]),
        "properties": properties,
        "parent": parent_of(path) if path != ROOT else "",
        "template": _template(config.template),
        "absUsedCapacity": percent(most, used),
        "maxRunningApps": config.applications,
        "runningApps": contents.running_applications(path),
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
