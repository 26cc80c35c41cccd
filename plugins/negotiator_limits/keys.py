"""The counters of users and groups: one for each resource of each queue, and a set of applications for each queue."""

from __future__ import annotations

from negotiator.plugin import CounterKey, SubjectKind

RESOURCE_PARTS = 4
APPLICATIONS_PARTS = 3


def resource_key(whom: SubjectKind, name: str, path: str, resource: str) -> CounterKey:
    """How much of a resource a user or group uses in a queue and below it."""
    return (whom.value, name, path, resource)


def applications_key(whom: SubjectKind, name: str, path: str) -> CounterKey:
    """The applications that a user or group runs in a queue and below it.

    It has no fourth part: jobs name their resources themselves, and none of those may be taken for it.
    """
    return (whom.value, name, path)
