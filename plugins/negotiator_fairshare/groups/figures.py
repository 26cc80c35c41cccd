"""The figures of accounting groups that condor_userprio shows."""

from __future__ import annotations

import attrs

from negotiator_fairshare.groups.settings import ConfiguredGroup


@attrs.frozen(kw_only=True)
class GroupFigures:
    """What a report shows of an accounting group beside its account: quotas, and demand, as slot weights.

    ``surplus`` is ``no``, ``byquota`` or ``regroup``. ``sort_key`` is the value of GROUP_SORT_EXPR.
    """

    effective_quota: float = 0.0
    config_quota: float = 0.0
    subtree_quota: float = 0.0
    sort_key: float = 0.0
    surplus: str = "no"
    requested: float = 0.0


def configured_figures(group: ConfiguredGroup) -> GroupFigures:
    """Return what is known of a group without a cycle: its configuration."""
    surplus = "regroup" if group.autoregroup else "byquota" if group.accept_surplus else "no"
    return GroupFigures(config_quota=group.quota, surplus=surplus)
