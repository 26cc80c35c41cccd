"""The charge of a match is a fact: whatever its job says later, over cycles and the end of a process."""

import pytest

import queueing
from pools import matched, slot, used
from queueing import World, app, limited

FOUR = limited("{limit: l, users: ['*'], maxresources: {vcore: 4}}")
POOL = "scheduleracl: boss\nconcurrency_limits: {matlab: 4}\n"
VCORE = "limits.user.tester.root.vcore"
MEMORY = "limits.user.tester.root.memory"
GIB = 1 << 30
CHANGING = "JobStatus == 1 ? 4 : 0"


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path, queueing.bundle(tmp_path / "bundle", FOUR, POOL))
    made.slots = [slot(number) for number in range(6)]
    with made:
        yield made


def idle(cluster, proc=0, **more):
    """Return an idle job of one core and one GiB."""
    return app(cluster, proc, **({"RequestCpus": "1", "RequestMemory": "1024"} | more))


def running(cluster, proc=0, where="s0@h", **more):
    """Return the same job, running."""
    return idle(cluster, proc, RemoteHost=where and f'"{where}"', **({"JobStatus": "2"} | more))


def again(world):
    """Another process takes over."""
    world.stop()
    world.start()


def test_a_request_that_shrinks_when_the_job_runs_starts_no_further_job(world):
    """Cycle by cycle, with a restart after each: the limit is that of one such job."""
    waiting, in_use = [1, 2, 3, 4], {}
    for _ in range(5):
        world.jobs = [idle(each, RequestCpus=CHANGING) for each in waiting]
        world.jobs += [running(each, where=where, RequestCpus=CHANGING) for each, where in in_use.items()]
        result = world.cycle()
        assert used(result)[VCORE] == 4000
        for job, where in matched(result):
            cluster = int(job.partition(".")[0])
            waiting.remove(cluster)
            in_use[cluster] = where
        again(world)
    assert len(in_use) == 1


STRANGE = [
    "undefined",
    "-1",
    '"4"',
    None,
    "error",
    "{4}",
    "9223372036854775808.0",
    "1000000000",
    "TARGET.Cpus",
]


@pytest.mark.parametrize("cpus", STRANGE)
def test_a_running_job_with_a_strange_request_counts_as_its_whole_slot(world, cpus):
    """If its match is not known: as four cores, and neither as none nor as a billion."""
    world.jobs = [running(1, RequestCpus=cpus), idle(2)]
    result = world.cycle()
    assert used(result)[VCORE] == 4000
    assert matched(result) == []


@pytest.mark.parametrize("cpus", STRANGE)
def test_a_matched_job_counts_as_at_its_match_whatever_it_says_later(world, cpus):
    world.jobs = [idle(1, RequestCpus="2")]
    ((_, where),) = matched(world.cycle())
    world.jobs = [running(1, where=where, RequestCpus=cpus), idle(2, RequestCpus="2")]
    result = world.cycle()
    assert used(result)[VCORE] == 4000
    assert [job for job, _ in matched(result)] == ["2.0"]


@pytest.mark.parametrize("cpus", ["0", "1e-300", "0.5"])
def test_a_match_counts_at_least_one_core_and_one_mib(world, cpus):
    """So that a limit of four cores is one of four jobs."""
    world.jobs = [idle(each, RequestCpus=cpus, RequestMemory="0") for each in range(1, 7)]
    result = world.cycle()
    assert len(matched(result)) == 4
    assert used(result)[MEMORY] == 4 << 20
    world.jobs = [running(1, 0, where, RequestCpus=cpus, RequestMemory="0") for _, where in matched(result)]
    assert used(world.cycle())[VCORE] == 4000


@pytest.mark.parametrize("cpus", ["9223372036854775808.0", "9223372036854775807", "18446744073709552"])
def test_a_request_larger_than_any_machine_passes_no_limit(world, cpus):
    """Also if its product with 1000 is small again."""
    world.jobs = [idle(1, RequestCpus=cpus), idle(2)]
    assert [job for job, _ in matched(world.cycle())] == ["2.0"]


