"""Quotas of groups: how much of the pool each group and each subtree may use, and what each is allocated of it.

With q for a subtree: static quotas of children come first, dynamic ones share the remainder, and the group itself has what is left. Each
group gets what it requests up to its quota. The surplus of a group and of those below it is shared between the group itself and its children
that accept surplus, in proportion to their quotas; then evenly among those without quota. What nobody wants goes to the group above. Without
slot weights, fractions are collected and dealt out as whole slots: who was served longest ago first, then the larger quota, then the larger
wish.

Source: HTCondor manual; HTCondor 25.14, as recorded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import attrs

from negotiator_fairshare.groups.tree import GroupNode, GroupTree


@attrs.frozen
class GroupQuotas:
    """Weights by group: ``subtree`` for a group and all below it, ``assigned`` for the group itself."""

    subtree: Mapping[str, float]
    assigned: Mapping[str, float]


def assign_quotas(tree: GroupTree, total: float, *, oversubscription: bool) -> GroupQuotas:
    """Return the quotas of all groups.

    :param total: the weight of the pool; if slot weights are not used, its number of slots, where a partitionable slot
        counts as many as it has Cpus.
    :param oversubscription: static quotas may sum to more than there is, and a group may use what its children have.
    """
    subtree = dict.fromkeys(tree.nodes, 0.0)
    assigned = dict.fromkeys(tree.nodes, 0.0)
    subtree[tree.root.name] = max(total, 0.0)
    for node in tree.nodes.values():
        quota = subtree[node.name]
        of_children = _quotas_of_children(tree, node, quota, oversubscription=oversubscription)
        subtree.update(of_children)
        keeps_all = oversubscription and node.parent is not None
        assigned[node.name] = quota if keeps_all else max(0.0, quota - sum(of_children.values()))
    return GroupQuotas(subtree, assigned)


def _quotas_of_children(
    tree: GroupTree, node: GroupNode, quota: float, *, oversubscription: bool
) -> Mapping[str, float]:
    """Return the quotas of the subtrees below a group."""
    if quota <= 0:
        return {}
    children = [child.group for child in tree.children(node)]
    static_sum = sum(child.quota for child in children if child.static)
    dynamic_sum = sum(child.quota for child in children if not child.static)
    for_static = static_sum if oversubscription else min(static_sum, quota)
    for_dynamic = max(0.0, quota - for_static)
    static_factor = for_static / static_sum if static_sum > 0 else 0.0
    dynamic_factor = for_dynamic / max(1.0, dynamic_sum)
    return {
        child.name: child.quota * (static_factor if child.static else dynamic_factor) for child in children
    }


@attrs.define
class GroupShare:
    """One group while an allocation is made, all numbers weights.

    ``wanted`` is the request that is not yet allocated; ``subtree_wanted`` that of the group and of all groups below it
    that accept surplus. ``last_served`` is when the group last got a whole slot in turn, 0 if never;
    ``subtree_last_served`` the least of the subtree's groups that want something.
    """

    name: str
    accept_surplus: bool
    quota: float
    subtree_quota: float
    wanted: float
    last_served: float
    children: list[GroupShare] = attrs.field(factory=list, repr=False)
    allocated: float = 0.0
    subtree_wanted: float = 0.0
    subtree_last_served: float = 0.0
    served: bool = False

    def give(self, amount: float) -> None:
        """Allocate some of what the group wants."""
        self.allocated += amount
        self.wanted -= amount


def shares_of(
    tree: GroupTree, quotas: GroupQuotas, requested: Mapping[str, float], last_served: Mapping[str, float]
) -> dict[str, GroupShare]:
    """Return the share of each group, nothing allocated yet; every group before the groups below it."""
    shares = {
        name: GroupShare(
            name,
            accept_surplus=node.group.accept_surplus,
            quota=quotas.assigned[name],
            subtree_quota=quotas.subtree[name],
            wanted=requested[name],
            last_served=last_served.get(name, 0.0),
        )
        for name, node in tree.nodes.items()
    }
    for name, node in tree.nodes.items():
        shares[name].children = [shares[child] for child in node.children]
    return shares


@attrs.define
class Competitor:
    """A group, or a subtree, that competes with its siblings for a surplus.

    ``quota`` decides its share of the surplus, ``wanted`` bounds it, and ``allocated`` is what it got.
    """

    share: GroupShare
    quota: float
    wanted: float
    last_served: float
    allocated: float = 0.0

    def give(self, amount: float) -> None:
        """Allocate some of what it wants."""
        self.allocated += amount
        self.wanted -= amount


def competitors_below(share: GroupShare) -> list[Competitor]:
    """Return who competes for the surplus of a group: its children, and last the group itself.

    Children that do not accept surplus want nothing.
    """
    children = [
        Competitor(
            child,
            child.subtree_quota,
            child.subtree_wanted if child.accept_surplus else 0.0,
            child.subtree_last_served,
        )
        for child in share.children
    ]
    return [*children, Competitor(share, share.quota, share.wanted, share.last_served)]


def deal_remainders(share: GroupShare) -> float:
    """Cut allocations of a group and of those below it to whole numbers, deal out the sum, and return what is left."""
    surplus = share.allocated - math.floor(share.allocated)
    share.give(-surplus)
    share.allocated, share.wanted = math.floor(0.5 + share.allocated), math.floor(0.5 + share.wanted)
    share.subtree_wanted = share.wanted
    share.subtree_last_served = share.last_served if share.wanted > 0 else math.inf
    for child in share.children:
        surplus += deal_remainders(child)
        if child.accept_surplus:
            share.subtree_wanted += child.subtree_wanted
            if child.subtree_wanted > 0:
                share.subtree_last_served = min(share.subtree_last_served, child.subtree_last_served)
    return _deal(share, surplus) if share.children else surplus


def _deal(share: GroupShare, surplus: float) -> float:
    """Deal out whole slots to a group and those below it, and return what is left."""
    if share.subtree_wanted <= 0 or surplus < 1:
        return surplus
    competitors = competitors_below(share)
    left = _deal_in_turn(competitors, surplus)
    share.subtree_wanted -= surplus - left
    for competitor in competitors[:-1]:
        if competitor.allocated > 0:
            _deal(competitor.share, competitor.allocated)
    share.give(competitors[-1].allocated)
    return left


def _deal_in_turn(competitors: Sequence[Competitor], surplus: float) -> float:
    """Give each competitor an equal number of slots, at least one, until nothing whole or nobody is left."""
    competing = sorted(
        (competitor for competitor in competitors if competitor.wanted > 0),
        key=lambda competitor: (competitor.last_served, -competitor.quota, -competitor.wanted),
    )
    while surplus >= 1 and competing:
        most = float(max(1, math.floor(surplus / len(competing))))
        for competitor in competing:
            if surplus < most:
                break
            amount = min(competitor.wanted, most)
            competitor.give(amount)
            competitor.share.served = True
            surplus -= amount
        competing = [competitor for competitor in competing if competitor.wanted > 0]
    return surplus


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
