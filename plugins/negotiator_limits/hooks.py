"""The hooks of the limits of users and groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from negotiator.plugin import (
    Charge,
    CounterUsage,
    KeyCharge,
    PlacedApplication,
    QueueTree,
    Request,
    Section,
    hookimpl,
)
from negotiator_limits.charges import charges_of
from negotiator_limits.configured import limits_of
from negotiator_limits.groups import chosen_group
from negotiator_limits.report import group_usage, user_usage
from negotiator_limits.settings import LimitSettings
from negotiator_limits.usage import read_usage

SPEC_KEYS = "-spec"
_REPORTS = {"users": user_usage, "groups": group_usage}


@hookimpl
def negotiator_section() -> Section:
    """Declare the key of ``pool.yaml``."""
    return Section(schema=LimitSettings)


@hookimpl
def negotiator_job_attributes() -> Iterable[str]:
    """Read nothing of a job but what its request has."""
    return ()


@hookimpl
def negotiator_application_groups(
    applications: Sequence[PlacedApplication], queues: QueueTree, settings: LimitSettings
) -> Iterable[str]:
    """Choose the group by the limits of the application's queue and of those above it.

    An application keeps its group as long as one of these limits names it.
    """
    limits, tracking = limits_of(queues), settings.group_limits
    return [chosen_group(limits, each, tracking) for each in applications]


@hookimpl
def negotiator_charges(request: Request, queues: QueueTree) -> Iterable[Charge | KeyCharge]:
    """Charge the user and the group of a request on each queue from the leaf to the root."""
    return charges_of(request, limits_of(queues))


@hookimpl
def negotiator_usage(report: str, used: CounterUsage, queues: QueueTree) -> Iterable[Mapping[str, Any]]:
    """Report what users or groups use: ``users``, ``groups``, and with ``-spec`` the keys of the specification."""
    kind = report.removesuffix(SPEC_KEYS)
    if kind not in _REPORTS:
        return ()
    usage = read_usage(used.sums.items(), used.sets.items())
    return _REPORTS[kind](limits_of(queues), usage, used.groups, spec_names=kind != report)
