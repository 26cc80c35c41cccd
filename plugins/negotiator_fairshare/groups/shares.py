"""The working numbers of an allocation: what each group has, still wants, and may be given."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from negotiator_fairshare.groups.quotas import GroupQuotas
from negotiator_fairshare.groups.tree import GroupTree


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
