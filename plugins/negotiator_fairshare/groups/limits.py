"""The limit of a group's turn: its allocation, in steps of the round robin, within the quotas of the groups above."""

from __future__ import annotations

import math
from collections.abc import Mapping

import attrs

from negotiator_fairshare.compatibility import Compatible
from negotiator_fairshare.groups.quotas import GroupAllocation, GroupQuotas
from negotiator_fairshare.groups.settings import GroupQuirks
from negotiator_fairshare.groups.tree import GroupNode, GroupTree


@attrs.frozen
class QuotaConstraint:
    """A group that does not accept surplus bounded the turn of ``group``, which is itself or a group below it.

    ``usage`` is the weight that ``constrained_by`` and all below it use, ``quota`` its configured quota, ``limit`` the
    limit of the turn.
    """

    group: str
    constrained_by: str
    usage: float
    quota: float
    limit: float


def shortfall(allocation: GroupAllocation, usage: float, *, surplus_accepted: bool) -> float:
    """Return how far a group is below what it may use: the number of round robin steps is that of the largest.

    :param surplus_accepted: some group accepts surplus; otherwise quotas count, allocated or not.
    """
    target = allocation.allocated if surplus_accepted else allocation.quota
    return max(0.0, target - usage)


def limit_of_turn(
    allocation: GroupAllocation, usage: float, progress: float, largest: float, quirks: GroupQuirks
) -> float:
    """Return the limit of a group's use; NaN with the quirk ``undefined_limit``.

    :param usage: the use of the group when the round began.
    :param progress: the round robin's position, up to ``largest``.
    :param largest: the largest shortfall of all groups.
    """
    target = allocation.allocated
    if quirks.limit_up_to_quota is Compatible.EXACT:
        target = max(target, allocation.quota)
    missing = max(0.0, target - usage)
    if missing <= 0:
        return target
    if largest <= 0:
        return math.nan if quirks.undefined_limit is Compatible.EXACT else target
    return min(usage + missing * (progress / largest), target)


def enforce_quotas(
    tree: GroupTree,
    quotas: GroupQuotas,
    node: GroupNode,
    limit: float,
    usage_before: float,
    usage: Mapping[str, float],
) -> tuple[float, tuple[QuotaConstraint, ...]]:
    """Return the limit within the quotas of the group and those above that do not accept surplus.

    A static quota counts as configured, a dynamic one as assigned to the subtree.

    :param usage_before: the use of the group when the round began.
    :param usage: the use of each group now.
    """
    new = limit - usage_before
    constraints = []
    for above in tree.upwards(node.name):
        if above.group.accept_surplus:
            continue
        used = usage_of_subtree(tree, above, usage)
        quota = above.group.quota if above.group.static else quotas.subtree[above.name]
        available = max(0.0, quota - used)
        if new > available:
            new = available
            constraint = QuotaConstraint(node.name, above.name, used, above.group.quota, new + usage_before)
            constraints.append(constraint)
    return new + usage_before, tuple(constraints)


def usage_of_subtree(tree: GroupTree, node: GroupNode, usage: Mapping[str, float]) -> float:
    """Return the use of a group and of all groups below it."""
    return usage[node.name] + sum(usage_of_subtree(tree, child, usage) for child in tree.children(node))


def cut(limit: float, quirks: GroupQuirks) -> float:
    """Return the limit as negotiated with: a whole number with the quirk ``whole_limits``; -2**31 for NaN, as C cuts it."""
    if math.isnan(limit):
        return -(2.0**31)
    return float(math.trunc(limit)) if quirks.whole_limits is Compatible.EXACT else limit
