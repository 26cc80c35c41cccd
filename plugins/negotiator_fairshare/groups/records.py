"""Records of negotiation rounds, and the figures of accounting groups that condor_userprio shows."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence

import attrs

from negotiator_fairshare.groups.limits import QuotaConstraint
from negotiator_fairshare.groups.quotas import GroupAllocation
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


class SkipReason(enum.StrEnum):
    """Why a group was passed over."""

    NOTHING_ALLOCATED = "nothing allocated"
    AT_QUOTA = "at or over quota"
    NO_SUBMITTERS = "no submitters"


@attrs.frozen
class GroupTurn:
    """A group's turn: its submitters negotiate until the group uses ``limit``.

    :ivar group: the name of the group.
    :ivar limit: the weight that is divided, and that the group may use in all, what it uses now included.
    :ivar computed_limit: the limit before it was cut to a whole number; NaN with the quirk ``undefined_limit``.
    :ivar submitters: the indexes of the submitter ads that are still on the group's list.
    :ivar autoregroup: True if submitters of other groups negotiate again in the root: its use has no limit.
    """

    group: str
    limit: float
    computed_limit: float
    submitters: tuple[int, ...]
    autoregroup: bool = False


@attrs.frozen
class RoundRecord:
    """One allocation round, all numbers weights.

    :ivar allocations: each group's quota, request and allocation.
    :ivar surplus: what nobody took.
    :ivar largest_shortfall: the largest amount by which a group is below what it may use; where the round robin ends.
    :ivar steps: the positions of the round robin.
    :ivar order: the groups with their sort keys, the same in each step.
    :ivar turns: in the order in which they were taken.
    :ivar skipped: groups passed over in the last step that they were not part of, and why.
    :ivar constraints: turns that quotas of groups bounded, in order.
    :ivar allocated: the sum of all allocations.
    :ivar used: the sum of each group's use, at most its allocation, after the round.
    """

    allocations: Mapping[str, GroupAllocation]
    surplus: float
    largest_shortfall: float
    steps: Sequence[float]
    order: Sequence[tuple[str, float]]
    turns: Sequence[GroupTurn]
    skipped: Mapping[str, SkipReason]
    constraints: Sequence[QuotaConstraint]
    allocated: float
    used: float
