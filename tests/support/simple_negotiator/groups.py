"""Accounting groups: the tree and the quotas (rules 44 to 46)."""

import re

ROOT = "<none>"


class Group:
    """A group: what is configured, and the quotas and sums of a cycle."""

    def __init__(self, name, parent, knobs):
        self.name, self.parent, self.children = name, parent, []
        static = knobs.number(f"GROUP_QUOTA_{name}")
        self.static = static is not None
        self.config_quota = static if self.static else knobs.number(f"GROUP_QUOTA_DYNAMIC_{name}", 0.0)
        accept = knobs.true("GROUP_ACCEPT_SURPLUS", False)
        self.accept_surplus = knobs.true(f"GROUP_ACCEPT_SURPLUS_{name}", accept)
        regroup = knobs.true("GROUP_AUTOREGROUP", False)
        self.autoregroup = knobs.true(f"GROUP_AUTOREGROUP_{name}", regroup)
        self.quota = self.subtree_quota = 0.0
        self.demand = self.requested = self.allocated = self.rest = 0.0
        self.served = 0.0  # when a fraction was last dealt out to it (47)
        self.dealt = False  # in this cycle
        self.ads = []

    @property
    def static_or_configured(self):
        """Return the quota of strict enforcement (50)."""
        return self.config_quota if self.static else self.subtree_quota


class GroupTree:
    """All groups, breadth first by name."""

    def __init__(self, knobs):
        self.root = Group(ROOT, None, knobs)
        self.root.static, self.root.config_quota, self.root.accept_surplus = False, 0.0, True
        names = [name for name in re.split(r"[, ]+", knobs.text("GROUP_NAMES") or "") if name]
        by_name = {"": self.root}
        for name in sorted(names, key=lambda name: (name.count("."), name.lower())):
            parent = by_name.get(name.lower().rpartition(".")[0])
            if parent is not None and name.lower() not in by_name:
                group = by_name[name.lower()] = Group(name, parent, knobs)
                parent.children.append(group)
        self.by_name = by_name
        self.all = [*by_name.values()]
        self.root.autoregroup = any(group.autoregroup for group in self.all)
        self.regroups = self.root.autoregroup
        self.names = [group.name for group in self.all]

    def group_of(self, user):
        """Return the name of the group of a user (44)."""
        path = user.partition("@")[0].rpartition(".")[0].lower()
        while path not in self.by_name:
            path = path.rpartition(".")[0]
        return self.by_name[path].name

    def with_those_above(self, name):
        """Return a group and those above it; the root only for itself."""
        group = self.by_name["" if name == ROOT else name.lower()]
        names = [group.name]
        while (group := group.parent) is not None and group is not self.root:
            names.append(group.name)
        return names

    def assign_quotas(self, total, *, oversubscription):
        """Give each group its quotas of the pool (45)."""
        _assign(self.root, total, oversubscription)

    def ask(self, ads, *, weighted):
        """Give each group its submitters and its demand (46)."""
        kind = "Weighted" if weighted else ""
        for group in self.all:
            group.ads = [ad for ad in ads if self.group_of(ad.name) == group.name]
            group.demand = sum(
                ad.number(f"{kind}IdleJobs") + ad.number(f"{kind}RunningJobs") for ad in group.ads
            )
        regrouped = [group for group in self.all if group.autoregroup and group is not self.root]
        self.root.ads += [ad for group in regrouped for ad in group.ads]


def _assign(group, quota, oversubscription):
    group.quota = group.subtree_quota = quota
    if quota <= 0:  # not in the rules, but seen: nothing is assigned below such a group
        for child in group.children:
            _assign(child, 0.0, oversubscription)
        return
    static = sum(child.config_quota for child in group.children if child.static)
    dynamic = sum(child.config_quota for child in group.children if not child.static)
    to_statics = static if oversubscription else min(static, quota)
    to_dynamics = max(0.0, quota - to_statics)
    given = 0.0
    for child in group.children:
        if child.static:
            own = child.config_quota * (to_statics / static) if static else 0.0
        else:
            own = child.config_quota * (to_dynamics / max(1.0, dynamic))
        _assign(child, own, oversubscription)
        given += own
    keeps_all = oversubscription and group.parent is not None
    group.quota = max(0.0, quota if keeps_all else quota - given)
