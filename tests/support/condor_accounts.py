"""The accounts of recorded pools: those that a cycle begins with, and its claimed slots and matches in them."""

import re

import fair_share
from condor_cases import slot_ads, value_of
from negotiator.classad import Environment, Table, is_true
from negotiator_fairshare.accounts import Accounts, AccountSettings, ResourceRecord, UseCounter
from negotiator_fairshare.accounts.accounts import INTEGERS, REALS, record_of
from negotiator_fairshare.groups.settings import ConfiguredGroup
from negotiator_fairshare.groups.tree import GroupTree

IN_USE = ("Claimed", "Preempting")


def settings_of(knobs):
    """Return the settings of accounts of the knobs of a case."""
    tree = GroupTree.of_groups(
        [ConfiguredGroup(name) for name in re.split("[, ]+", knobs.get("GROUP_NAMES", "")) if name]
    )
    prefix = "GROUP_PRIO_FACTOR_"
    return AccountSettings(
        halflife=float(knobs.get("PRIORITY_HALFLIFE", 86400)),
        default_factor=float(knobs.get("DEFAULT_PRIO_FACTOR", 1000)),
        nice_factor=float(knobs.get("NICE_USER_PRIO_FACTOR", 1e10)),
        remote_factor=float(knobs.get("REMOTE_PRIO_FACTOR", 1e7)),
        local_domain=knobs.get("ACCOUNTANT_LOCAL_DOMAIN", ""),
        group_factors={
            name[len(prefix) :]: float(value) for name, value in knobs.items() if name.startswith(prefix)
        },
        group_of=tree.group_of,
        groups=tuple(tree.nodes),
    )


def slots_read(ads, constraint):
    """Return the ads of slots, by name, that NEGOTIATOR_SLOT_CONSTRAINT admits."""
    return {name: ad for name, ad in ads.items() if not constraint or is_true(value_of(ad, constraint))}


def weights_of(ads, knobs):
    """Return the weights of slots by name."""
    scale = fair_share.settings_of(knobs).weight_scale(Environment())
    return dict(zip(ads, scale.of(Table.from_ads(ads.values())).tolist(), strict=True))


def accounts_of(given):
    """Return the accounts of a case, as the negotiator has them when it starts."""
    accounting, now = given.get("accounting", {}), given["now"]
    records = {}
    for name, row in accounting.get("customers", {}).items():
        known = {key: value for key, value in row.items() if key in {*INTEGERS, *REALS}}
        records[name] = record_of(known, {})
    resources = {
        key: ResourceRecord(row["RemoteUser"], float(row["SlotWeight"]), row["StartTime"])
        for key, row in (accounting.get("resources") or {}).items()
        if "RemoteUser" in row
    }
    accounts = Accounts(records=records, resources=resources, last_update=accounting.get("last_update", now))
    return accounts.reconciled(settings_of(given.get("knobs", {})))


def weights_are_known(content, case):
    """Return whether the weight of each match is known: that of one of many equal slots is if all weigh as much."""
    if all(match["slot"] for match in case.get("expect", {}).get("matches", ())):
        return True
    given = case["given"]
    return len({*weights_of(slot_ads(content, given["slots"]), given.get("knobs", {})).values()}) == 1


class RecordedCycle:
    """One negotiation cycle of a case: its slots, and the weights and users of those in use."""

    def __init__(self, content, given, slots):
        self.knobs = given.get("knobs", {})
        self.settings = settings_of(self.knobs)
        constraint = self.knobs.get("NEGOTIATOR_SLOT_CONSTRAINT")
        self.slots = slots_read(slot_ads(content, slots), constraint)
        self.weights = weights_of(self.slots, self.knobs)

    def weight(self, name):
        """Return the weight of a slot."""
        return self.weights[name]

    def user(self, name):
        """Return the user of a slot in use, None of any other slot."""
        ad = self.slots[name]
        if value_of(ad, "MY.State") not in IN_USE:
            return None
        discounted = self.knobs.get("NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES", "false").lower() == "true"
        if discounted and value_of(ad, "MY.Activity") == "Suspended":
            return None
        user = value_of(ad, "MY.AccountingGroup")
        user = user if isinstance(user, str) else value_of(ad, "MY.RemoteUser")
        return user if isinstance(user, str) else None

    def claimed(self):
        """Return the users of the slots in use."""
        return {name: user for name in self.slots if (user := self.user(name)) is not None}

    def any_slot(self, in_use):
        """Return a slot for a match whose slot was not recorded, since it was one of many equals."""
        return next(name for name in self.slots if name not in in_use)

    def after(self, accounts, now, submitters, matches):
        """Return the accounts after this cycle: updated, with the slots in use, the submitters and the matches."""
        use = UseCounter(self.settings.group_of)
        in_use = self.claimed()
        for name, user in in_use.items():
            use.add(user, self.weight(name))
        for match in matches:
            slot = match["slot"] or self.any_slot(in_use)
            use.add(match["submitter"], self.weight(slot))
            in_use[slot] = match["submitter"]
        accounts = (
            accounts.updated(now, self.settings)
            .recounted(use)
            .seen([*use.names(), *submitters], self.settings)
        )
        matched = [name for name in self.slots if value_of(self.slots[name], "MY.State") == "Matched"]
        resources = {name: ResourceRecord(user, self.weight(name), now) for name, user in in_use.items()}
        return accounts.with_resources(resources, matched)
