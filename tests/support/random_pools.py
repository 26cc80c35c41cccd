"""Pools drawn at random, in the form of recorded cases."""

from hypothesis import strategies as st

NOW = 1_800_000_000
REQUIREMENTS = 'TARGET.Arch == "X86_64" && TARGET.Memory >= RequestMemory && TARGET.Cpus >= RequestCpus'
CONTENT = {
    "templates": {
        "slot": {
            "MyType": '"Machine"',
            "State": '"Unclaimed"',
            "Activity": '"Idle"',
            "Arch": '"X86_64"',
            "SlotID": 1,
            "Start": True,
            "Requirements": "MY.Start",
            "Rank": 0.0,
            "CurrentRank": 0.0,
            "SlotWeight": "Cpus",
            "StartdIpAddr": '"<10.0.0.1:9618>"',
        },
        "pslot": {
            "PartitionableSlot": True,
            "Requirements": "MY.Start && TARGET.RequestCpus <= MY.Cpus",
        },
        "job": {
            "MyType": '"Job"',
            "RequestCpus": 1,
            "RequestMemory": 100,
            "Rank": 0.0,
            "Requirements": REQUIREMENTS,
            "JobPrio": 0,
        },
    }
}

FLAT = ("alice", "bob", "carol", "dave", "nice-user.fred")
GROUPED = ("a.u", "a.v", "a.x.u", "a.x.m.v", "b.u", "b.v", "b.y.u", "c.u", "alice", "A.u")
GROUPS = ("a", "b", "c", "a.x", "b.y", "a.x.m")
LIMITS = ('"lic"', '"db"', '"lic:2"', '"db, lic"', '"lic,lic"', '""', "TARGET.License", "undefined")


def optional(draw, values, often=3):
    """Return one of the values, or None with a chance of ``often`` in ``often + 1``."""
    return draw(st.sampled_from(values)) if draw(st.integers(0, often)) == often else None


def put(draw, ad, name, values, often=3):
    """Perhaps give an ad an attribute."""
    value = optional(draw, values, often)
    if value is not None:
        ad[name] = value


@st.composite
def unstable_pools(draw, *, grouped):
    """Return a pool whose rules of preemption read what changes with each match, and are tested again for each."""
    requirements = (
        "TARGET.SubmitterUserResourcesInUse < 3",
        "int(TARGET.SubmitterUserResourcesInUse) % 3 != SlotID % 3",
        "TARGET.SubmitterUserResourcesInUse < 5 || RemoteUserPrio > TARGET.SubmitterUserPrio",
        "TARGET.SubmitterGroupResourcesInUse < TARGET.SubmitterGroupQuota",
        "true",
    )
    ranks = (
        "SlotID % (int(TARGET.SubmitterUserResourcesInUse) + 2)",
        "RemoteUserResourcesInUse > TARGET.SubmitterUserResourcesInUse",
        "TARGET.SubmitterGroupResourcesInUse * (SlotID - 4)",
    )
    knobs = {
        "PREEMPTION_REQUIREMENTS": draw(st.sampled_from(requirements[: None if grouped else 3])),
        "PREEMPTION_RANK": draw(st.sampled_from(ranks[: None if grouped else 2])),
        "NEGOTIATOR_PRE_JOB_RANK": draw(st.sampled_from(("0", "-Cpus", "RemoteOwner =?= undefined"))),
        "NEGOTIATOR_POST_JOB_RANK": "0",
    }
    put(draw, knobs, "PREEMPTION_REQUIREMENTS_STABLE", ("false",), 1)
    put(draw, knobs, "PREEMPTION_RANK_STABLE", ("false",), 1)
    pool = draw(pools(grouped=grouped))
    pool["knobs"] = {**pool["knobs"], "NEGOTIATOR_CONSIDER_PREEMPTION": "true", **knobs}
    return pool


@st.composite
def pools(draw, *, grouped):
    """Return a pool: what a recorded case has as ``given``."""
    users = [f"{name}@d" for name in draw(_some(GROUPED if grouped else FLAT, 1, 6))]
    slots = [_slot(draw, number, users) for number in range(draw(st.integers(0, 10)))]
    jobs = _jobs(draw, users)
    knobs = _knobs(draw) | (_group_knobs(draw) if grouped else {})
    return {
        "now": NOW,
        "knobs": knobs,
        "slots": slots,
        "submitters": _submitters(draw, users, jobs, slots),
        "jobs": jobs,
        "accounting": _accounting(draw, users),
    }


def _some(values, least, most):
    return st.lists(st.sampled_from(values), min_size=least, max_size=most, unique_by=str.lower)


