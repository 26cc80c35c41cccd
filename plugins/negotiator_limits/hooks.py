"""The limits as a plugin: what each request is charged, and what is reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from negotiator.plugin import (
    ROOT,
    Charge,
    CounterUsage,
    KeyCharge,
    LimitIndex,
    QueueConfig,
    QueueTree,
    Quota,
    Request,
    hookimpl,
)
from negotiator_limits.charges import charges_for
from negotiator_limits.levels import APPLICATIONS, Label
from negotiator_limits.report import group_usage, user_usage
from negotiator_limits.usage import read_usage


@hookimpl
def negotiator_job_attributes() -> Iterable[str]:
    """Read nothing of a job but what its request tells."""
    return ()


@hookimpl
def negotiator_charges(request: Request, queues: QueueTree) -> Iterable[Charge | KeyCharge]:
    """Charge the user and the group of a request on each queue from the leaf to the root."""
    sums, keys = charges_for(
        _scope(queues), request.user, request.group, request.queue, request.resources, request.applications
    )
    for charge in sums:
        yield attrs.evolve(charge, label=_quota(charge.label))
    for running in keys:
        yield attrs.evolve(running, label=_quota(running.label))


@hookimpl
def negotiator_usage(
    report: str,
    used: CounterUsage,
    queues: QueueTree,
    spec_names: bool,  # noqa: FBT001 - given by name
) -> Iterable[Mapping[str, Any]]:
    """Report what users and groups use."""
    usage = read_usage(used.sums.items(), used.sets.items())
    if report == "users":
        return user_usage(_scope(queues), usage, used.groups, spec_names=spec_names)
    if report == "groups":
        return group_usage(_scope(queues), usage, used.groups, spec_names=spec_names)
    return ()


class _Latest:
    """The limits of the configuration that was asked about last: making them anew for each request would cost most."""

    root: QueueConfig | None = None
    scope: LimitIndex


def _scope(queues: QueueTree) -> LimitIndex:
    queue = queues.get(ROOT)
    root = queue.config if queue else QueueConfig(ROOT, leaf=False)
    if _Latest.root is not root:
        _Latest.root, _Latest.scope = root, LimitIndex(root)
    return _Latest.scope


def _quota(label: object) -> Quota:
    if not isinstance(label, Label):
        raise TypeError("charges_for gives no other label")
    counted = "running applications of " if label.resource == APPLICATIONS else ""
    return Quota(
        rule=(label.rule or f"usage of {label.whom} {label.holder}")[:200],
        text=f"{counted}{label.whom} {label.holder} in {label.queue}",
        resource=label.resource,
        code=f"{label.whom}_limit",
        source=label.source,
    )
