"""The settings of accounting groups, with HTCondor's defaults.

Source: the HTCondor manual, "Group Accounting" and the macros ``GROUP_*``; defaults of condor_negotiator 25.14.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs

from negotiator.plugin import Expr, parse
from negotiator_fairshare.compatibility import Compatible

ROOT_GROUP: Final = "<none>"

DEFAULT_SORT_EXPRESSION: Final = (
    'ifThenElse(AccountingGroup =?= "<none>", 3.4e+38, '
    "ifThenElse(GroupQuota > 0, GroupResourcesInUse / GroupQuota, 3.3e+38))"
)


@attrs.frozen
class ConfiguredGroup:
    """The configuration of one group.

    ``quota`` is a weight if ``static``, else a fraction of what the group above has.
    """

    name: str
    quota: float = 0.0
    static: bool = False
    accept_surplus: bool = False
    autoregroup: bool = False


@attrs.frozen
class GroupQuirks:
    """The quirks of condor_negotiator's accounting groups, each reproduced or not.

    ``limit_up_to_quota``: a group may use its quota even if less (but not nothing) was allocated.
    ``undefined_limit``: a group below its quota has the limit NaN, and gets nothing, if no group is below its allocation.
    ``whole_limits``: the limit of a turn is cut to a whole number.
    ``autoregroup_quota``: with autoregroup the root's quota is the whole pool from the second round on, so that the
    surplus counts quotas of the other groups again.
    ``group_overrun``: matches by rank, and slots that are rounded up, may take a group above its quota.
    """

    limit_up_to_quota: Compatible = Compatible.EXACT
    undefined_limit: Compatible = Compatible.EXACT
    whole_limits: Compatible = Compatible.EXACT
    autoregroup_quota: Compatible = Compatible.EXACT
    group_overrun: Compatible = Compatible.EXACT


@attrs.frozen
class GroupSettings:
    """All settings of accounting groups. Each field but the last has the value of one knob or family of knobs.

    :ivar groups: ``GROUP_NAMES``, ``GROUP_QUOTA_<group>`` and the like.
    :ivar accept_surplus: ``GROUP_ACCEPT_SURPLUS``, the default of the groups.
    :ivar autoregroup: ``GROUP_AUTOREGROUP``, the default of the groups.
    :ivar sort_expression: ``GROUP_SORT_EXPR``; groups negotiate in ascending order of its value.
    :ivar max_rounds: ``GROUP_QUOTA_MAX_ALLOCATION_ROUNDS``.
    :ivar round_robin_rate: ``GROUP_QUOTA_ROUND_ROBIN_RATE``, a weight.
    :ivar strict: ``NEGOTIATOR_STRICT_ENFORCE_QUOTA``.
    :ivar oversubscription: ``NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION``.
    :ivar slot_weights: ``NEGOTIATOR_USE_SLOT_WEIGHTS``; if false, groups are allocated whole slots.
    :ivar weighted_demand: ``NEGOTIATOR_USE_WEIGHTED_DEMAND``.
    :ivar consider_preemption: ``NEGOTIATOR_CONSIDER_PREEMPTION``.
    :ivar quirks: which quirks are reproduced.
    """

    groups: Sequence[ConfiguredGroup] = ()
    accept_surplus: bool = False
    autoregroup: bool = False
    sort_expression: Expr = attrs.field(factory=lambda: parse(DEFAULT_SORT_EXPRESSION))
    max_rounds: int = attrs.field(default=3, validator=attrs.validators.ge(1))
    round_robin_rate: float = attrs.field(default=1e100, validator=attrs.validators.ge(1.0))
    strict: bool = True
    oversubscription: bool = True
    slot_weights: bool = True
    weighted_demand: bool = True
    consider_preemption: bool = True
    quirks: GroupQuirks = attrs.field(factory=GroupQuirks)

    @property
    def any_accepts_surplus(self) -> bool:
        """True if a group, or the default, accepts surplus."""
        return self.accept_surplus or any(group.accept_surplus for group in self.groups)

    @property
    def any_autoregroups(self) -> bool:
        """True if a group, or the default, negotiates again in the root."""
        return self.autoregroup or any(group.autoregroup for group in self.groups)
