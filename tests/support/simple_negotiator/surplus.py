"""The allocation of quotas and surplus to groups (rule 47)."""

import math


def allocate(root, *, weighted):
    """Allocate to each group what its round asks for; return the surplus that nobody took."""
    surplus = _allocate(root)
    if not weighted:
        surplus += _deal_fractions(root)
    return surplus


def _allocate(group):
    group.allocated = min(group.requested, group.quota)
    group.rest = group.requested - group.allocated
    surplus = group.quota - group.allocated
    for child in group.children:
        surplus += _allocate(child)
    return _share(group, surplus, _by_quota)


def _wish(group):
    """Return what a group and those below it that accept surplus lack."""
    return group.rest + sum(_wish(child) for child in group.children if child.accept_surplus)


def _share(group, surplus, rule):
    """Share surplus between the children of a group that accept it and the group itself; return what is left."""
    children = [child for child in group.children if child.accept_surplus]
    if surplus <= 0 or _wish(group) <= 0:
        return surplus
    wishes = [*map(_wish, children), group.rest]
    quotas = [*(child.subtree_quota for child in children), group.quota]
    if surplus >= _wish(group):
        gets, left = wishes, surplus - _wish(group)
    else:
        gets, left = rule(surplus, wishes, quotas, [*children, group])
    group.allocated += gets[-1]
    group.rest -= gets[-1]
    for child, own in zip(children, gets, strict=False):
        left += _share(child, own, rule)
    return left


def _by_quota(surplus, wishes, quotas, _groups):
    """Share in turns by quota until satisfied, then evenly among those with quota zero."""
    gets, lacks = [0.0] * len(wishes), [*wishes]
    for weights in (quotas, [1.0] * len(wishes)):
        while surplus > 0 and (total := sum(weights[i] for i, lack in enumerate(lacks) if lack > 0)) > 0:
            own = [min(lack, surplus * (weight / total)) for lack, weight in zip(lacks, weights, strict=True)]
            own = [max(0.0, each) for each in own]
            satisfied = any(each == lack > 0 for each, lack in zip(own, lacks, strict=True))
            gets = [before + each for before, each in zip(gets, own, strict=True)]
            lacks = [lack - each for lack, each in zip(lacks, own, strict=True)]
            surplus = surplus - sum(own) if satisfied else 0.0
    return gets, max(0.0, surplus)


def _deal_fractions(group):
    """Collect the fractions of the allocations, and deal them out in whole slots."""
    surplus = group.allocated - math.floor(group.allocated)
    group.allocated = float(math.floor(group.allocated))
    group.rest = float(math.floor(group.rest + surplus + 0.5))
    for child in group.children:
        surplus += _deal_fractions(child)
    return _share(group, surplus, _one_by_one) if surplus >= 1 else surplus


def _one_by_one(surplus, wishes, quotas, groups):
    """Deal whole slots: to the oldest served first, then to the larger quota, then to the larger wish."""
    gets, last = [0.0] * len(wishes), len(wishes) - 1
    served = [_served(group) for group in groups[:-1]] + [groups[-1].served]
    order = sorted(range(last + 1), key=lambda i: (served[i], -quotas[i], -wishes[i]))
    while surplus >= 1 and any(wishes[i] > gets[i] for i in order):
        for i in order:
            if surplus >= 1 and wishes[i] > gets[i]:
                gets[i] += 1
                surplus -= 1
                groups[i].dealt = True
    return gets, surplus


def _served(group):
    """Return when a subtree was served: the oldest time of those in it that still ask."""
    times = [group.served] if group.rest > 0 else []
    times += [_served(child) for child in group.children if child.accept_surplus and _wish(child) > 0]
    return min(times, default=math.inf)