def _slot(draw, number, users):
    slot = {
        "name": f"slot1@n{number:02}",
        "SlotID": number + 1,
        "Cpus": draw(st.sampled_from((1, 1, 2, 4, 8))),
        "Memory": draw(st.sampled_from((512, 1024, 2048))),
        "KFlops": draw(st.sampled_from((100, 200, 300))),
    }
    put(draw, slot, "SlotWeight", (1.5, 0, -1, "Memory / 1024.0", "undefined", 0.3), 5)
    put(
        draw,
        slot,
        "Rank",
        ('(TARGET.Owner == "u") * 2', "TARGET.RequestMemory > 300", "TARGET.Boss =?= true"),
    )
    put(draw, slot, "Arch", ('"ARM"',), 7)
    put(draw, slot, "partitionable", (True,), 4)
    put(draw, slot, "License", ('"lic"', '"db"'))
    put(draw, slot, "NegotiatorRequirements", ("Start && Memory > 600",), 9)
    put(draw, slot, "WantMatching", (False,), 19)
    put(draw, slot, "Offline", (True,), 19)
    put(draw, slot, "GhostMultiplier", (5, 2.5, "undefined"), 19)
    state = draw(st.sampled_from(("Unclaimed",) * 4 + ("Claimed",) * 4 + ("Preempting", "Matched", "Owner")))
    if state in ("Claimed", "Preempting"):
        slot |= _claim(draw, users)
        state = "Claimed" if "partitionable" in slot else state
    if state == "Owner":
        slot["Start"] = False
    return slot | {"State": f'"{state}"'}


def _claim(draw, users):
    user = f'"{draw(st.sampled_from(users))}"'
    claim = {
        "Activity": '"Busy"',
        "RemoteUser": user,
        "RemoteOwner": user,
        "CurrentRank": draw(st.sampled_from((0.0, 0.0, 1.0, 3.0))),
        "TotalJobRuntime": draw(st.sampled_from((10, 2000))),
    }
    if draw(st.integers(0, 19)) == 19:
        del claim["RemoteUser"]
    put(draw, claim, "RemoteScheddName", ('"s1.example.org"', '"s2.example.org"'), 4)
    put(draw, claim, "Activity", ('"Suspended"',), 7)
    put(draw, claim, "AccountingGroup", [f'"{each}"' for each in users], 7)
    put(draw, claim, "PreemptingUser", [f'"{each}"' for each in users], 7)
    put(draw, claim, "PreemptingRank", (0.0, 2.0), 9)
    put(draw, claim, "RetirementTimeRemaining", (0, 60), 5)
    put(draw, claim, "ConcurrencyLimits", LIMITS[:4])
    put(draw, claim, "PreemptingConcurrencyLimits", LIMITS[:4], 9)
    return claim


def _jobs(draw, users):
    jobs, autoclusters = [], {}
    for cluster in range(1, draw(st.integers(1, 9)) + 1):
        own = {}
        put(draw, own, "RequestCpus", (1, 2, 4, 0), 1)
        put(draw, own, "RequestMemory", (400, 900, 1500), 1)
        put(draw, own, "Rank", ("TARGET.Memory", "-TARGET.Memory", "TARGET.Cpus > 1", "TARGET.None"), 1)
        put(draw, own, "ConcurrencyLimits", LIMITS)
        put(draw, own, "Boss", (True,))
        put(draw, own, "Requirements", ("TARGET.Cpus - 1", "TARGET.None", "TARGET.SlotID % 2 == 1"), 9)
        autocluster = autoclusters.setdefault(tuple(own.items()), len(autoclusters) + 1)
        put(draw, own, "JobPrio", (-1, 1, 2), 1)
        place = {
            "submitter": draw(st.sampled_from(users)),
            "schedd": draw(st.sampled_from(("s1", "s1", "s2"))),
            "cluster": cluster,
            "count": draw(st.integers(1, 6)),
            "autocluster": autocluster,
        }
        jobs.append(place | own)
    return jobs


def _submitters(draw, users, jobs, slots):
    queues = dict.fromkeys((job["submitter"], job["schedd"]) for job in jobs)
    queues |= dict.fromkeys((user, "s1") for user in users if draw(st.integers(0, 9)) == 0)
    order = draw(st.permutations([*queues]))
    submitters = []
    for user, schedd in order:
        own = [job for job in jobs if (job["submitter"], job["schedd"]) == (user, schedd)]
        idle = sum(job["count"] for job in own)
        running = sum(slot.get("RemoteUser") == f'"{user}"' for slot in slots)
        submitter = {
            "name": user,
            "schedd": schedd,
            "idle": draw(st.sampled_from((idle, idle, idle, idle, 0, idle + 2))),
            "running": running,
            "weighted_idle": float(sum(job["count"] * job.get("RequestCpus", 1) for job in own)),
            "weighted_running": float(running),
            "last_heard_from": NOW - draw(st.integers(0, 1500)),
        }
        ad = {}
        put(draw, ad, "SkipMatchmaking", (True,), 29)
        submitters.append(submitter | ({"ad": ad} if ad else {}))
    return submitters


