"""The table of resources: what ``/api/v1`` has."""

from __future__ import annotations

from typing import Final

from negotiator.service.api import pool
from negotiator.service.api.records import LimitQuery, Limits, Plugins, ServiceStatus
from negotiator.service.api.resource import Resource

RESOURCES: Final = (
    Resource(
        path="/status",
        summary="The service, and the negotiator that uses its state",
        answers=ServiceStatus,
        answer=pool.status,
    ),
    Resource(
        path="/plugins",
        summary="The plugins of the policy bundle, in the order of their calls",
        answers=Plugins,
        answer=pool.plugins,
    ),
    Resource(
        path="/limits",
        summary="Limits of users, groups and queues, and concurrency limits, the fullest first",
        parameters=LimitQuery,
        answers=Limits,
        answer=pool.limits,
    ),
)
