"""Demand of groups: the work that their submitters have, running and idle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from negotiator_fairshare.groups.tree import GroupTree


@attrs.frozen
class SubmitterDemand:
    """The demand of one submitter ad: its Name, IdleJobs, RunningJobs, WeightedIdleJobs and WeightedRunningJobs."""

    name: str
    idle: int
    running: int
    weighted_idle: float
    weighted_running: float


@attrs.frozen
class GroupDemand:
    """The demand of one group.

    ``requested`` is the weight that the group's submitters run and want. ``submitters`` are the indexes of the submitter
    ads that negotiate in the group; with autoregroup the root has those of other groups too.
    """

    requested: float = 0.0
    submitters: tuple[int, ...] = ()


def demand_of_groups(
    tree: GroupTree, submitters: Sequence[SubmitterDemand], *, weighted: bool
) -> Mapping[str, GroupDemand]:
    """Return the demand of every group of the tree."""
    requested = dict.fromkeys(tree.nodes, 0.0)
    members: dict[str, list[int]] = {name: [] for name in tree.nodes}
    for index, submitter in enumerate(submitters):
        node = tree.nodes[tree.group_of(submitter.name)]
        requested[node.name] += _demand(submitter, weighted=weighted)
        members[node.name].append(index)
        if node.group.autoregroup and node is not tree.root:
            members[tree.root.name].append(index)
    return {name: GroupDemand(requested[name], tuple(members[name])) for name in tree.nodes}


def _demand(submitter: SubmitterDemand, *, weighted: bool) -> float:
    if weighted:
        return submitter.weighted_idle + submitter.weighted_running
    return float(submitter.idle + submitter.running)