def _accounting(draw, users):
    customers = {}
    for user in users:
        row = customers[user] = {
            "Priority": draw(st.sampled_from((0.5, 0.5, 0.1, 1.0, 2.5, 17.123457, 160.0))),
            "PriorityFactor": draw(st.sampled_from((1000.0, 1000.0, 500.0, 10000.0, 0.5))),
        }
        put(draw, row, "Floor", (1, 3, 5), 4)
        put(draw, row, "Ceiling", (0, 1, 2, 5, -1), 4)
        if draw(st.integers(0, 4)) == 0:
            row |= {"AccumulatedUsage": 12345.0, "WeightedAccumulatedUsage": 54321.5}
        if draw(st.integers(0, 9)) == 0:
            row |= {"CeilingLeaseExpiration": draw(st.sampled_from((NOW - 5, NOW + 5)))}
            row |= {"CeilingPreLeaseValue": 3, "Ceiling": 1}
    put(draw, customers, draw(st.sampled_from(users)), ({"Priority": 3.0, "PriorityFactor": 1000.0},), 2)
    return {"last_update": NOW - draw(st.sampled_from((0, 60, 3600, 100_000))), "customers": customers}


def _knobs(draw):
    knobs = {}
    put(draw, knobs, "NEGOTIATOR_CONSIDER_PREEMPTION", ("false",), 2)
    put(
        draw,
        knobs,
        "PREEMPTION_REQUIREMENTS",
        (
            "true",
            "1",
            "RemoteUserPrio > TARGET.SubmitterUserPrio",
            "TotalJobRuntime > 1000",
            "TARGET.SubmitterUserResourcesInUse < 3",
            "RemoteUserResourcesInUse < 3",
            "RemoteUserResourcesInUse > 2 && TARGET.SubmitterUserResourcesInUse < RemoteUserResourcesInUse",
        ),
        1,
    )
    put(draw, knobs, "PREEMPTION_RANK", ("-TotalJobRuntime", "RemoteUserPrio"))
    put(draw, knobs, "NEGOTIATOR_PRE_JOB_RANK", ("0", "-Cpus", "RemoteOwner =?= undefined"), 1)
    put(draw, knobs, "NEGOTIATOR_POST_JOB_RANK", ("KFlops", "undefined", "KFlops > 150"), 2)
    put(draw, knobs, "NEGOTIATOR_USE_SLOT_WEIGHTS", ("false",), 5)
    put(draw, knobs, "FORCE_NEGOTIATOR_SLOT_WEIGHT", ("true",), 15)
    put(draw, knobs, "SLOT_WEIGHT", ("Memory / 512.0",), 9)
    put(draw, knobs, "USE_RESOURCE_REQUEST_COUNTS", ("false",), 5)
    put(draw, knobs, "NEGOTIATOR_RESOURCE_REQUEST_LIST_SIZE", ("1", "3"), 9)
    put(draw, knobs, "NEGOTIATOR_DEPTH_FIRST", ("true",), 5)
    put(draw, knobs, "NEGOTIATOR_MATCHLIST_CACHING", ("false",), 5)
    put(draw, knobs, "NEGOTIATOR_CONSIDER_EARLY_PREEMPTION", ("true",), 5)
    put(draw, knobs, "NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES", ("true",), 5)
    put(draw, knobs, "NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT", ("Memory > 600", "Memory > 9000"), 9)
    put(draw, knobs, "NEGOTIATOR_SLOT_CONSTRAINT", ("Memory > 600",), 19)
    put(draw, knobs, "NEGOTIATOR_IGNORE_USER_PRIORITIES", ("true",), 19)
    put(draw, knobs, "PRIORITY_HALFLIFE", ("600", "1000000"))
    put(draw, knobs, "DEFAULT_PRIO_FACTOR", ("10", "5000"), 9)
    put(draw, knobs, "ACCOUNTANT_LOCAL_DOMAIN", ("d", "e"), 9)
    put(draw, knobs, "LIC_LIMIT", ("0", "1", "3", "2.5"), 1)
    put(draw, knobs, "DB_LIMIT", ("0", "1", "3"), 1)
    put(draw, knobs, "CONCURRENCY_LIMIT_DEFAULT", ("1", "4"), 5)
    return knobs


