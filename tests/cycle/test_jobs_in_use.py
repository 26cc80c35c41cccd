"""How many jobs of each user in each queue are in use when a cycle begins, for reports."""

from negotiator.classad import UNDEFINED
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.place import place
from negotiator.plugin import Cycle
from pools import NOW, job, slot, snapshot, write_bundle


def test_running_jobs_are_counted_by_user_and_queue_also_on_slots_that_the_pool_does_not_show(tmp_path):
    bundle = write_bundle(tmp_path / "b")
    owners = ["ada", "ada", "bob", "ada"]
    running = [
        job(n, ClusterId=str(n), Owner=f'"{name}"', User=f'"{name}@d"', JobStatus="2", RemoteHost=f'"s{n}@h"')
        for n, name in enumerate(owners)
    ]
    idle = job(9, ClusterId="9")
    result = run_cycle(snapshot([slot(7)], [*running, idle]), bundle, Cycle(1, NOW, bundle.digest))
    found = {(each.user, each.queue): each.jobs for each in result.in_use}
    assert found == {("ada", "root.default"): 3, ("bob", "root.default"): 1}
    assert len(result.matches) == 1


def claimed(number, user, **more):
    """A slot that names its job."""
    own = {"GlobalJobId": f'"h#{number}.0#1"', "JobId": f'"{number}.0"', "RemoteUser": f'"{user}"'}
    return slot(number, State='"Claimed"', **own | more)


def test_jobs_that_only_slots_show_have_what_their_slots_have_of_them(tmp_path):
    """An id that is no number, or too large for one, is none; each slot of a job counts by itself."""
    bundle = write_bundle(tmp_path / "b")
    job_of_two = {"GlobalJobId": '"h#5.0#1"', "JobId": '"5.0"'}
    slots = [
        slot(0),
        claimed(1, "Ann@d", JobId='"99999999999999999999.0"'),
        claimed(2, "bob@d", JobId='"?"', Cpus="Memory / 512", Memory="1024", Queue='"root.q"'),
        claimed(5, "bob@d", **job_of_two),
        claimed(6, "bob@d", **job_of_two).replaced({"Cpus": None}),
    ]
    cycle, state = Cycle(1, NOW, bundle.digest), CycleState.new(bundle, NOW)
    placed = place(snapshot(slots), None, bundle, cycle, state)
    own = {"JobStatus": 2, "RequestCpus": 4, "RequestMemory": 4096}
    bob = {"Owner": "bob", "User": "bob@d"}
    number = {"ClusterId": 5, "ProcId": 0, "GlobalJobId": "h#5.0#1"}
    assert [{name: each.evaluate(name) for name in each} for each in placed.claimed.jobs.ads] == [
        own | {"Owner": "Ann", "User": "Ann@d", "RemoteHost": "s1@h", "GlobalJobId": "h#1.0#1"},
        own
        | bob
        | {"RemoteHost": "s2@h", "GlobalJobId": "h#2.0#1", "Queue": "root.q", "RequestMemory": 1024}
        | {"RequestCpus": UNDEFINED},  # of an expression that reads other attributes of the slot
        own | bob | number | {"RemoteHost": "s5@h"},
        own | bob | number | {"RemoteHost": "s6@h", "RequestCpus": 1},
    ]
    assert [rows.tolist() for rows in placed.slot_rows] == [[], [1, 2, 3, 4]]
    result = run_cycle(snapshot(slots, [job(9)]), bundle, cycle)
    assert sorted((each.user, each.jobs) for each in result.in_use) == [("Ann", 1), ("bob", 3)]
