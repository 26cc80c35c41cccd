"""Random trees of accounting groups, and a pool of like slots that serves the turns of groups."""

from itertools import count

import attrs
from hypothesis import strategies as st

from negotiator_fairshare.groups.quotas import assign_quotas
from negotiator_fairshare.groups.rounds import GroupDemand, NegotiationRounds
from negotiator_fairshare.groups.settings import ConfiguredGroup, GroupSettings
from negotiator_fairshare.groups.tree import GroupTree

NAMES = ("a", "b", "c", "a.x", "a.y", "b.x", "a.x.m", "a.x.n")
weights = st.integers(0, 400).map(lambda number: number / 8)
fractions = st.integers(0, 16).map(lambda number: number / 16)


@st.composite
def groups(draw):
    """Return some configured groups; every parent is listed."""
    chosen = draw(st.sets(st.sampled_from(NAMES), min_size=1))
    listed = {
        ".".join(name.split(".")[: level + 1]) for name in chosen for level in range(name.count(".") + 1)
    }
    found = []
    for name in sorted(listed):
        static = draw(st.booleans())
        found.append(
            ConfiguredGroup(
                name,
                quota=draw(weights if static else fractions),
                static=static,
                accept_surplus=draw(st.booleans()),
                autoregroup=draw(st.booleans()),
            )
        )
    return tuple(found)


def requests(tree):
    """Return a strategy of what the groups of a tree request."""
    return st.fixed_dictionaries(dict.fromkeys(tree.nodes, weights))


@attrs.define
class Pool:
    """Slots of weight 1 that any job fits; groups take as many as their limits and requests allow."""

    free: int
    wanted: dict
    usage: dict

    def serve(self, turn):
        """Return how many slots the group of a turn takes."""
        room = self.free if turn.autoregroup else min(self.free, int(turn.limit - self.usage[turn.group]))
        taken = max(0, min(room, self.wanted[turn.group]))
        self.free -= taken
        self.wanted[turn.group] -= taken
        self.usage[turn.group] += taken
        return taken


def negotiate(settings, total, wanted):
    """Run all rounds over a pool of ``total`` slots; return the rounds, the pool and its turns with what they took."""
    tree = GroupTree.of_groups(settings.groups, autoregroup=settings.any_autoregroups)
    quotas = assign_quotas(tree, total, oversubscription=settings.oversubscription)
    wanted = dict.fromkeys(tree.nodes, 0) | wanted
    index = count()
    demand = {name: GroupDemand(wanted[name], (next(index),) if wanted[name] else ()) for name in tree.nodes}
    pool = Pool(total, dict(wanted), dict.fromkeys(tree.nodes, 0))
    rounds = NegotiationRounds(settings, tree, quotas, demand, pool.usage)
    turns = []
    while (turn := rounds.next_turn()) is not None:
        turns.append((turn, pool.serve(turn)))
        done = () if pool.wanted[turn.group] else turn.submitters
        rounds.end_turn(usage={turn.group: pool.usage[turn.group]}, done=done)
    return rounds, pool, turns


def static(**quotas):
    """Return settings with static quotas by name; ``_`` stands for a dot."""
    return GroupSettings(
        groups=[ConfiguredGroup(name.replace("_", "."), quota, static=True) for name, quota in quotas.items()]
    )
