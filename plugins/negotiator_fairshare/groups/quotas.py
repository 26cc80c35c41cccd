"""Quotas of groups: how much of the pool each group and each subtree may use.

Source: HTCondor 25.14, as recorded. With q for a subtree: static quotas of children come first, dynamic ones share the
remainder, and the group itself has what is left.
"""

from __future__ import annotations

from collections.abc import Mapping

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
