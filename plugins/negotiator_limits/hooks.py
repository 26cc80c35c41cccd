"""The hooks of the limits of users and groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from negotiator.plugin import Section, hookimpl
from negotiator_limits.settings import LimitSettings

if TYPE_CHECKING:
    from negotiator.plugin import (
        Charge,
        CounterUsage,
        DeclaredRule,
        KeyCharge,
        PlacedApplication,
        QueueConfig,
        QueueTree,
        Request,
    )


@hookimpl
def negotiator_section() -> Section:
    """Declare the key of ``pool.yaml``."""
    return Section(schema=LimitSettings, rules=_declared_rules)


def _declared_rules(settings: LimitSettings, root: QueueConfig) -> Iterable[DeclaredRule]:
    from negotiator_limits.declared_rules import declared_rules

    del settings
    return declared_rules(root)


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
    from negotiator_limits.configured import limits_of
    from negotiator_limits.groups import chosen_group

    limits, tracking = limits_of(queues), settings.group_limits
    return [chosen_group(limits, each, tracking) for each in applications]


@hookimpl
def negotiator_charges(request: Request, queues: QueueTree) -> Iterable[Charge | KeyCharge]:
    """Charge the user and the group of a request on each queue from the leaf to the root."""
    from negotiator_limits.charges import charges_of
    from negotiator_limits.configured import limits_of

    return charges_of(request, limits_of(queues))


@hookimpl
def negotiator_usage(report: str, used: CounterUsage, queues: QueueTree) -> Iterable[Mapping[str, Any]]:
    """Report what users or groups use: ``users``, ``groups``, and with ``-spec`` the keys of the specification."""
    from negotiator_limits.configured import limits_of
    from negotiator_limits.report import usage_report

    return usage_report(report, used, limits_of(queues))
