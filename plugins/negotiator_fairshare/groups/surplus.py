"""Allocation: each group gets what it requests up to its quota, then the unused quotas are shared.

Source: HTCondor 25.14, as recorded. The surplus of a group and of those below it is shared between the group itself and
its children that accept surplus, in proportion to their quotas; then evenly among those without quota. What nobody wants
goes to the group above.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from negotiator_fairshare.groups.quotas import GroupQuotas
from negotiator_fairshare.groups.shares import Competitor, GroupShare, competitors_below, shares_of
from negotiator_fairshare.groups.tree import GroupTree
from negotiator_fairshare.groups.whole_slots import deal_remainders


@attrs.frozen
class GroupAllocation:
    """What one group may use in a round, and what it wants beyond: weights."""

    quota: float
    allocated: float
    unallocated: float

    @property
    def requested(self) -> float:
        """The request before the allocation."""
        return self.allocated + self.unallocated


@attrs.frozen
class Allocation:
    """The allocation of one round.

    ``surplus`` is what nobody took. ``served`` are the groups that got whole slots in turn; empty if slot weights are used.
    """

    groups: Mapping[str, GroupAllocation]
    surplus: float
    served: frozenset[str] = frozenset()


def allocate(
    tree: GroupTree,
    quotas: GroupQuotas,
    requested: Mapping[str, float],
    *,
    slot_weights: bool,
    last_served: Mapping[str, float] | None = None,
) -> Allocation:
    """Return the allocation of all groups.

    :param requested: the weight that each group wants, what it uses included.
    :param slot_weights: if false, groups get whole slots: fractions are collected and dealt out.
    :param last_served: when each group was in ``served`` last, on any scale; missing groups first.
    """
    shares = shares_of(tree, quotas, requested, last_served or {})
    root = next(iter(shares.values()))
    surplus = _allocate_subtree(root)
    if not slot_weights:
        surplus += deal_remainders(root)
    groups = {
        share.name: GroupAllocation(share.quota, share.allocated, share.wanted) for share in shares.values()
    }
    return Allocation(groups, surplus, frozenset(share.name for share in shares.values() if share.served))


def _allocate_subtree(share: GroupShare) -> float:
    """Allocate quotas in a group and below it, share the surplus among them, and return what is left."""
    share.give(min(share.wanted, share.quota))
    share.subtree_wanted = share.wanted
    surplus = share.quota - share.allocated
    for child in share.children:
        surplus += _allocate_subtree(child)
        if child.accept_surplus:
            share.subtree_wanted += child.subtree_wanted
    return _share_surplus(share, surplus) if share.children else surplus


def _share_surplus(share: GroupShare, surplus: float) -> float:
    """Share a surplus among a group and those below it, and return what is left."""
    if surplus <= 0:
        return 0.0
    wanted = share.subtree_wanted
    if wanted <= 0:
        return surplus
    competitors = competitors_below(share)
    if surplus >= wanted:
        for competitor in competitors:
            competitor.give(max(0.0, competitor.wanted))
        left, share.subtree_wanted = surplus - wanted, 0.0
    else:
        rest = _share_in_proportion(competitors, [competitor.quota for competitor in competitors], surplus)
        left = _share_in_proportion(competitors, [1.0] * len(competitors), rest)
        share.subtree_wanted = wanted - (surplus - left)
    for competitor in competitors[:-1]:
        if competitor.allocated > 0:
            _share_surplus(competitor.share, competitor.allocated)
    share.give(competitors[-1].allocated)
    return left


def _share_in_proportion(competitors: Sequence[Competitor], quotas: Sequence[float], surplus: float) -> float:
    """Share a surplus in proportion to quotas, repeatedly until all have what they want; return what is left."""
    while surplus > 0:
        competing = [pair for pair in zip(competitors, quotas, strict=True) if pair[0].wanted > 0]
        total = sum(quota for _, quota in competing)
        if total <= 0:
            break
        given, somebody_has_enough = 0.0, False
        for competitor, quota in competing:
            amount = surplus * (quota / total)
            if amount > competitor.wanted:
                amount, somebody_has_enough = competitor.wanted, True
            competitor.give(amount)
            given += amount
        surplus = surplus - given if somebody_has_enough else 0.0
    return max(0.0, surplus)
