"""Partitionable slot preemption under ``order: submitters``: the jobs of several dynamic slots end for one match of their slot."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fair_share import FAIR, submitter
from negotiator.plugin import EndedSlot
from pools import cycle, job, matched, reasons, slot, snapshot, used, write_bundle

ALLOWED = "ALLOW_PSLOT_PREEMPTION = true\n"
BY_PRIORITY = ALLOWED + "PREEMPTION_REQUIREMENTS = TARGET.SubmitterUserPrio < MY.RemoteUserPrio\n"
FITS = "TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory"
#: A job has two licences, or as many as it says; there are eight.
LICENCES = """
from negotiator.plugin import Charge, Quota, hookimpl

@hookimpl
def negotiator_charges(request):
    yield Charge(("licence",), request.ad.integer("Licences") or 2, 8, Quota(rule="licence", text="the licence"))
"""
MACHINE = {"MachineResources": '"Cpus Memory Disk Swap GPUs"', "MyAddress": '"<10.0.0.1:9618>"'}


def divided(machine, cpus, memory=8000, **changed):
    """Return a partitionable slot with so much left."""
    own = {
        "Name": f'"slot1@h{machine}"', "Machine": f'"h{machine}"', "PartitionableSlot": "true", "SlotID": "1",
        "Cpus": str(cpus), "Memory": str(memory), "TotalSlotCpus": "64", "TotalSlotMemory": "64000",
        "Rank": "TARGET.Wanted ?: 0", "GPUs": "0", "SlotWeight": "Cpus",
    }  # fmt: skip
    return slot(machine, **(MACHINE | own | changed))


def dynamic(machine, number, user, cpus, rank=0.0, memory=1000, **changed):
    """Return a dynamic slot that runs a job of a user."""
    own = {
        "Name": f'"slot1_{number}@h{machine}"', "Machine": f'"h{machine}"', "DynamicSlot": "true", "SlotID": "1",
        "DSlotID": str(number), "PslotRollupInformation": "true", "State": '"Claimed"', "RemoteUser": f'"{user}@d"',
        "RemoteOwner": f'"{user}@d"', "JobId": f'"9{number}.0"', "CurrentRank": str(rank), "Cpus": str(cpus),
        "Memory": str(memory), "Rank": "TARGET.Wanted ?: 0", "GPUs": "0",
    }  # fmt: skip
    return slot(number, **(MACHINE | own | changed))


def waiting(name, cpus, count=1, cluster=1, memory=100, **changed):
    own = {
        "Owner": f'"{name}"', "User": f'"{name}@d"', "Requirements": FITS, "RequestCpus": str(cpus),
        "RequestMemory": str(memory), "ClusterId": str(cluster), "AutoClusterId": str(cluster),
    }  # fmt: skip
    return [
        job(number, GlobalJobId=f'"h#{cluster}.{number}#1"', **(own | changed)) for number in range(count)
    ]


def run(tmp_path, slots, jobs, conf=BY_PRIORITY, yaml=""):
    names = dict.fromkeys(each.string("Owner") for each in jobs)
    found = snapshot(slots, jobs, submitters=[submitter(name) for name in names])
    return cycle(found, write_bundle(tmp_path / "b", FAIR + yaml, conf=conf))


def ended(result):
    """Return, by job, the slot that it got, why, and the numbers of the dynamic slots whose jobs end."""
    return {
        match.job: (match.slot, match.preempts.by, [each.slot.split("@")[0] for each in match.preempts.slots])
        for match in result.matches
        if match.preempts
    }


NICE = [dynamic(0, number, "nice-user.bob", 2) for number in (1, 2, 3, 4)]


def test_jobs_of_several_dynamic_slots_end_for_one_that_needs_them_together(tmp_path):
    result = run(tmp_path, [divided(0, 0), *NICE], waiting("ann", 5))
    assert ended(result) == {"1.0": ("slot1@h0", "priority", ["slot1_1", "slot1_2", "slot1_3"])}
    (match,) = result.matches
    assert match.preempts.user == "nice-user.bob@d"
    assert match.preempts.slots[0] == EndedSlot("slot1_1@h0", "nice-user.bob@d", "91.0")
    shown = [match.slot_ad.evaluate(name) for name in ("Cpus", "Memory", "GPUs", "RemoteUser")]
    assert shown == [6, 11000, 0, "various_dSlot_users"]


CASES = {
    "what is left counts": ([divided(0, 3), *NICE], 5, ["slot1_1"]),
    "one that is large enough comes after smaller ones": (
        [divided(0, 0), dynamic(0, 1, "nice-user.bob", 1), dynamic(0, 2, "nice-user.bob", 4)],
        4,
        ["slot1_1", "slot1_2"],
    ),
    "numbers of dynamic slots, not their names or places": (
        [divided(0, 0), dynamic(0, 10, "nice-user.bob", 2), dynamic(0, 9, "nice-user.bob", 2)],
        2,
        ["slot1_9"],
    ),
    "all together are not enough": ([divided(0, 0), *NICE], 9, None),
    "own jobs go on": ([divided(0, 0), dynamic(0, 1, "ann", 4), dynamic(0, 2, "nice-user.bob", 2)], 4, None),
    "own jobs are left out": (
        [divided(0, 2), dynamic(0, 1, "ann", 4), dynamic(0, 2, "nice-user.bob", 2)],
        4,
        ["slot1_2"],
    ),
    "jobs of better priority are left out": (
        [divided(0, 2), dynamic(0, 1, "eve", 4), dynamic(0, 2, "nice-user.bob", 2)],
        4,
        ["slot1_2"],
    ),
    "a job that the slot likes more goes on": (
        [divided(0, 2), dynamic(0, 1, "nice-user.bob", 4, rank=1.0), dynamic(0, 2, "nice-user.bob", 2)],
        4,
        ["slot1_2"],
    ),
    "a job with retirement time left goes on": (
        [divided(0, 2), dynamic(0, 1, "nice-user.bob", 2, RetirementTimeRemaining="9"), NICE[1]],
        4,
        ["slot1_2"],
    ),
    "a job that ends already is left out": (
        [divided(0, 2), dynamic(0, 1, "nice-user.bob", 2, State='"Preempting"'), NICE[1]],
        4,
        ["slot1_2"],
    ),
    "slots of another machine do not help": (
        [divided(0, 2), divided(1, 0), dynamic(1, 1, "nice-user.bob", 2)],
        4,
        None,
    ),
    "a free slot that is enough ends none": ([divided(0, 4), *NICE], 4, []),
}


@pytest.mark.parametrize(("slots", "cpus", "expected"), CASES.values(), ids=CASES)
def test_which_dynamic_slots_end_by_priority(tmp_path, slots, cpus, expected):
    result = run(tmp_path, slots, waiting("ann", cpus))
    found = [match.preempts.slots if match.preempts else () for match in result.matches]
    assert [[each.slot.split("@")[0] for each in slots] for slots in found] == (
        [] if expected is None else [expected]
    )


def test_by_rank_the_least_liked_job_ends_first_whosever_it_is(tmp_path):
    slots = [
        divided(0, 2),
        dynamic(0, 1, "ann", 2, rank=5.0),
        dynamic(0, 2, "eve", 2, rank=1.0),
        dynamic(0, 3, "ann", 2, rank=3.0),
    ]
    result = run(tmp_path, slots, waiting("ann", 6, Wanted="4"), ALLOWED)
    assert ended(result) == {"1.0": ("slot1@h0", "rank", ["slot1_2", "slot1_3"])}
    assert not run(tmp_path / "2", slots, waiting("ann", 7, Wanted="5"), ALLOWED).matches


def test_a_match_that_needs_one_job_by_priority_is_by_priority(tmp_path):
    slots = [
        divided(0, 0),
        dynamic(0, 1, "eve", 2, rank=-1.0),
        dynamic(0, 2, "nice-user.bob", 2),
    ]
    result = run(tmp_path, slots, waiting("ann", 4))
    assert ended(result) == {"1.0": ("slot1@h0", "priority", ["slot1_1", "slot1_2"])}


def test_empty_requirements_of_preemption_are_true_of_no_dynamic_slot(tmp_path):
    conf = ALLOWED + "PREEMPTION_REQUIREMENTS =\n"
    assert not run(tmp_path, [divided(0, 0), *NICE], waiting("ann", 4), conf).matches


def test_dynamic_slots_are_no_candidates_by_themselves(tmp_path):
    """Otherwise one job of two processors would get the slot of another."""
    jobs = waiting("ann", 2, WantPslotPreemption="false")
    result = run(tmp_path, [divided(0, 0), *NICE], jobs)
    assert not result.matches
    assert "dynamic_slot" in reasons(result)
    alone = run(tmp_path / "2", [divided(0, 0), *NICE], jobs, BY_PRIORITY.replace("true", "false", 1))
    assert matched(alone) == [("1.0", "slot1_1@h0")]
    without = [dynamic(0, 1, "nice-user.bob", 2, PslotRollupInformation=None)]
    found = run(tmp_path / "3", [divided(0, 0), *without], jobs)
    assert matched(found) == [("1.0", "slot1_1@h0")]


def test_ranks_see_what_the_slot_would_have(tmp_path):
    """The slot with fewer processors then comes first, as in the default NEGOTIATOR_PRE_JOB_RANK."""
    slots = [
        divided(0, 3), dynamic(0, 1, "nice-user.bob", 8), divided(1, 0), dynamic(1, 1, "nice-user.bob", 4),
        dynamic(1, 2, "nice-user.bob", 4),
    ]  # fmt: skip
    assert ended(run(tmp_path, slots, waiting("ann", 4)))["1.0"][::2] == ("slot1@h1", ["slot1_1"])
    conf = BY_PRIORITY + "NEGOTIATOR_PRE_JOB_RANK = Cpus\n"
    assert ended(run(tmp_path / "2", slots, waiting("ann", 4), conf))["1.0"][0] == "slot1@h0"
    jobs = waiting("ann", 4, Rank="TARGET.Cpus")
    flat = BY_PRIORITY + "NEGOTIATOR_PRE_JOB_RANK = 0\n"
    assert ended(run(tmp_path / "3", slots, jobs, flat))["1.0"][0] == "slot1@h0"


def test_each_job_of_a_request_gets_a_slot_of_its_own(tmp_path):
    slots = [each for machine in (0, 1, 2) for each in (divided(machine, 0), *of_machine(machine))]
    result = run(tmp_path, slots, waiting("ann", 4, count=5))
    assert sorted(each[0] for each in ended(result).values()) == ["slot1@h0", "slot1@h1", "slot1@h2"]
    assert all(numbers == ["slot1_1", "slot1_2"] for _, _, numbers in ended(result).values())


def of_machine(machine, user="nice-user.bob"):
    return [dynamic(machine, number, user, 2) for number in (1, 2, 3)]


@pytest.mark.parametrize(("value", "matches"), [("exact", 1), ("fixed", 2)])
def test_what_one_request_could_have_ended_is_not_tried_for_another_or_is(tmp_path, value, matches):
    slots = [each for machine in (0, 1) for each in (divided(machine, 0), *of_machine(machine))]
    jobs = [*waiting("ann", 4), *waiting("eve", 6, cluster=2)]
    switch = f"compatible: {{dynamic_slots_tried_once: {value}}}\n"
    assert len(run(tmp_path, slots, jobs, yaml=switch).matches) == matches


def test_the_weight_of_a_match_is_that_of_the_enlarged_slot(tmp_path):
    result = run(tmp_path, [divided(0, 0), *NICE], waiting("ann", 3))
    (share,) = result.shares
    assert (share.used_before, share.used) == (0.0, 4.0)


def test_what_the_ended_jobs_hold_is_free_for_the_match(tmp_path):
    """Of eight licences the running jobs have all, and the two that end four: the match takes four, and no second one fits."""
    plugins = {"licences": LICENCES}
    bundle = write_bundle(tmp_path / "b", FAIR, conf=BY_PRIORITY, plugins=plugins)
    slots = [divided(0, 0), *NICE[:2], divided(1, 0), *of_machine(1)[:2]]
    jobs = waiting("ann", 4, count=2, Licences="4")
    result = cycle(snapshot(slots, jobs, submitters=[submitter("ann")]), bundle)
    assert len(result.matches) == 2
    assert used(result)["licences.licence"] == 8
    more = waiting("ann", 4, Licences="5")
    assert not cycle(snapshot(slots, more, submitters=[submitter("ann")]), bundle).matches


def test_a_dynamic_slot_without_its_partitionable_slot_goes_on(tmp_path):
    assert not run(tmp_path, NICE, waiting("ann", 4)).matches


USERS = ("ann", "eve", "nice-user.bob")
RUNNING = st.tuples(
    st.sampled_from(USERS), st.integers(1, 4), st.sampled_from([0.0, 1.0, 2.0]), st.sampled_from([0, 0, 0, 9])
)
MACHINES = st.lists(st.tuples(st.integers(0, 3), st.lists(RUNNING, max_size=5)), min_size=1, max_size=3)


def expected(machines, cpus, wanted):
    """Return what a plain loop over machines and dynamic slots finds for a job of ann: the machine, why, and the slots."""
    best = None
    for number, (left, running) in enumerate(machines):
        by, ends, cores = "", [], left
        for place in sorted(range(len(running)), key=lambda each: running[each][2]):
            if cores >= cpus:
                break
            user, size, rank, retires = running[place]
            if retires or rank > wanted or (rank == wanted and user != "nice-user.bob"):
                continue
            by = "priority" if rank == wanted else by or "rank"
            cores += size
            ends.append(f"slot1_{place + 1}")
        if cores >= cpus:
            key = {"": 2, "rank": 1, "priority": 0}[by]
            if best is None or key > best[0]:
                best = key, (f"slot1@h{number}", by, ends)
    return None if best is None else best[1]


@settings(max_examples=60, deadline=None)
@given(machines=MACHINES, cpus=st.integers(1, 9), wanted=st.sampled_from([0, 1, 2]))
def test_the_same_jobs_end_as_in_a_plain_loop(tmp_path_factory, machines, cpus, wanted):
    """So what ends is enough, no better one would have been, and nobody of the same or a better priority ends by priority."""
    slots = [
        each
        for machine, (left, running) in enumerate(machines)
        for each in (
            divided(machine, left),
            *(
                dynamic(machine, number, user, size, rank=rank, RetirementTimeRemaining=str(retires))
                for number, (user, size, rank, retires) in enumerate(running, 1)
            ),
        )
    ]
    conf = BY_PRIORITY + "NEGOTIATOR_PRE_JOB_RANK = 0\nNEGOTIATOR_POST_JOB_RANK = 0\n"
    result = run(tmp_path_factory.mktemp("b"), slots, waiting("ann", cpus, Wanted=str(wanted)), conf)
    found = [
        (match.slot, match.preempts.by, [each.slot.split("@")[0] for each in match.preempts.slots])
        if match.preempts
        else (match.slot, "", [])
        for match in result.matches
    ]
    wants = expected(machines, cpus, wanted)
    assert found == ([] if wants is None else [wants])
