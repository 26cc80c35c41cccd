"""Queues in the form of YuniKorn's REST interface.

Source: YuniKorn, "Scheduler" (REST API), Partition queues. Amounts are raw integers: memory and the like in bytes, vcore in
thousandths. A key is missing if its value is zero or empty, except for those that YuniKorn always writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from negotiator.cli.queue_tables import Applications, Usages
from negotiator.queues import Queue, QueueTree
from negotiator.queues.model import ChildTemplate
from negotiator.queues.names import parent_of
from negotiator.queues.usage import QueueUsage


def tree_json(
    queues: QueueTree, top: str, partition: str, applications: Applications, usage: Usages | None = None
) -> dict[str, Any]:
    """Return the tree below a queue in the form of YuniKorn's REST interface, children in the order of their names.

    Preemption and priority order are not supported: the keys that YuniKorn always writes for them show that.
    ``runningApps`` counts the applications that use something, if the usage is known; otherwise all in the queue,
    whether or not one of their jobs runs.
    """
    if usage is not None:
        applications = {path: used.applications for path, used in usage.items()}
    entries: dict[str, dict[str, Any]] = {}
    for queue in queues:
        entries[queue.path] = _queue_json(queue, partition, applications, (usage or {}).get(queue.path))
        above = entries.get(parent_of(queue.path))
        if above is not None:
            above.setdefault("childNames", []).append(queue.path)
            above.setdefault("children", []).append(entries[queue.path])
    return entries[top]


def _queue_json(
    queue: Queue, partition: str, applications: Applications, used: QueueUsage | None
) -> dict[str, Any]:
    config = queue.config
    optional = {
        "status": str(queue.state),
        "maxResource": dict(config.max),
        "guaranteedResource": dict(config.guaranteed),
        "allocatedResource": _filled(used.resources) if used else {},
        "properties": dict(config.properties),
        "parent": parent_of(queue.path),
        "template": _template_json(config.template) if config.template else {},
        "maxRunningApps": config.applications,
        "runningApps": applications.get(queue.path, 0) if applications else 0,
    }
    return {
        "queuename": queue.path,
        "partition": partition,
        "isLeaf": queue.leaf,
        "isManaged": queue.managed,
        "currentPriority": 0,
        "prioritySorting": False,
        "preemptionEnabled": False,
        "isPreemptionFence": False,
        "isPriorityFence": False,
        **_filled(optional),
    }


def _template_json(template: ChildTemplate) -> dict[str, Any]:
    return _filled(
        {
            "maxApplications": template.applications,
            "maxResource": dict(template.max),
            "guaranteedResource": dict(template.guaranteed),
            "properties": dict(template.properties),
        }
    )


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value}
