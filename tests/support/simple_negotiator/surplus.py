"""The allocation of quotas and surplus to groups (rule 47)."""

import math


def allocate(root, *, weighted):
    """Allocate to each group what its round asks for; return the surplus that nobody took."""
    surplus = _allocate(root)
    if not weighted:
        surplus += _fractions(root)
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
    """Share surplus between a group and its children that accept it; return what is left."""
    children = [child for child in group.children if child.accept_surplus]
    if surplus <= 0 or _wish(group) <= 0:
        return surplus
    wishes = [group.rest, *map(_wish, children)]
    quotas = [group.quota, *(child.subtree_quota for child in children)]
    gets = wishes if surplus >= sum(wishes) else rule(surplus, wishes, quotas, [group, *children])
    left = surplus - sum(gets)
    group.allocated += gets[0]
    group.rest -= gets[0]
    for child, own in zip(children, gets[1:], strict=True):
        left += _share(child, own, rule)
    return left


def _by_quota(surplus, wishes, quotas, _groups):
    """Share in turns by quota until satisfied, then evenly among those with quota zero."""
    gets = [0.0] * len(wishes)
    for weights in (quotas, [float(quota <= 0) for quota in quotas]):
        while True:
            open_ = [i for i, wish in enumerate(wishes) if weights[i] > 0 and gets[i] < wish]
            total = sum(weights[i] for i in open_)
            if not open_ or surplus <= 0:
                break
            full = [i for i in open_ if surplus * weights[i] / total >= wishes[i] - gets[i]]
            for i in full or open_:
                own = wishes[i] - gets[i] if full else surplus * weights[i] / total
                gets[i] += own
            surplus -= sum(wishes[i] for i in full) if full else surplus
    return gets


def _fractions(group):
    """Collect the fractions of the allocations, and deal them out in whole slots."""
    fraction = group.allocated - math.floor(group.allocated)
    group.allocated -= fraction
    group.rest += fraction
    surplus = fraction + sum(_fractions(child) for child in group.children)

    def deal(surplus, wishes, quotas, groups):
        gets = [0.0] * len(wishes)
        order = sorted(range(len(wishes)), key=lambda i: (_served(groups[i], i), -quotas[i], -wishes[i]))
        while surplus >= 1 and any(wishes[i] - gets[i] >= 1 for i in order):
            for i in order:
                if surplus >= 1 and wishes[i] - gets[i] >= 1:
                    gets[i] += 1
                    surplus -= 1
        for each, own in zip(groups, gets, strict=True):
            each.dealt |= own > 0
        return gets

    return _share(group, surplus, deal)


def _served(group, index):
    """Return when a subtree (the node itself: index 0) was served: the oldest of those that still ask."""
    if index == 0:
        return group.served
    times = [group.served] if group.rest > 0 else []
    times += [_served(child, 1) for child in group.children if child.accept_surplus and _wish(child) > 0]
    return min(times, default=math.inf)
