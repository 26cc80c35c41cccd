"""Whole slots: without slot weights, the fractions of an allocation are collected and dealt out as whole slots.

Source: HTCondor 25.14, as recorded: who was served longest ago first, then the larger quota, then the larger wish.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from negotiator_fairshare.groups.shares import Competitor, GroupShare, competitors_below


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
