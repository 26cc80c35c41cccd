"""Nodes are the machines of the slots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from negotiator.app.overview import HostContents
from negotiator.service.yunikorn.applications import allocations
from negotiator.service.yunikorn.shapes import CLUSTER, percent, present

_BUCKETS: Final = 10


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
