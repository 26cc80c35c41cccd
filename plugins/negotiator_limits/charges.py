"""The charges of a match: on each queue from the leaf to the root, for its user and for its group.

Source: "User and Group Quota Enforcement", Hierarchy traversal.
"""

from __future__ import annotations

from collections.abc import Iterator

from negotiator.plugin import Charge, KeyCharge, Request, RequestedCharge, SubjectKind
from negotiator_limits.limit_index import LimitIndex


def charges_of(request: Request, limits: LimitIndex) -> Iterator[Charge | KeyCharge]:
    """Yield the charges of a request: the sums of all levels first, then the sets of running applications.

    Every counter is charged, with a limit or without one: usage is reported for all, and a later configuration may
    limit any of them. An application without a group is charged for its user alone.
    """
    levels = limits.levels(SubjectKind.USER, request.user, request.queue)
    if request.group:
        levels = (*levels, *limits.levels(SubjectKind.GROUP, request.group, request.queue))
    resources = list(request.resources)
    for level in levels:
        for resource in resources:
            counted = level.of(resource)
            yield RequestedCharge.of(request, counted.counter, resource, counted.most, counted.quota)
    for level in levels:
        counted = level.of_applications
        yield KeyCharge(counted.counter, request.applications, counted.most, counted.quota)
