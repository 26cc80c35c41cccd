"""The hooks of the limits of users and groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from negotiator.plugin import ROOT, QueueConfig, Section, hookimpl
from negotiator_limits.settings import LimitSettings

if TYPE_CHECKING:
    from negotiator.plugin import (
        Charge,
        CounterUsage,
        DeclaredRule,
        KeyCharge,
        PlacedApplication,
        QueueTree,
        Request,
    )
    from negotiator_limits.limit_index import LimitIndex


@hookimpl
def negotiator_section() -> Section:
    """Declare the key of ``pool.yaml``."""
    return Section(schema=LimitSettings, rules=_declared_rules)


class QueueLimits:
    """The limits of the configured queues, or of those of the latest cycle if they differ, as while a queue drains."""

    def __init__(self) -> None:
        self._latest: tuple[QueueConfig | None, LimitIndex] | None = None

    def of(self, queues: QueueTree) -> LimitIndex:
        """Return the limits of the configuration that a queue tree was made from."""
        from negotiator_limits.limit_index import LimitIndex

        queue = queues.get(ROOT)
        root = None if queue is None else queue.config
        latest = self._latest  # another thread may replace it
        if latest is None or latest[0] is not root:
            latest = self._latest = root, LimitIndex(root or QueueConfig(ROOT, leaf=False))
        return latest[1]


def _declared_rules(settings: LimitSettings, root: QueueConfig) -> Iterable[DeclaredRule]:
    from negotiator_limits.limit_index import declared_rules

    del settings
    return declared_rules(root)


@hookimpl
def negotiator_job_attributes() -> Iterable[str]:
    """Read nothing of a job but what its request has."""
    return ()


@hookimpl
def negotiator_policy() -> QueueLimits:
    """Index the limits of the queues once."""
    return QueueLimits()


@hookimpl
def negotiator_application_groups(
    applications: Sequence[PlacedApplication], queues: QueueTree, settings: LimitSettings, policy: QueueLimits
) -> Iterable[str]:
    """Choose the group by the limits of the application's queue and of those above it.

    An application keeps its group as long as one of these limits names it.
    """
    from negotiator_limits.limit_index import chosen_group

    limits, tracking = policy.of(queues), settings.group_limits
    return [chosen_group(limits, each, tracking) for each in applications]


@hookimpl
def negotiator_charges(
    request: Request, queues: QueueTree, policy: QueueLimits
) -> Iterable[Charge | KeyCharge]:
    """Charge the user and the group of a request on each queue from the leaf to the root."""
    from negotiator_limits.charges import charges_of

    return charges_of(request, policy.of(queues))


@hookimpl
def negotiator_usage(
    report: str, used: CounterUsage, queues: QueueTree, policy: QueueLimits
) -> Iterable[Mapping[str, Any]]:
    """Report what users or groups use: ``users``, ``groups``, and with ``-spec`` the keys of the specification."""
    from negotiator_limits.report import usage_report

    return usage_report(report, used, policy.of(queues))
