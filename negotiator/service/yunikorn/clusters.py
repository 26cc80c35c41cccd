"""``clusters``, ``partitions``, nodes and the health check in YuniKorn's shapes: the pool as a whole, and the machines of its slots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from negotiator import __version__
from negotiator.app.overview import HostContents, PoolOverview
from negotiator.queues import ROOT
from negotiator.service.health import HealthCheck
from negotiator.service.yunikorn.queues import allocations
from negotiator.service.yunikorn.shapes import CLUSTER, nanoseconds, percent, present

_BUCKETS: Final = 10
_REJECTED: Final = "Rejected"


def nodes(hosts: Iterable[HostContents], partition: str) -> list[dict[str, Any]]:
    """Return machines with their allocations."""
    return [node(host, partition) for host in hosts]


def node(host: HostContents, partition: str) -> dict[str, Any]:
    """Return a machine with its allocations."""
    left = {name: amount - host.used.get(name, 0) for name, amount in host.capacity.items()}
    entry = {
        "hostName": host.name,
        "attributes": {"slots": str(host.slots)},
        "capacity": dict(host.capacity),
        "allocated": dict(host.used),
        "available": left,
        "utilized": percent(host.capacity, host.used),
        "allocations": allocations(host.running, partition),
    }
    return {
        "nodeID": host.name,
        **present(entry),
        "partition": partition,
        "schedulable": True,
        "isReserved": False,
    }


def node_utilizations(hosts: Iterable[HostContents], partition: str) -> list[dict[str, Any]]:
    """Return, for each resource, the machines by tenths of what is used of it."""
    buckets: dict[str, list[list[str]]] = {}
    for host in hosts:
        used = percent(host.capacity, host.used)
        for name in host.capacity:
            place = min(max(-(-used.get(name, 0) // _BUCKETS) - 1, 0), _BUCKETS - 1)
            buckets.setdefault(name, [[] for _ in range(_BUCKETS)])[place].append(host.name)
    found = [
        {"type": name, "utilization": [_bucket(place, names) for place, names in enumerate(tenths)]}
        for name, tenths in sorted(buckets.items())
    ]
    return [present({"clusterId": CLUSTER, "partition": partition, "utilizations": found})]


def _bucket(place: int, names: list[str]) -> dict[str, Any]:
    return present(
        {
            "bucketName": f"{place * _BUCKETS}-{(place + 1) * _BUCKETS}%",
            "numOfNodes": len(names),
            "nodeNames": names,
        }
    )


def health(checks: Iterable[HealthCheck]) -> dict[str, Any]:
    """Return all checks, and whether all are passed."""
    entries = [_entry(check) for check in checks]
    return {"Healthy": all(each["Succeeded"] for each in entries), "HealthChecks": entries}


def _entry(check: HealthCheck) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "Name": check.name,
        "Succeeded": check.is_passed,
        "Description": check.description,
    }
    return entry if check.is_passed else {**entry, "DiagnosisMessage": check.fault}


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
