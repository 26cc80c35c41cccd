"""The charges of a match: on each queue from the leaf to the root, for its user and for its group.

Source: "User and Group Quota Enforcement", Hierarchy traversal.
"""

from __future__ import annotations

from collections.abc import Iterator

from negotiator.plugin import (
    Charge,
    KeyCharge,
    Mode,
    Quota,
    Request,
    SubjectKind,
    upwards,
)
from negotiator_limits.keys import applications_key, resource_key
from negotiator_limits.limit_index import EffectiveLimit, LimitIndex

_MAX_RULE = 200  # characters; users and groups name themselves


def charges_of(request: Request, limits: LimitIndex) -> Iterator[Charge | KeyCharge]:
    """Yield the charges of a request: the sums of all levels first, then the sets of running applications.

    Every counter is charged, with a limit or without one: usage is reported for all, and a later configuration may
    limit any of them. An application without a group is charged for its user alone.
    """
    subjects = [(SubjectKind.USER, request.user), (SubjectKind.GROUP, request.group)]
    levels = [
        (kind, name, queue, limits.limit(kind, name, queue))
        for kind, name in subjects
        if kind is SubjectKind.USER or name
        for queue in upwards(request.queue.lower())
    ]
    for kind, name, queue, limit in levels:
        for resource, amount in request.resources.items():
            most = limit.resources.get(resource) if limit else None
            label = _quota(kind, name, queue, limit, most, resource)
            yield Charge(resource_key(kind, name, queue, resource), amount, most, label)
    for kind, name, queue, limit in levels:
        most = (limit.applications or None) if limit else None
        label = _quota(kind, name, queue, limit, most)
        yield KeyCharge(applications_key(kind, name, queue), request.applications, most, label)


def _quota(
    kind: SubjectKind,
    name: str,
    queue: str,
    limit: EffectiveLimit | None,
    most: int | None,
    resource: str = "",
) -> Quota:
    """The label of a charge on a resource, or on the running applications, of which ``most`` are allowed."""
    counted = "" if resource else "running applications of "
    return Quota(
        rule=(str(limit) if limit else f"usage of {kind} {name}")[:_MAX_RULE],
        text=f"{counted}{kind} {name} in {queue}",
        resource=resource,
        code=f"{kind}_limit",
        source=limit.source if limit else None,
        mode=limit.mode if limit and most is not None else Mode.ENFORCE,
    )