def _group_knobs(draw):
    names = draw(_some(GROUPS, 1, 6))
    knobs = {"GROUP_NAMES": ", ".join(names)}
    for name in names:
        static = draw(st.booleans())
        quotas = ("0", "1", "2.5", "4", "12") if static else ("0.1", "0.25", "0.5", "0.75", "0")
        put(draw, knobs, f"GROUP_QUOTA_{name}" if static else f"GROUP_QUOTA_DYNAMIC_{name}", quotas, 0)
        put(draw, knobs, f"GROUP_ACCEPT_SURPLUS_{name}", ("true", "false"), 1)
        put(draw, knobs, f"GROUP_AUTOREGROUP_{name}", ("true", "false"), 4)
        put(draw, knobs, f"GROUP_PRIO_FACTOR_{name}", ("10",), 9)
    put(draw, knobs, "GROUP_ACCEPT_SURPLUS", ("true",), 2)
    put(draw, knobs, "GROUP_AUTOREGROUP", ("true",), 5)
    put(draw, knobs, "NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION", ("false",))
    put(draw, knobs, "NEGOTIATOR_STRICT_ENFORCE_QUOTA", ("false",))
    put(draw, knobs, "NEGOTIATOR_USE_WEIGHTED_DEMAND", ("false",))
    put(draw, knobs, "GROUP_QUOTA_MAX_ALLOCATION_ROUNDS", ("1", "2", "5"), 3)
    put(draw, knobs, "GROUP_QUOTA_ROUND_ROBIN_RATE", ("1", "2.5"), 4)
    put(draw, knobs, "GROUP_SORT_EXPR", ("GroupQuota", "-GroupResourcesAllocated", "undefined"), 4)
    put(
        draw,
        knobs,
        "PREEMPTION_REQUIREMENTS",
        (
            "TARGET.SubmitterGroupResourcesInUse < TARGET.SubmitterGroupQuota",
            "RemoteGroupResourcesInUse > RemoteGroupQuota",
        ),
        4,
    )
    return knobs


@st.composite
def runs(draw, *, grouped):
    """Return a pool and what happens between its cycles: seconds, and numbers that choose which claims fail and end."""
    pool = draw(pools(grouped=grouped))
    seconds = st.sampled_from((0, 20, 600, 90_000))
    bits = st.integers(0, 2**12 - 1)
    return pool, draw(st.lists(st.tuples(seconds, bits, bits), min_size=1, max_size=3))


def after(pool, matches, event):
    """Return the pool at its next cycle: some matches became claims, and some jobs ended."""
    seconds, failed, ended = event
    slots = [_unclaimed(slot) if ended >> place & 1 else slot for place, slot in enumerate(pool["slots"])]
    started = [match for place, match in enumerate(matches) if not failed >> place & 1]
    claims = {match["slot"]: match for match in started}
    # That a slot may still be in state Matched is known from the journal, which these runs leave out.
    gone = {match["slot"] for match in matches} - claims.keys()
    slots = [
        slot | {"State": '"Unclaimed"'} if slot["name"] in gone and slot["State"] == '"Matched"' else slot
        for slot in slots
    ]
    slots = [_claimed(slot, claims.get(slot["name"]), pool["jobs"]) for slot in slots]
    jobs = [_without(job, {match["job"] for match in started}) for job in pool["jobs"]]
    now = pool["now"] + seconds
    submitters = [_counted(each, jobs, slots) for each in pool["submitters"]]
    return pool | {"now": now, "slots": slots, "jobs": jobs, "submitters": submitters}


def _unclaimed(slot):
    if slot["State"] not in ('"Claimed"', '"Preempting"'):
        return slot
    own = ("Cpus", "Memory", "KFlops", "SlotWeight", "Rank", "Arch", "partitionable", "License", "name")
    return {name: slot[name] for name in own if name in slot} | {"State": '"Unclaimed"'}


def _claimed(slot, match, jobs):
    if match is None or "partitionable" in slot:
        return slot
    job = next(job for job in jobs if job["cluster"] == int(match["job"].partition(".")[0]))
    user = f'"{match["submitter"]}"'
    claim = {"RemoteUser": user, "RemoteOwner": user, "CurrentRank": 0.0, "TotalJobRuntime": 10}
    if job.get("ConcurrencyLimits") in LIMITS[:4]:
        claim["ConcurrencyLimits"] = job["ConcurrencyLimits"]
    return _unclaimed(slot) | claim | {"State": '"Claimed"', "Activity": '"Busy"'}


def _without(job, started):
    waiting = job.get("procs", range(job["count"]))
    return job | {"procs": [proc for proc in waiting if f"{job['cluster']}.{proc}" not in started]}


def _counted(submitter, jobs, slots):
    mine = [job for job in jobs if all(job[key] == submitter[name] for key, name in _QUEUE.items())]
    running = sum(slot.get("RemoteUser") == f'"{submitter["name"]}"' for slot in slots)
    return submitter | {"idle": sum(len(job["procs"]) for job in mine), "running": running}


_QUEUE = {"submitter": "name", "schedd": "schedd"}
