"""Replay the groups of a recorded case: what happened inside the turns is as recorded, all else is computed."""

import math
from collections import Counter

from condor_accounts import slots_read, weights_of
from condor_cases import slot_ads, value_of
from fair_share import settings_of
from negotiator.classad import is_true
from negotiator_fairshare.group_turns import GroupsRecord
from negotiator_fairshare.groups.quotas import assign_quotas
from negotiator_fairshare.groups.rounds import NegotiationRounds, SubmitterDemand, demand_of_groups


def differences(content, case):
    """Return a line for each number of ``expect.groups`` of a case that differs, given the contents of its file."""
    return list(_Replay(content, case).differences())


def record_differences(expected, record):
    """Yield a line for each number of ``expect.groups`` of a case that differs in the record of a cycle."""
    yield from _compare("total", expected["total"], record.total)
    for row in expected["table"]:
        name = row["name"]
        found = {
            "quota": record.quotas.assigned[name],
            "usage": record.usage[name],
            "requested": record.demand[name].requested,
            "submitters": len(record.demand[name].submitters),
        }
        for key, value in found.items():
            yield from _compare(f"table: {name} {key}", row[key], value)
    for what, found in (("subtree", record.quotas.subtree), ("assigned", record.quotas.assigned)):
        for name, value in found.items():
            yield from _compare(f"{what} {name}", expected.get(what, {}).get(name, 0), value)
    yield from _compare("rounds", len(expected["rounds"]), len(record.rounds))
    for number, (row, each) in enumerate(zip(expected["rounds"], record.rounds, strict=False)):
        for line in _round(row, each):
            yield f"round {number + 1}: {line}"


class _Replay:
    def __init__(self, content, case):
        self.knobs = {name: str(text) for name, text in case["given"]["knobs"].items()}
        self.expected = case["expect"]["groups"]
        groups = settings_of(self.knobs).groups
        self.settings, self.tree = groups.settings, groups.tree
        self.ads = [_demand(each) for each in case["given"]["submitters"] if _takes_part(each)]
        self.demand = demand_of_groups(self.tree, self.ads, weighted=self.settings.weighted_demand)
        ads = slot_ads(content, case["given"]["slots"])
        self.slots = slots_read(ads, self.knobs.get("NEGOTIATOR_SLOT_CONSTRAINT"))
        self.weights = weights_of(self.slots, self.knobs)
        self.total = self._total()
        self.quotas = assign_quotas(self.tree, self.total, oversubscription=self.settings.oversubscription)
        self.usage = self._usage_before()
        self.matches = iter(case["expect"]["matches"])
        self.pies = iter(case["expect"]["pies"])

    def _total(self):
        constraint = self.knobs.get("NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT")
        counted = {
            name: ad
            for name, ad in self.slots.items()
            if constraint is None or is_true(value_of(ad, constraint))
        }
        if self.settings.slot_weights:
            return sum(self.weights[name] for name in counted)
        return sum(ad.integer("Cpus") if ad.boolean("PartitionableSlot") else 1 for ad in counted.values())

    def _usage_before(self):
        usage = Counter()
        discounts = self.knobs.get("NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES", "false").lower() == "true"
        for name, ad in self.slots.items():
            user = ad.string("AccountingGroup") or ad.string("RemoteUser")
            suspended = discounts and ad.string("Activity") == "Suspended"
            if ad.string("State") in ("Claimed", "Preempting") and user and not suspended:
                usage[self.tree.group_of(user)] += self.weights[name]
        return usage

    def differences(self):
        before = dict(self.usage)
        rounds = NegotiationRounds(self.settings, self.tree, self.quotas, self.demand, self.usage)
        yield from self._configured()
        try:
            while (turn := rounds.next_turn()) is not None:
                usage, done = self._recorded_turn(turn)
                rounds.end_turn(usage=usage, done=done)
        except StopIteration:
            yield "more turns than recorded"
        if next(self.pies, None) is not None:
            yield "fewer turns than recorded"
        usage = {name: before.get(name, 0) for name in self.tree.nodes}
        found = GroupsRecord(self.total, self.quotas, self.demand, usage, rounds.records)
        yield from record_differences(self.expected, found)

    def _configured(self):
        for row in self.expected["table"]:
            name = row["name"]
            group = self.tree.nodes[name].group
            found = {
                "config_quota": group.quota,
                "static": group.static,
                "accept_surplus": group.accept_surplus,
                "autoregroup": group.autoregroup,
            }
            for key, value in found.items():
                yield from _compare(f"table: {name} {key}", row[key], value)

    def _recorded_turn(self, turn):
        """Return what happened in a turn: the use of groups after it, and the ads that are done."""
        pies = [next(self.pies)]
        if pies[0].get("floor_round"):
            pies.append(next(self.pies))
        done = set()
        for pie in pies:
            assert pie["group"] == turn.group, (pie["group"], turn.group)
            for spin in pie["spins"]:
                for submitter in spin["submitters"]:
                    for _ in range(submitter.get("matched", 0)):
                        self._match(next(self.matches))
                    # Who is done in the round up to the floors takes part in the other one.
                    if submitter.get("result") == "done" and not pie.get("floor_round"):
                        done |= {i for i in turn.submitters if self.ads[i].name == submitter["name"]}
        return dict(self.usage), done

    def _match(self, match):
        slot = match["slot"] or next(iter(self.slots))
        self.usage[self.tree.group_of(match["submitter"])] += self.weights[slot]


def _takes_part(submitter):
    return submitter["idle"] + submitter["running"] > 0 and " " not in submitter["name"]


def _demand(submitter):
    return SubmitterDemand(
        submitter["name"],
        submitter["idle"],
        submitter["running"],
        submitter["weighted_idle"],
        submitter["weighted_running"],
    )


def _round(expected, record):
    found = {
        "surplus": record.surplus,
        "maxdelta": record.largest_shortfall,
        "total_allocated": record.allocated,
        "total_usage": record.used,
    }
    for key, value in found.items():
        yield from _compare(key, expected[key], value)
    for name, row in expected["allocated"].items():
        group = record.allocations[name]
        for key in ("quota", "requested", "allocated", "unallocated"):
            yield from _compare(f"{name} {key}", row[key], getattr(group, key))
    yield from _compare("groups", list(expected["allocated"]), list(record.allocations))
    yield from _compare("steps", expected["rr_iterations"], list(record.steps))
    order = [list(each) for each in record.order] * len(record.steps)
    yield from _compare("order", expected["order"], order)
    negotiated = [[turn.group, turn.computed_limit] for turn in record.turns]
    yield from _compare("negotiated", expected["negotiated"], negotiated)
    yield from _compare(
        "skipped", expected["skipped"], {name: str(why) for name, why in record.skipped.items()}
    )
    constraints = [
        {"by": c.constrained_by, "usage": c.usage, "config_quota": c.quota, "group": c.group, "to": c.limit}
        for c in record.constraints
    ]
    yield from _compare("constrained", expected.get("constrained", []), constraints)


def _compare(what, expected, found):
    if not _equal(expected, found):
        yield f"{what}: expected {expected}, found {found}"


def _equal(expected, found):
    if isinstance(expected, dict):
        return expected.keys() == found.keys() and all(_equal(expected[k], found[k]) for k in expected)
    if isinstance(expected, list):
        return len(expected) == len(found) and all(map(_equal, expected, found))
    if expected == "-nan":
        return math.isnan(found)
    if isinstance(expected, float | int) and not isinstance(expected, bool):
        return abs(expected - found) <= 6e-6 * max(abs(expected), abs(found), 1e-3)
    return expected == found
