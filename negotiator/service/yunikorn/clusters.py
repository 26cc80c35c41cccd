"""``clusters`` and ``partitions``: the pool as a whole."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from negotiator import __version__
from negotiator.app.overview import PoolOverview
from negotiator.queues import ROOT
from negotiator.service.yunikorn.shapes import CLUSTER, nanoseconds, percent, present

_REJECTED: Final = "Rejected"


def clusters(overview: PoolOverview, started: float) -> list[dict[str, Any]]:
    """Return the one cluster.

    :param started: when the service began, in seconds since the epoch.
    """
    build = {"buildVersion": __version__, "rmId": CLUSTER}
    return [
        {
            "startTime": nanoseconds(started),
            "rmBuildInformation": [build],
            "partition": overview.bundle.partition.name,
            "clusterName": CLUSTER,
        }
    ]


def partitions(overview: PoolOverview, started: float) -> list[dict[str, Any]]:
    """Return the one partition, with its applications counted by state.

    :param started: when the service began, in seconds since the epoch.
    """
    contents, partition = overview.contents, overview.bundle.partition
    states = Counter(each.state for each in contents.applications)
    states[_REJECTED] += contents.rejected
    total = states.total()
    used = dict(contents.used(ROOT))
    sort = partition.node_sort
    entry = {
        "clusterId": CLUSTER,
        "name": partition.name,
        "capacity": present(
            {
                "capacity": dict(contents.capacity),
                "usedCapacity": used,
                "utilization": percent(contents.capacity, used),
            }
        ),
        "nodeSortingPolicy": present({"type": str(sort.kind), "resourceWeights": dict(sort.weights)}),
        "preemptionEnabled": overview.queue_values.preempts,
        "quotaPreemptionEnabled": False,
        "totalNodes": len(contents.hosts),
        "totalContainers": contents.running_jobs,
        "state": "Active",
        "lastStateTransitionTime": nanoseconds(started),
    }
    return [{**present(entry), "applications": {**+states, "total": total}}]
