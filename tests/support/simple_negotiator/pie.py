"""The pie: shares, limits, spins (rules 11 to 21)."""

import math

from simple_negotiator.accounts import NO_CEILING
from simple_negotiator.expressions import LARGEST, single
from simple_negotiator.turn import Turn


class Pie:
    """One call: the submitters of a group, or all, share slots in spins."""

    def __init__(
        self, cycle, ads, *, quota=None, group=None, limited=None, regrouping=False, floor_round=False
    ):
        self.cycle, self.ads, self.group, self.floor_round = cycle, ads, group, floor_round
        self.accounts, self.knobs = cycle.accounts, cycle.knobs
        self.group_limit = limited  # a whole number; None without a limit of the group
        self.regrouping = regrouping  # whose limit bounds the pie alone (54)
        self.preempts = cycle.preempts
        self.record = {"group": group, "spins": []}
        if floor_round:
            self.record["floor_round"] = True
        if quota is not None:
            self.record["quota"] = "-nan" if math.isnan(quota) else quota

    def run(self):
        """Spin until nothing is left to do; return the record. Those that are done leave the list."""
        self.cycle.pies.append(self.record)
        self.first = True
        while self.first or (self.ads and self.cycle.slots):
            names = len(self.ads)
            self._shares()
            if self._at_quota():
                self._halt("group at quota", quota=self.group_limit)
                break
            if not self.preempts and self.pie_left <= 0:
                self._halt("no pie left", pie_left=self.pie_left)
                break
            if self.first:
                self.ads.sort(key=self._order)
            before = self.pie_left
            self._spin()
            if self.pie_left >= before and len(self.ads) == names:
                break
            self.first = False
            if self.floor_round:
                break

    def _halt(self, why, **more):
        self.record["halted"] = {"why": why, **more}

    def _shares(self):
        """Compute who may use how much of what is there (12, 13, 14)."""
        names = {ad.name for ad in self.ads}
        self.priorities = {name: self.accounts.priority(name) for name in names}
        self.largest = max(self.priorities.values(), default=0.0)
        self.normal = sum(self.largest / priority for priority in self.priorities.values())
        self.total = self.cycle.pool_weight
        if self.group_limit is not None:
            self.total = min(self.total, self.group_limit)
        self.group_use = self.accounts.used(self.group) if self.group else 0.0
        self.pie_left = sum(self._limit(ad.name)[0] for ad in self.ads)

    def _share(self, name):
        return self.largest / (self.priorities[name] * self.normal)

    def _limit(self, name):
        """Return the limit of a submitter, and that for unclaimed slots."""
        if self.knobs.true("NEGOTIATOR_IGNORE_USER_PRIORITIES"):
            limit = LARGEST
        else:
            limit = max(0.0, self._share(name) * self.total - self.accounts.used(name))
        unclaimed = limit
        if self.group_limit is not None and not self.regrouping:
            unclaimed = min(limit, max(0.0, single(single(self.group_limit) - single(self.group_use))))
        return (limit if self.preempts else unclaimed), unclaimed

    def _order(self, ad):
        usage, limit = self.accounts.used(ad.name), self._limit(ad.name)[0]
        starvation = usage / (usage + limit) if usage + limit else 3.4028234663852886e38
        return self.priorities[ad.name], starvation, ad.number("LastHeardFrom") % 1009

    def _spin(self):
        """Serve each submitter once."""
        spin = {
            "slots": self.cycle.all_slots,
            "slots_after_trimming": len(self.cycle.slots),
            "slot_weight_total": self.total,
            "min_slot_weight": self.cycle.least_weight,
            "pie_left": self.pie_left,
            "normal_factor": self.normal,
            "max_prio": self.largest,
            "submitter_ads": len(self.ads),
            "submitters": [],
        }
        for ad in [*self.ads]:
            if self._at_quota():
                break
            turn = self._turn(ad)
            spin["submitters"].append(turn)
            if turn["result"] == "done":
                self.ads.remove(ad)
        self.record["spins"].append(spin)

    def _at_quota(self):
        """Return whether the group's use reached its limit (52)."""
        if self.regrouping or self.group_limit is None or (self.first and self.preempts):
            return False
        return self.accounts.used(self.group) >= self.group_limit

    def _turn(self, ad):
        accounts, least = self.accounts, self.cycle.least_weight
        usage = accounts.used(ad.name)
        limit, unclaimed = self._limit(ad.name)
        if self.floor_round:
            limit = min(limit, accounts.floor(ad.name))
        starved = max(0.0, limit - self.pie_left)
        limit = min(limit, self.pie_left)
        headroom = max(0, accounts.ceiling(ad.name) - math.floor(usage))
        row = {
            "name": ad.name,
            "priority": self.priorities[ad.name],
            "factor": accounts.factor(ad.name),
            "share": self._share(ad.name),
            "abs_share": self._abs_share(ad.name),
            "limit": limit,
            "usage": usage,
        }
        if starved:
            row["starved"] = starved
        if accounts.ceiling(ad.name) < NO_CEILING:
            row["ceiling_left"] = headroom
        if ad.idle <= 0:
            return {"name": ad.name, "skipped": "no idle jobs", "result": "done"}
        if not self.first and min(limit, self.pie_left) < least:
            return row | {"skipped": "pie_left < min_slot_weight", "result": "resume"}
        if headroom == 0 or headroom < least:
            return row | {"skipped": "ceiling", "result": "done"}
        turn = Turn(
            self.cycle,
            ad,
            limit,
            unclaimed,
            headroom,
            lambda: self._context(ad),
            self.first and self.preempts,
        )
        row["result"] = turn.run()
        self.pie_left -= turn.used
        return row | {
            "matched": turn.matched,
            "rejected": turn.rejected,
            "only_startd_rank": turn.only_rank,
            "stopped": turn.stopped,
        }

    def _abs_share(self, name):
        factors = {each: self.accounts.factor(each) for each in self.priorities}
        largest = max(factors.values())
        return largest / factors[name] / sum(largest / factor for factor in factors.values())

    def _context(self, ad):
        """Return the attributes that a request gets."""
        own = {
            "SubmitterUserPrio": self.priorities[ad.name],
            "SubmitterUserResourcesInUse": self.accounts.used(ad.name),
        }
        return own | self.cycle.group_context(ad.name, self.group)