def test_huge_requests_lock_nobody_out_where_nothing_limits_them(world):
    """Memory is not limited: the counter of it does not overflow, and then counts what the slots have."""
    huge = [idle(each, RequestMemory="9e18") for each in (1, 2)]
    world.jobs = [*huge, idle(3)]
    result = world.cycle()
    assert len(matched(result)) == 3
    world.jobs = []
    assert used(world.cycle())[MEMORY] == 4 * GIB + 4 * GIB + GIB


def test_licences_of_a_running_job_are_those_of_its_match(world):
    """A job that asks for a billion later, or for none, changes nothing."""
    for later in ("matlab:1e9", "", None):
        world.jobs = [idle(1, ConcurrencyLimits='"matlab:3"')]
        ((_, where),) = matched(world.cycle())
        text = None if later is None else f'"{later}"'
        world.jobs = [running(1, where=where, ConcurrencyLimits=text)]
        world.jobs += [idle(proc, ConcurrencyLimits='"matlab"') for proc in (2, 3)]
        assert [job for job, _ in matched(world.cycle())] == ["2.0"]
        world.jobs, world.now = [], world.now + 1000
        world.cycle()


def test_a_running_job_without_a_known_match_cannot_lock_up_a_licence(world):
    """An amount above the whole limit counts as one."""
    world.jobs = [running(1, ConcurrencyLimits='"matlab:1e9"'), idle(2, ConcurrencyLimits='"matlab:3"')]
    assert [job for job, _ in matched(world.cycle())] == ["2.0"]


LIES = [
    {"where": "s5@h"},
    {"where": "gone@h"},
    {"where": None},
    {"ClusterId": "77", "GlobalJobId": '"node1#77.0#1"'},
    {"JobStatus": "6"},
    {"JobStatus": "7", "where": None},
]


@pytest.mark.parametrize("lie", LIES)
def test_a_running_job_that_lies_about_itself_counts_as_at_its_match(world, lie):
    """About its slot, its id or its state: by its id, else by its slot."""
    world.slots[5] = slot(5, Cpus="1")
    world.jobs = [idle(1, RequestCpus="4")]
    ((_, where),) = matched(world.cycle())
    world.jobs = [running(1, **({"where": where, "RequestCpus": "0"} | lie)), idle(2)]
    result = world.cycle()
    assert used(result)[VCORE] == 4000
    assert matched(result) == []


def test_a_claim_lasts_as_long_as_its_slot_is_claimed(world):
    """Though the ad of its job is hidden or broken: past claim_timeout, and for the next job of the claim."""
    world.jobs = [idle(1, RequestCpus="3")]
    ((_, where),) = matched(world.cycle())
    number = int(where[1])
    world.slots[number] = slot(number, State='"Claimed"', RemoteOwner='"tester@d"')
    for passed in (1, 1000, 1000):
        world.now += passed
        world.jobs = []
        again(world)
        assert used(world.cycle())[VCORE] == 3000
    world.jobs = [running(9, where=where, RequestCpus="0")]
    assert used(world.cycle())[VCORE] == 3000
    world.slots[number], world.jobs = slot(number), []
    assert VCORE not in used(world.cycle())


def test_a_claim_lasts_though_its_slot_vanishes(world):
    """The job still runs."""
    world.jobs = [idle(1, RequestCpus="3")]
    ((_, where),) = matched(world.cycle())
    world.jobs, world.slots = [running(1, where=where, RequestCpus="0")], []
    for _ in range(2):
        world.now += 1000
        assert used(world.cycle())[VCORE] == 3000


def test_a_job_cannot_name_the_slot_of_another_user(world):
    """That slot counts for its own user, and the job by its request."""
    world.slots[5] = slot(
        5, Cpus="1", State='"Claimed"', RemoteUser='"sue@d"', GlobalJobId='"node1#8.0#1"', JobId='"8.0"'
    )
    world.jobs = [running(1, where="s5@h", RequestCpus="3")]
    counted = used(world.cycle())
    assert counted[VCORE] == 3000
    assert counted["limits.user.sue.root.vcore"] == 1000


def test_the_match_of_another_user_is_not_shown_by_a_job_with_its_id(world):
    world.jobs = [idle(1, RequestCpus="3", user="sue")]
    world.cycle()
    world.jobs = [running(1, where="s5@h")]
    assert used(world.cycle())["limits.user.sue.root.vcore"] == 3000


