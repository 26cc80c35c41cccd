"""One negotiation cycle over a pool, and runs of them (rules 1, 8, 31 to 36)."""

from simple_negotiator.accounts import Accounts
from simple_negotiator.candidates import NO_PREEMPTION
from simple_negotiator.expressions import LARGEST, is_so, number, single
from simple_negotiator.groups import GroupTree
from simple_negotiator.knobs import Knobs
from simple_negotiator.limits import Limits
from simple_negotiator.pie import Pie
from simple_negotiator.pool import slots_of, submitters_of
from simple_negotiator.rounds import Rounds


class Negotiator:
    """A negotiator process: its accounts, and the group quotas of the cycle before."""

    def __init__(self, content, given):
        self.content, self.knobs = content, Knobs(given.get("knobs", {}))
        tree = GroupTree(self.knobs)
        self.tree = tree if len(tree.all) > 1 else None
        self.accounts = Accounts(self.knobs, self.tree, given.get("accounting") or {}, given["now"])
        self.accounts.begin(given["now"])
        self.quotas = {}  # of the groups, in the cycle before (40)

    def decide(self, given):
        """Decide one cycle; return it as the field ``expect`` of a recorded case."""
        cycle = Cycle(self, given)
        cycle.run()
        return cycle.expect()


class Cycle:
    """One cycle: the slots that are left, and what was decided."""

    def __init__(self, negotiator, given):
        self.knobs, self.tree, self.accounts = negotiator.knobs, negotiator.tree, negotiator.accounts
        self.negotiator, self.now = negotiator, given["now"]
        self.preempts = self.knobs.true("NEGOTIATOR_CONSIDER_PREEMPTION")
        self.slots = slots_of(negotiator.content, given, self.knobs)
        self.submitters = submitters_of(negotiator.content, given, self.knobs)
        self.least_weight = min((slot.counted for slot in self.slots), default=LARGEST)
        constraint = self.knobs.text("NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT")
        counted = [slot for slot in self.slots if constraint is None or is_so(constraint, slot.ad)]
        self.all_slots = len(counted)
        self.pool_weight = self.quota_weight = sum(slot.counted for slot in counted)
        if not self.knobs.true("NEGOTIATOR_USE_SLOT_WEIGHTS"):
            self.pool_weight = len(counted)
            self.quota_weight = sum(_count(slot) for slot in counted)
        self.matches, self.rejections, self.pies, self.groups = [], [], [], None

    def run(self):
        """Count use, trim the slots, and let the submitters negotiate."""
        read = [*self.submitters]
        self.accounts.begin(self.now)
        self.limits = Limits(self.knobs, self.slots, self.accounts.records)
        self.limits_before = dict(self.limits.in_use)
        users = {slot.name: (user, slot.weight) for slot in self.slots if (user := slot.holder(self.knobs))}
        matched = {slot.name for slot in self.slots if slot.ad.string("State") == "Matched"}
        self.accounts.recount(users, matched, self.now)
        self.slots = [slot for slot in self.slots if self._takes_part(slot)]
        for slot in self.slots:
            self.describe_user(slot)
        if self.tree:
            self._negotiate_for_groups(self.submitters)
        else:
            self.negotiate(self.submitters)
        for name in {each.name for each in read} & self.accounts.rows.keys():
            self.accounts.priority(name)  # of the Accounting ads

    def _takes_part(self, slot):
        """Return whether a slot is offered at all (32, 34, 35)."""
        ad, knobs = slot.ad, self.knobs
        other_manager = ad.string("WorkingCM") and not knobs.true("MATCH_WORKING_CM_SLOTS")
        if slot.claimed_whole and (other_manager or ad.boolean("WantMatching") is False):
            return False
        threshold = knobs.number("NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD")
        if threshold:
            clock = ad.replaced({"CurrentTime": ad.integer("MyCurrentTime", self.now) + int(threshold)})
            if clock.boolean("DaemonShutdown"):
                return False
        if not self.preempts:
            return not slot.in_use or slot.partitionable
        early = knobs.true("NEGOTIATOR_CONSIDER_EARLY_PREEMPTION")
        return early or number(ad.evaluate("RetirementTimeRemaining"), 0) <= 0

    def describe_user(self, slot):
        """Give a slot the attributes of the user of its job (36, 40), with what is in use now."""
        names = ("PreemptingAccountingGroup", "PreemptingUser", "AccountingGroup", "RemoteUser")
        if not self.preempts:
            return
        slot.user = next((user for name in names if (user := slot.ad.string(name))), None)
        if slot.user is None:
            return
        accounts = self.accounts
        values = {
            "RemoteUserPrio": single(accounts.priority(slot.user)),
            "RemoteUserFloor": accounts.floor(slot.user),
            "RemoteUserResourcesInUse": accounts.used(slot.user),
        }
        if self.tree and (group := self.tree.group_of(slot.user)) in self.negotiator.quotas:
            values |= {
                "RemoteGroup": group,
                "RemoteGroupResourcesInUse": accounts.used(group),
                "RemoteGroupQuota": self.negotiator.quotas[group],
            }
        slot.ad = slot.ad.replaced(values)

    def group_context(self, user, negotiating):
        """Return the attributes of groups that a request of a user gets (40, 54)."""
        if not self.tree:
            return {}
        group = self.tree.group_of(user)
        own = self.tree.by_name["" if group == self.tree.root.name else group.lower()]
        return {
            "SubmitterGroup": group,
            "SubmitterGroupResourcesInUse": self.accounts.used(group),
            "SubmitterGroupQuota": own.quota,
            "SubmitterNegotiatingGroup": negotiating,
            "SubmitterAutoregroup": self.tree.regroups and negotiating == self.tree.root.name,
        }

    def _negotiate_for_groups(self, ads):
        tree, knobs = self.tree, self.knobs
        tree.assign_quotas(
            self.quota_weight, oversubscription=knobs.true("NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION")
        )
        tree.ask(ads, weighted=knobs.true("NEGOTIATOR_USE_WEIGHTED_DEMAND"))
        table = [
            {
                "name": group.name,
                "quota": group.quota,
                "config_quota": group.config_quota,
                "static": group.static,
                "accept_surplus": group.accept_surplus,
                "autoregroup": group.autoregroup,
                "usage": self.accounts.used(group.name),
                "requested": group.demand,
                "submitters": len(group.ads),
            }
            for group in tree.all
        ]
        self.groups = {
            "total": self.quota_weight,
            "subtree": {group.name: group.subtree_quota for group in tree.all},
            "assigned": {group.name: group.quota for group in tree.all},
            "table": table,
        }
        rounds = Rounds(self, tree)
        rounds.run()
        self.groups["rounds"] = rounds.records
        self.negotiator.quotas = {group.name: group.quota for group in tree.all}

    def negotiate(self, ads, **group):
        """Share the slots among submitters, those below their floors first (21)."""
        accounts = self.accounts
        if not self.preempts:
            ads[:] = [ad for ad in ads if ad.idle > 0]
        below = [ad for ad in ads if accounts.used(ad.name) < accounts.floor(ad.name)]
        if below:
            Pie(self, below, floor_round=True, **group).run()
        Pie(self, ads, **group).run()

    def claim(self, slot):
        """Return whether a slot can be claimed; without a claim id it is dropped (33)."""
        if slot.claims <= 0:
            self.slots.remove(slot)
        return slot.claims > 0

    def match(self, turn, first, job, candidate, request):
        """Give a slot to a job."""
        slot = candidate.slot
        self.slots.remove(slot)
        turn.ad.jobs.remove(job)
        text = request.evaluate("ConcurrencyLimits", slot.ad)
        limits = text.lower() if isinstance(text, str) else ""
        self.limits.add(limits)
        self.accounts.match(turn.name, slot, limits, self.now)
        match = {**_named(turn, first), "job": job.id, "slot": slot.name}
        if candidate.state != NO_PREEMPTION:
            match["preempts"] = slot.ad.string("RemoteUser")
        self.matches.append(match)

    def reject(self, turn, first, reason):
        """Record that a request was rejected."""
        self.rejections.append(_named(turn, first) | {"reason": reason})

    def expect(self):
        """Return what was decided as in a recorded case."""
        counts = {}
        for each in self.matches:
            counts[each["submitter"]] = counts.get(each["submitter"], 0) + 1
        expect = {
            "counts": counts,
            "matches": self.matches,
            "rejections": self.rejections,
            "pies": self.pies,
            "limits_in_use": {name: amount for name, amount in self.limits_before.items() if amount},
        }
        if self.groups:
            expect["groups"] = self.groups
        return expect


def _named(turn, first):
    return {"submitter": turn.name, "schedd": turn.schedd, "request": first.id}


def _count(slot):
    return number(slot.ad.evaluate("Cpus"), 0) if slot.partitionable else 1
