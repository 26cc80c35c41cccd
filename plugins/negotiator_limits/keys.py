"""The counters of users and groups: a sum for each resource of each queue, and a set of applications for each queue."""

from __future__ import annotations

from negotiator.plugin import CounterKey, SubjectKind

RESOURCE_PARTS = 4
APPLICATIONS_PARTS = 3


def resource_key(kind: SubjectKind, name: str, queue: str, resource: str) -> CounterKey:
    """The sum of a resource that a user or group uses in a queue and below it."""
    return (kind.value, name, queue, resource)


def applications_key(kind: SubjectKind, name: str, queue: str) -> CounterKey:
    """The set of applications that a user or group runs in a queue and below it.

    It has three parts: jobs name their resources themselves, and no such name may give the key of a set.
    """
    return (kind.value, name, queue)
