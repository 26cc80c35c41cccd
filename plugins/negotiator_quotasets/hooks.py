"""The hooks of the plugin: charges, filters, usage, reports, commands; and what is computed once, as its policy object.

That is what the rule sets of each mode read of requests, and their rules over the slots of a cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

import attrs

from negotiator.plugin import Section, hookimpl
from negotiator_quotasets.requests import RequestReader
from negotiator_quotasets.settings import FILES, QuotaSettings, SetsOfMode, check

if TYPE_CHECKING:
    import click

    from negotiator.plugin import (
        Charge,
        CounterUsage,
        Cycle,
        DeclaredRule,
        Filter,
        PartitionConfig,
        Problem,
        QueueConfig,
        Report,
        Request,
        StartingBundle,
        Table,
    )
    from negotiator_quotasets.pool import RulesByMode


@attrs.frozen(eq=False)
class QuotaPolicy:
    """The sets of each mode, with what they read of requests."""

    settings: QuotaSettings
    parts: tuple[tuple[SetsOfMode, RequestReader], ...]

    @classmethod
    def of(cls, settings: QuotaSettings) -> Self:
        """Return a reader for each mode whose sets, or declared capacities, limit something."""
        parts = ((each, RequestReader(settings, each.sets)) for each in settings.by_mode)
        return cls(settings, tuple((part, reader) for part, reader in parts if reader.active))

    def attributes(self) -> frozenset[str]:
        """Return the attributes of jobs that are read, in lower case."""
        return frozenset().union(*(reader.attributes() for _, reader in self.parts))

    def begin_cycle(self, slots: Table, cycle: Cycle) -> RulesByMode:
        """Return the rules over the slots of a cycle."""
        from negotiator_quotasets.pool import rules_by_mode

        return rules_by_mode(self.settings, self.parts, slots, cycle.environment)


@hookimpl
def negotiator_section() -> Section:
    """Own the rule sets, and the objects that they refer to."""
    return Section(
        schema=QuotaSettings,
        check=check,
        check_queues=_unknown_names,
        files=(FILES,),
        apart=("gridengine",),
        rules=_declared_rules,
    )


def _unknown_names(settings: QuotaSettings, partition: PartitionConfig) -> Iterable[Problem]:
    if not settings.files:
        return ()
    from negotiator_quotasets.settings.quota_settings import unknown_names

    return unknown_names(settings, partition)


def _declared_rules(settings: QuotaSettings, root: QueueConfig) -> Iterable[DeclaredRule]:
    from negotiator_quotasets.settings.quota_settings import declared_rules

    del root
    return declared_rules(settings)


@hookimpl
def negotiator_job_attributes(settings: QuotaSettings) -> Iterable[str]:
    """Declare the job attributes that are read."""
    if not settings.limits_anything:
        return ()
    from negotiator_quotasets.hooks import QuotaPolicy

    return QuotaPolicy.of(settings).attributes()


@hookimpl
def negotiator_unused_hooks(settings: QuotaSettings) -> Iterable[str]:
    """Filter and charge nothing if nothing is limited."""
    return () if settings.limits_anything else ["negotiator_filter_slots", "negotiator_charges"]


@hookimpl
def negotiator_policy(settings: QuotaSettings) -> QuotaPolicy | None:
    """Evaluate the rules over the slots of a cycle once; None if nothing is limited."""
    if not settings.limits_anything:
        return None
    from negotiator_quotasets.hooks import QuotaPolicy

    return QuotaPolicy.of(settings)


@hookimpl
def negotiator_filter_slots(request: Request, cycle: Cycle, policy: RulesByMode | None) -> Iterable[Filter]:
    """Remove slots without the resources that a job requests, and those excluded by a limit of a complex that is not consumed."""
    return () if policy is None else policy.filters(request, cycle.environment)


@hookimpl
def negotiator_charges(request: Request, cycle: Cycle, policy: RulesByMode | None) -> Iterable[Charge]:
    """Charge a job by the rule of each set that applies to it, host by host."""
    return () if policy is None else policy.charges(request, cycle.environment)


@hookimpl
def negotiator_usage(report: str, used: CounterUsage, settings: QuotaSettings) -> Iterable[Mapping[str, Any]]:
    """Report ``quotas``: the usage of each limit; a formula is printed as it was written."""
    from negotiator_quotasets.qquota import as_entries

    return as_entries(settings, used.sums) if report == "quotas" else ()


@hookimpl
def negotiator_reports(settings: QuotaSettings) -> Iterable[Report]:
    """Bring ``qquota``: what Grid Engine's command prints."""
    from negotiator_quotasets.qquota.report import qquota_report

    yield qquota_report(settings)


@hookimpl
def negotiator_commands() -> Iterable[click.Command]:
    """Add Grid Engine's commands."""
    from negotiator_quotasets.commands.qconf import qconf
    from negotiator_quotasets.commands.qquota import qquota

    return qconf, qquota


@hookimpl
def negotiator_starting_bundles() -> Iterable[StartingBundle]:
    """Offer ``gridengine``: resource quota sets."""
    from negotiator_quotasets.starting_bundle import starting_bundle

    yield starting_bundle()