def dynamic(number, **more):
    """Return a claimed dynamic slot of s0@h."""
    own = {"Name": f'"s0_{number}@h"', "SlotType": '"Dynamic"', "DynamicSlot": "true", "State": '"Claimed"'}
    return slot(0, **(own | {"Cpus": "2", "Memory": "1024", "RemoteUser": '"tester@d"'} | more))


def whole(**more):
    """Return the partitionable slot s0@h, of which some is left."""
    own = {"SlotType": '"Partitionable"', "PartitionableSlot": "true", "TotalSlotCpus": "8", "Cpus": "6"}
    return slot(0, **(own | more))


def test_a_job_counts_for_at_least_what_its_dynamic_slot_was_made_with(world):
    """Without a known match, and with one."""
    world.slots = [whole(), dynamic(1, JobId='"1.0"', GlobalJobId='"node1#1.0#1"')]
    for cpus in ("0", "1", "undefined", "1e9"):
        world.jobs = [running(1, where="s0_1@h", RequestCpus=cpus, RequestMemory="1")]
        counted = used(world.cycle())
        assert (counted[VCORE], counted[MEMORY]) == (2000, GIB)


def test_the_matches_with_a_partitionable_slot_are_shown_by_its_dynamic_slots(world):
    """Each copy of a request by one of them."""
    world.slots = [whole()]
    world.jobs = [idle(1, _condor_RESOURCE_COUNT="3", JobStatus=None)]
    assert len(matched(world.cycle())) == 1
    world.slots += [dynamic(1, Cpus="1")]
    world.jobs = [running(1, 7, "s0_1@h", RequestCpus="0")]
    for _ in range(2):
        world.now += 1000
        assert used(world.cycle())[VCORE] == 1000


def test_a_claim_counts_at_most_what_a_partitionable_slot_has_in_all(world):
    world.slots = [whole()]
    world.jobs = [running(1, RequestCpus="7"), running(2, RequestCpus="99")]
    assert used(world.cycle())[VCORE] == 15_000


def test_texts_of_any_length_that_requirements_read_are_not_stored(world):
    """The journal has values that charges read, and no expression: it is read back as it was written."""
    long = '"' + "x" * 600_000 + '"'
    world.jobs = [idle(1, A=long, B=long, Requirements="MY.A != MY.B || TARGET.Cpus > 0")]
    result = world.cycle()
    assert len(matched(result)) == 1
    again(world)
    (entry,) = world.store.load(world.now).journal
    assert len(str(entry)) < 2_000
    assert used(world.cycle())[VCORE] == 1000


def test_a_damaged_row_of_the_journal_is_set_aside_and_reported(world):
    """The other matches still count, and cycles go on."""
    world.jobs = [idle(each) for each in (1, 2, 3)]
    world.cycle()
    with world.store.database.writing() as db:
        db.execute("UPDATE matches SET entry = '[1' WHERE number = 1")
        db.execute(
            """UPDATE matches SET entry = replace(entry, '"shown": false', '"shown": 7') WHERE number = 2"""
        )
    again(world)
    world.jobs = []
    assert used(world.cycle())[VCORE] == 1000
    notices = world.run.state_manager.damaged
    assert [notice.partition(" of the table")[0].rpartition(": ")[2] for notice in notices] == [
        "row 1",
        "row 2",
    ]


def test_a_limit_of_a_further_resource_counts_the_claims_before_it(world, tmp_path):
    """The requests of a match are stored, also those that nothing limited then."""
    world.slots = [slot(number, GPUs="4") for number in range(3)]
    world.jobs = [idle(1, RequestGPUs="3")]
    ((_, where),) = matched(world.cycle())
    queues = limited("{limit: l, users: ['*'], maxresources: {GPUs: 4}}")
    world.bundle = queueing.bundle(tmp_path / "next", queues, POOL)
    again(world)
    world.jobs = [running(1, where=where, RequestGPUs="0"), idle(2, RequestGPUs="2")]
    result = world.cycle()
    assert used(result)["limits.user.tester.root.GPUs"] == 3
    assert matched(result) == []
