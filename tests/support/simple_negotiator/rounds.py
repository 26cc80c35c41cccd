"""Groups take turns in rounds (rules 48 to 54)."""

import math

from simple_negotiator.expressions import ad_of, number, value_of
from simple_negotiator.surplus import allocate

LARGEST_SINGLE = 3.4028234663852886e38


class Rounds:
    """All rounds of a cycle, and their record."""

    def __init__(self, cycle, tree):
        self.cycle, self.tree, self.knobs = cycle, tree, cycle.knobs
        self.root, self.accounts = tree.root, cycle.accounts
        self.rate = self.knobs.number("GROUP_QUOTA_ROUND_ROBIN_RATE")
        self.weighted = self.knobs.true("NEGOTIATOR_USE_SLOT_WEIGHTS")
        self.records = []

    def run(self):
        """Negotiate for the groups until nothing is short, or the rounds are used up (53)."""
        for group in self.tree.all:
            group.requested = group.demand
        for _ in range(int(self.knobs.number("GROUP_QUOTA_MAX_ALLOCATION_ROUNDS"))):
            if self._round():
                break
        for group in self.tree.all:
            if group.dealt or group.requested <= 0:
                group.served = self.cycle.now

    def _use(self, group):
        return self.accounts.used(group.name)

    def _round(self):
        asked = {group: group.requested for group in self.tree.all}
        for group in asked:
            group.dealt = False
        surplus = allocate(self.root, weighted=self.weighted)
        if self.tree.regroups:
            self.root.quota = self.root.allocated = self.cycle.quota_weight
        self.record = {
            "allocated": {group.name: _row(group) for group in self.tree.all},
            "surplus": surplus,
            "order": [],
            "negotiated": [],
            "skipped": {},
            "constrained": [],
            "rr_iterations": [],
        }
        self.records.append(self.record)
        self._steps()
        for group, requested in asked.items():
            use = self._use(group)
            group.requested = use if use < group.allocated else requested
        used = sum(min(self._use(group), group.allocated) for group in self.tree.all)
        allocated = sum(group.allocated for group in self.tree.all)
        self.record |= {"total_allocated": allocated, "total_usage": used}
        return used >= allocated

    def _steps(self):
        groups = [group for group in self.tree.all if group is not self.root]
        accepts = self.knobs.true("GROUP_ACCEPT_SURPLUS") or any(group.accept_surplus for group in groups)
        before = {group: self._use(group) for group in self.tree.all}
        most = 0.0
        for group, use in before.items():
            most = max(most, (group.allocated if accepts else group.quota) - use)
        self.record["maxdelta"] = most
        step = 0.0
        while True:
            step = min(step + self.rate, most)
            self.record["rr_iterations"].append(step)
            for group in self._order(before):
                self._negotiate(group, before[group], step, most)
            if step >= most:
                return

    def _order(self, uses):
        keys = {group: self._sort_key(group, use) for group, use in uses.items()}
        order = sorted(keys, key=keys.get)
        if self.tree.regroups:
            order = [group for group in order if group is not self.root] + [self.root]
        self.record["order"] += [[group.name, keys[group]] for group in order]
        return order

    def _sort_key(self, group, use):
        ad = ad_of(
            {
                "AccountingGroup": group.name,
                "GroupQuota": group.quota,
                "GroupResourcesInUse": float(use),
                "GroupResourcesAllocated": group.allocated,
            }
        )
        return number(value_of(self.knobs.text("GROUP_SORT_EXPR"), ad), LARGEST_SINGLE)

    def _negotiate(self, group, use, step, most):
        if (why := self._passed_over(group, use)) is not None:
            self.record["skipped"][group.name] = why
            return
        target = max(group.allocated, group.quota)
        limit = target
        if target > use:
            limit = use + (target - use) * (step / most) if most else math.nan
        if not self.weighted and not math.isnan(limit):
            limit = math.floor(limit)
        limit = self._enforced(group, limit, use)
        self.record["negotiated"].append([group.name, "-nan" if math.isnan(limit) else limit])
        whole = -2147483648 if math.isnan(limit) else int(limit)
        regrouping = self.tree.regroups and group is self.root
        self.cycle.negotiate(group.ads, quota=limit, group=group.name, limited=whole, regrouping=regrouping)

    def _passed_over(self, group, use):
        if group.allocated <= 0:
            return "nothing allocated"
        if not self.cycle.preempts and use >= group.allocated:
            return "at or over quota"
        return None if group.ads else "no submitters"

    def _enforced(self, group, limit, use):
        """Return the limit under NEGOTIATOR_STRICT_ENFORCE_QUOTA (50)."""
        above = group
        while self.knobs.true("NEGOTIATOR_STRICT_ENFORCE_QUOTA") and above is not self.root:
            if not above.accept_surplus:
                used = self.accounts.subtree_used(above.name)
                most = use + max(0.0, above.static_or_configured - used)
                if limit > most:
                    limit = most
                    self.record["constrained"].append(
                        {
                            "by": above.name,
                            "usage": used,
                            "config_quota": above.config_quota,
                            "group": group.name,
                            "to": limit,
                        }
                    )
            above = above.parent
        return limit


def _row(group):
    return {
        "quota": group.quota,
        "requested": group.allocated + group.rest,
        "allocated": group.allocated,
        "unallocated": group.rest,
    }
