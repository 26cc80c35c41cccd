"""The ads of a pool (rules 1 to 3), and the queues of its schedds (22)."""

import re
from itertools import groupby

from condor_cases import attribute_ads, job_ads, slot_ads, submitter_values
from negotiator.classad import Ad, parse, unparse
from simple_negotiator.expressions import is_so, number, value_of


class Slot:
    """A slot: its name, ad, weight, and how many claim ids it has."""

    def __init__(self, name, ad, claims, knobs):
        requirements = ad.get("NegotiatorRequirements")
        if requirements is not None:
            ad = ad.replaced({"Requirements": requirements, "SavedRequirements": ad.get("Requirements")})
        self.name, self.ad = name, ad.replaced({"MachineMatchCount": 0})
        self.weight = _weight(ad, knobs)
        self.counted = self.weight * max(0, int(number(ad.evaluate("GhostMultiplier"), 1)))
        self.claims = claims if not (_is(ad, "WantClaiming", False) or _is(ad, "Offline", True)) else 1
        self.in_use = ad.string("State") in ("Claimed", "Preempting")
        self.partitionable = _is(ad, "PartitionableSlot", True)
        self.claimed_whole = self.partitionable and ad.string("State") == "Claimed"
        self.user = None  # that of the running job, if it may be preempted

    def holder(self, knobs):
        """Return the user that the slot's use counts for, None if there is none (8)."""
        suspended = self.ad.string("Activity") == "Suspended"
        if not self.in_use or (suspended and knobs.true("NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES")):
            return None
        return self.ad.string("AccountingGroup") or self.ad.string("RemoteUser")


def _is(ad, name, wanted):
    return ad.boolean(name) is wanted


def _weight(ad, knobs):
    if not knobs.true("NEGOTIATOR_USE_SLOT_WEIGHTS"):
        return 1.0
    weight = ad.evaluate("SlotWeight")
    if knobs.true("FORCE_NEGOTIATOR_SLOT_WEIGHT") or number(weight) is None:
        weight = value_of(knobs.text("SLOT_WEIGHT"), ad)
    weight = number(weight, -1)
    return weight if weight >= 0 else 1.0


def slots_of(content, given, knobs):
    """Return the slots that are read."""
    constraint, without = knobs.text("NEGOTIATOR_SLOT_CONSTRAINT"), given.get("no_private_ad", ())
    addresses, slots = set(), []
    for each in given["slots"]:
        (ad,) = slot_ads(content, [each]).values()
        ad = Ad([("Name", parse(f'"{each["name"]}"')), *ad.items()])
        if constraint is None or is_so(constraint, ad):
            address = (each["name"], ad.string("StartdIpAddr"))
            claims = 0 if each["name"] in without or address in addresses else 1
            addresses.add(address)
            slots.append(Slot(each["name"], ad, claims, knobs))
    return slots


class Submitter:
    """A submitter ad, and the jobs that its schedd has for it, in their order."""

    def __init__(self, each, place):
        (self.ad,) = attribute_ads([submitter_values(each)])
        self.name, self.schedd, self.place = each["name"], each["schedd"], place
        self.idle = self.number("IdleJobs")
        self.jobs = []

    def number(self, attribute):
        """Return a number of the ad, 0 if there is none."""
        return number(self.ad.evaluate(attribute), 0.0)

    def is_read(self, knobs):
        """Return whether the negotiator reads the ad (1)."""
        constraint = knobs.text("NEGOTIATOR_SUBMITTER_CONSTRAINT")
        return (
            not re.search(r"\s", self.name)
            and self.idle + self.number("RunningJobs") > 0
            and not _is(self.ad, "SkipMatchmaking", True)
            and (constraint is None or is_so(constraint, self.ad))
        )

    def requests(self, knobs):
        """Return the requests: jobs next to each other of one autocluster."""
        if knobs.requests_count():
            return [[*jobs] for _, jobs in groupby(self.jobs, key=lambda job: job.autocluster)]
        return [[job] for job in self.jobs]


_IDS = {"clusterid", "procid", "globaljobid", "jobprio"}


class Job:
    """A job: its id, ad and autocluster."""

    def __init__(self, ad):
        self.ad = ad
        self.number = (ad.integer("ClusterId"), ad.integer("ProcId"))
        self.id = "{}.{}".format(*self.number)
        self.autocluster = ad.integer("AutoClusterId")
        if self.autocluster is None:
            own = {name.lower(): unparse(each) for name, each in ad.items()}
            self.autocluster = tuple(sorted((name, text) for name, text in own.items() if name not in _IDS))


def submitters_of(content, given, knobs):
    """Return the submitters that are read, each with its jobs."""
    found = [Submitter(each, place) for place, each in enumerate(given["submitters"])]
    constraint = knobs.text("NEGOTIATOR_JOB_CONSTRAINT")
    for each in found:
        own = [job for job in given["jobs"] if (job["submitter"], job["schedd"]) == (each.name, each.schedd)]
        ads = [ad for ad in job_ads(content, own) if constraint is None or is_so(constraint, ad)]
        jobs = [Job(ad) for ad in ads]
        each.jobs = sorted(jobs, key=lambda job: (-job.ad.integer("JobPrio", 0), job.number))
    return [each for each in found if each.is_read(knobs)]
