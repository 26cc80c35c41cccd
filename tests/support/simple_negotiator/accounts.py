"""Accounts of submitters and groups (rules 4 to 10)."""

ROOT = "<none>"
NO_CEILING = 2147483647
MISSING = {"Priority": 0.5, "Ceiling": -1}
LEASED = ("Ceiling", "Floor", "PriorityFactor")


def stored(number):
    """Round as the log of accounts does (6)."""
    return float(f"{number:.6f}")


class Accounts:
    """Rows by name, and the records of the slots in use."""

    def __init__(self, knobs, tree, given, now):
        self.knobs, self.tree = knobs, tree
        self.rows = {name: dict(row) for name, row in given.get("customers", {}).items()}
        self.records = {name: dict(row) for name, row in (given.get("resources") or {}).items()}
        self.last_update = given.get("last_update", now)
        for name in tree.names if tree else (ROOT,):
            self.factor(name)
        hierarchical = {name: row.get("HierWeightedResourcesUsed", 0) for name, row in self.rows.items()}
        self._recount([(each["RemoteUser"], each["SlotWeight"]) for each in self.records.values()])
        for name, use in hierarchical.items():
            self._set(name, "HierWeightedResourcesUsed", use)

    def get(self, name, attribute):
        """Return a value of a row, or what a missing one means."""
        return self.rows.get(name, {}).get(attribute, MISSING.get(attribute, 0))

    def used(self, name):
        """Return the weighted use of a submitter or group."""
        return self.get(name, "WeightedResourcesUsed")

    def _set(self, name, attribute, number):
        self.rows.setdefault(name, {})[attribute] = stored(number)

    def _add(self, name, attribute, number):
        self._set(name, attribute, self.get(name, attribute) + number)

    def begin(self, now):
        """End leases (10), then age priorities and charge the time since the last update (4, 5)."""
        for name, row in self.rows.items():
            for what in LEASED:
                if 0 < row.get(f"{what}LeaseExpiration", 0) <= now:
                    self._set(name, what, row[f"{what}PreLeaseValue"])
                    row[f"{what}LeaseExpiration"] = 0
        seconds, self.last_update = now - self.last_update, now
        if seconds > 0:
            for name in self.rows:
                self._age(name, seconds, now)

    def _age(self, name, seconds, now):
        aging = 0.5 ** (seconds / self.knobs.number("PRIORITY_HALFLIFE"))
        used, weighted = self.get(name, "ResourcesUsed"), self.used(name)
        recent = weighted
        if self.is_group(name) and self.get(name, "HierWeightedResourcesUsed") > 0:
            recent = self.get(name, "HierWeightedResourcesUsed")
        recent += self.get(name, "WeightedUnchargedTime") / seconds
        priority = max(self.get(name, "Priority"), 0.5) * aging + recent * (1 - aging)
        self._set(name, "Priority", max(0.5, priority))
        self._add(name, "AccumulatedUsage", used * seconds + self.get(name, "UnchargedTime"))
        self._add(
            name, "WeightedAccumulatedUsage", weighted * seconds + self.get(name, "WeightedUnchargedTime")
        )
        if used + self.get(name, "UnchargedTime") / seconds > 0:
            self._set(name, "LastUsageTime", now)
        if self.get(name, "AccumulatedUsage") > 0 and not self.get(name, "BeginUsageTime"):
            self._set(name, "BeginUsageTime", now)
        self._set(name, "UnchargedTime", 0)
        self._set(name, "WeightedUnchargedTime", 0)

    def is_group(self, name):
        """Return whether a row is of a group."""
        return "@" not in name

    def factor(self, name):
        """Return the factor of a name, and write it down (7): as 1 if it is less, which holds from the next time on."""
        if self.get(name, "PriorityFactor") < 1:
            factor = self._default_factor(name)
            self._set(name, "PriorityFactor", max(1.0, factor))
            return factor
        return self.get(name, "PriorityFactor")

    def _default_factor(self, name):
        knobs, domain = self.knobs, self.knobs.text("ACCOUNTANT_LOCAL_DOMAIN")
        own_domain = name.partition("@")[2]
        group = name if self.is_group(name) else self.tree.group_of(name) if self.tree else ROOT
        if name.startswith("nice-user"):
            return knobs.number("NICE_USER_PRIO_FACTOR")
        if (factor := knobs.number(f"GROUP_PRIO_FACTOR_{group}")) is not None:
            return factor
        if domain and own_domain != domain:
            return knobs.number("REMOTE_PRIO_FACTOR")
        return knobs.number("DEFAULT_PRIO_FACTOR")

    def priority(self, name):
        """Return the effective priority (7)."""
        if self.get(name, "Priority") < 0.5:
            self._set(name, "Priority", 0.5)
        return self.get(name, "Priority") * self.factor(name)

    def recount(self, in_use, matched, now):
        """Count use anew from the slots in use (8): ``in_use`` has user and weight by name; records of ``matched`` stay."""
        kept = {name: record for name, record in self.records.items() if name in matched}
        self.records = kept | {
            name: {"RemoteUser": user, "SlotWeight": weight, "StartTime": now}
            for name, (user, weight) in in_use.items()
        }
        self._recount(in_use.values())

    def _recount(self, uses):
        for row in self.rows.values():
            for attribute in ("ResourcesUsed", "WeightedResourcesUsed", "HierWeightedResourcesUsed"):
                if attribute in row:
                    row[attribute] = 0.0
        for user, weight in uses:
            self._use(user, weight)

    def _use(self, user, weight):
        group = self.tree.group_of(user) if self.tree else ROOT
        for name in (user, group):
            self._add(name, "ResourcesUsed", 1)
            self._add(name, "WeightedResourcesUsed", weight)
        for name in self.tree.with_those_above(group) if self.tree else (ROOT,):
            self._add(name, "HierWeightedResourcesUsed", weight)

    def match(self, user, slot, limits, now):
        """Count a match as use (9)."""
        self._use(user, slot.weight)
        self.records[slot.name] = {
            "RemoteUser": user,
            "SlotWeight": stored(slot.weight),
            "StartTime": now,
            "limits": limits,
        }

    def subtree_used(self, group):
        """Return the weighted use of a group and all below it."""
        return self.get(group, "HierWeightedResourcesUsed")

    def ceiling(self, name):
        """Return the ceiling of a submitter; none or a negative one is none (20)."""
        ceiling = self.get(name, "Ceiling")
        return NO_CEILING if ceiling < 0 else ceiling

    def floor(self, name):
        """Return the floor of a submitter."""
        return self.get(name, "Floor")
