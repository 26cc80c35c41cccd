"""The tree of queues: what each uses, what waits in it, its settings, and what is left of its limits."""

from __future__ import annotations

from typing import Any, Final

from negotiator.app.overview import PoolOverview
from negotiator.queues import ROOT, Queue
from negotiator.queues.names import parent_of
from negotiator.queues.quantities import Resources
from negotiator.service.yunikorn.shapes import percent, present

_NOTHING: Final[Resources] = {}


def queue_tree(overview: PoolOverview, top: Queue, *, subtree: bool = True) -> dict[str, Any]:
    """Return a queue, with all queues below it if ``subtree``."""
    children: dict[str, list[Queue]] = {}
    for queue in overview.contents.queues:
        if queue.path != ROOT:
            children.setdefault(parent_of(queue.path), []).append(queue)

    def entry(queue: Queue) -> dict[str, Any]:
        below = children.get(queue.path, [])
        found = {
            **overview.queue_values.entry(queue, overview.contents.maximum(queue)),
            **_use(queue, overview),
        }
        found |= present({"childNames": [each.path for each in below]})
        if subtree:
            found["children"] = [entry(each) for each in below]
        return found

    return entry(top)


def _use(queue: Queue, overview: PoolOverview) -> dict[str, Any]:
    contents, path = overview.contents, queue.path
    used = contents.used(path)
    return present(
        {
            "pendingResource": dict(contents.pending.get(path, _NOTHING)),
            "allocatedResource": dict(used),
            "headroom": dict(contents.headrooms[path]),
            "absUsedCapacity": percent(contents.maximum(queue), used),
            "runningApps": contents.running_applications(path),
        }
    )
