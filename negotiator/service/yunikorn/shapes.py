"""What all answers have in common: names, times, shares, and keys without a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from negotiator.queues.quantities import Resources
from negotiator.service.shares import share

#: The name of the cluster and of the resource manager: a service has one pool.
CLUSTER: Final = "negotiator"

_NANOSECONDS: Final = 1_000_000_000


def nanoseconds(seconds: float) -> int:
    """Return a time in nanoseconds since the epoch."""
    return round(seconds * 1000) * (_NANOSECONDS // 1000)


def percent(capacity: Resources, used: Resources) -> dict[str, int]:
    """Return how much of each resource is used, in whole percent; resources that nothing uses are missing."""
    return {name: share(capacity[name], used[name]) for name in capacity if name in used}


def present(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry without the keys whose value is zero or empty; False is a value."""
    return {key: value for key, value in entry.items() if value is False or value}
