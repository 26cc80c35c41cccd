"""Delivered matches count as long as their claims last: over cycles, failures, and the end of a process."""

import attrs
import pytest

import queueing
from dying import killed_at_each_step
from negotiator.audit.log import AuditLog
from negotiator.hooks.delivery import Delivery, DeliveryStatus
from negotiator.runtime.cycle_pool import FilePool
from negotiator.runtime.run import Runtime
from negotiator.runtime.state import StateStore
from pools import matched, slot, used
from queueing import World, app, limited

LIMIT = limited("{limit: l, users: ['*'], maxresources: {vcore: 3}}")
VCORE = "limits.user.tester.root.vcore"
APPLICATIONS = "limits.user.tester.root"
DELIVERED, FAILED = DeliveryStatus.DELIVERED, DeliveryStatus.FAILED
TIMEOUT = 600  # the default claim_timeout

DEADLY = [
    *((AuditLog, "append"), (StateStore, "save"), (FilePool, "settle"), (StateStore, "update_matches")),
    (Runtime, "_tell_observers"),
]


def two_cycles(folder, note):
    """Match two jobs, one of which runs in the second cycle; note each delivery."""
    settle = FilePool.settle

    def noting(self, result, vault, shown):
        note("delivered", *(f"{match.job}@{match.slot}" for match in result.matches))
        return settle(self, result, vault, shown)

    FilePool.settle = noting
    world = World(folder, queueing.bundle(folder / "bundle", LIMIT))
    world.slots = [slot(number) for number in range(6)]
    world.jobs = [app(1, proc, RequestCpus="1", RequestMemory="1") for proc in range(2)]
    with world:
        world.cycle()
        note("second")
        world.jobs = [app(1, 0, RequestCpus="1", RequestMemory="1", JobStatus="2", RemoteHost='"s0@h"')]
        world.cycle()


def idle_job(cluster, proc=0, **more):
    """Return a job of one core."""
    return app(cluster, proc, **({"RequestCpus": "1", "RequestMemory": "1"} | more))


def running_job(cluster, proc=0, where=None, **more):
    """Return the same job, running."""
    return idle_job(cluster, proc, JobStatus="2", RemoteHost=where and f'"{where}"', **more)


@attrs.define
class FailingSettler:
    """A settler that fails for some jobs."""

    jobs: tuple[str, ...]

    def settle(self, result, _vault):
        return [
            Delivery(match, FAILED if match.job in self.jobs else DELIVERED, "no answer")
            for match in result.matches
        ]


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path, queueing.bundle(tmp_path / "bundle", LIMIT))
    made.slots = [slot(number) for number in range(6)]
    with made:
        yield made


def again(world):
    """Another process takes over."""
    world.stop()
    world.start()


def stored(world):
    """Return the jobs of the matches on disk."""
    return [entry.job for entry in world.store.load(world.now).journal]


@pytest.mark.parametrize("restart", [False, True])
def test_a_match_is_charged_in_the_next_cycles(world, restart):
    """Of this process or another one."""
    world.jobs = [idle_job(1), idle_job(1, 1)]
    world.cycle()
    if restart:
        again(world)
    world.jobs = [idle_job(2, proc) for proc in range(4)]
    result = world.cycle()
    assert [job for job, _ in matched(result)] == ["2.0"]
    assert used(result)[VCORE] == 3000
    assert used(result)[APPLICATIONS] == {"node1#1": 2, "node1#2": 1}
    assert stored(world) == ["1.0", "1.1", "2.0"]


def test_a_match_is_charged_until_its_job_runs(world):
    """A job that has ended counts no more."""
    world.jobs = [idle_job(1), idle_job(1, 1)]
    world.cycle()
    again(world)
    world.jobs = [running_job(1, 0, "s0@h"), running_job(1, 1, "s1@h")]
    assert used(world.cycle())[VCORE] == 2000
    again(world)
    world.jobs = world.jobs[:1]
    assert used(world.cycle())[VCORE] == 1000
    assert stored(world) == ["1.0"]
    world.jobs = []
    assert VCORE not in used(world.cycle())
    assert stored(world) == []


def test_a_match_whose_slot_is_free_with_another_claim_id_has_ended(world):
    """Its job ran between two cycles; with the same claim id it may still begin."""
    world.slots, world.claims = [slot(0)], {"s0@h": "first"}
    world.jobs = [idle_job(1)]
    world.cycle()
    world.jobs = [idle_job(2)]
    assert matched(world.cycle()) == []
    world.claims = {"s0@h": "second"}
    assert matched(world.cycle()) == [("2.0", "s0@h")]
    assert stored(world) == ["2.0"]


def test_a_match_is_not_over_because_its_slot_is_claimed_and_has_a_claim_id_for_preemption(world):
    world.slots, world.claims = [slot(0)], {"s0@h": "first"}
    world.jobs = [idle_job(1)]
    world.cycle()
    claimed = slot(0, State='"Claimed"', RemoteUser='"bob@d"')
    world.slots, world.claims = [claimed], {"s0@h": "second"}
    world.jobs = []
    world.cycle()
    assert stored(world) == ["1.0"]


def test_a_match_whose_claim_names_no_user_has_ended(world):
    """So startds show the claim of an owner capacity unit while no job runs in it; its jobs are matched with the slot."""
    world.slots, world.claims = [slot(0)], {"s0@h": "first"}
    world.jobs = [idle_job(1, -99)]
    world.cycle()
    world.slots, world.claims = [slot(0, State='"Claimed"')], {"s0@h": "second"}
    world.jobs = [idle_job(2)]
    assert matched(world.cycle()) == [("2.0", "s0@h")]
    assert stored(world) == ["2.0"]


@pytest.mark.parametrize("interval", [0.5, 60])
def test_a_match_on_a_partitionable_slot_has_ended_once_another_claim_id_was_seen_for_a_while(
    world, interval
):
    """The dynamic slot may appear after the partitionable slot has its next claim id."""
    world.slots, world.claims = [slot(0, PartitionableSlot="true")], {"s0@h": "first"}
    world.jobs = [idle_job(1)]
    world.cycle()
    world.jobs, world.claims = [], {"s0@h": "second"}
    for _ in range(max(1, int(5 / interval))):
        world.cycle()
        assert stored(world) == ["1.0"]
        world.now += interval
    world.cycle()
    assert stored(world) == []


def test_a_new_match_on_a_partitionable_slot_is_not_shown_by_the_claim_of_an_earlier_one(world):
    """Both jobs are of one request, whose ad names the first of them; the second has no dynamic slot yet."""
    whole = slot(0, PartitionableSlot="true")
    user = {"RemoteOwner": '"tester@d"', "RemoteUser": '"tester@d"'}
    dynamic = slot(1, Name='"s0_1@h"', State='"Claimed"', Cpus="1", **user)
    copies = {"_condor_RESOURCE_COUNT": "5", "JobStatus": None}
    world.slots, world.claims, world.jobs = [whole], {"s0@h": "a"}, [idle_job(1, **copies)]
    world.cycle()
    world.slots, world.claims = [whole, dynamic], {"s0@h": "b"}
    assert len(world.cycle().matches) == 1
    assert len(world.cycle().matches) == 0
    assert len(stored(world)) == 2


POLICY = {
    "PartitionableSlot": "true",
    "MachineResources": '"Cpus Memory"',
    "ConsumptionCpus": "TARGET.RequestCpus",
    "ConsumptionMemory": "TARGET.RequestMemory",
}


@attrs.define
class TakingSettler:
    """A settler that takes a claim id for each match."""

    taken: list[str] = attrs.field(factory=list)

    def settle(self, result, vault):
        self.taken += (vault.take(match.slot, None, match.id) for match in result.matches)
        return [Delivery(match, DELIVERED) for match in result.matches]


@pytest.mark.parametrize("later", [["b", "c"], ["c", "b"]])
def test_a_match_of_a_slot_with_several_claim_ids_has_ended_once_its_own_is_gone(world, later):
    """A slot with a consumption policy has a claim id for each match."""
    world.slots, world.claims = [slot(0, **POLICY)], {"s0@h": ["a", "b", "c"]}
    world.run.pool.settler = settler = TakingSettler()
    world.jobs = [idle_job(1), idle_job(1, 1)]
    world.cycle()
    assert settler.taken == ["a", "b"]
    world.jobs, world.claims = [running_job(1, 0, "s0_1@h")], {"s0@h": later}
    for _ in range(3):
        world.cycle()
        assert stored(world) == ["1.0", "1.1"]
    world.claims = {"s0@h": ["c", "d"]}
    world.cycle()
    world.now += 60
    world.cycle()
    assert stored(world) == ["1.0"]


@pytest.mark.parametrize("restart", [False, True])
def test_a_match_has_ended_once_its_slot_has_another_claim_id(world, restart):
    """Its claim began and ended between two cycles; also if another process made the match."""
    world.slots, world.claims = [slot(0)], {"s0@h": "a"}
    world.run.pool.settler = TakingSettler()
    world.jobs = [idle_job(1)]
    world.cycle()
    if restart:
        again(world)
    world.jobs = []
    world.cycle()
    assert stored(world) == ["1.0"]
    world.claims = {"s0@h": "b"}
    world.cycle()
    assert stored(world) == []


def test_a_match_of_this_process_is_charged_once_when_its_job_runs(world):
    """Like a match of another process, on its own slot."""
    world.jobs = [idle_job(1), idle_job(1, 1)]
    world.cycle()
    world.jobs = [running_job(1, 0, "s0@h"), running_job(1, 1, "s1@h"), idle_job(2), idle_job(2, 1)]
    result = world.cycle()
    assert used(result)[VCORE] == 3000
    assert len(result.matches) == 1


SLOTS_OF_THE_POOL = [
    {},
    {"JobId": '"1.0"'},
    {"GlobalJobId": '"node1#1.0#1"'},
    {"JobId": '"1.7"', "GlobalJobId": '"node1#1.7#1"'},
]


@pytest.mark.parametrize("claimed_by", SLOTS_OF_THE_POOL)
def test_a_match_is_charged_until_its_slot_is_claimed(world, claimed_by):
    """Once, as the match or as the whole claimed slot."""
    world.jobs = [idle_job(1)]
    world.cycle()
    again(world)
    world.jobs = []
    world.slots[0] = slot(0, State='"Claimed"', RemoteOwner='"tester@d"', **claimed_by)
    assert used(world.cycle())[VCORE] in {1000, 4000}


def test_a_match_is_charged_until_its_claim_timeout(world):
    """To the second."""
    world.jobs = [idle_job(1)]
    world.cycle()
    world.jobs = []
    for passed, count in ((TIMEOUT, 1000), (1, None)):
        world.now += passed
        again(world)
        assert used(world.cycle()).get(VCORE) == count
    assert stored(world) == []


def test_an_undelivered_match_is_no_longer_charged(world):
    """At once, also on disk; the others count."""
    world.jobs = [idle_job(1, proc) for proc in range(3)]
    world.run.pool.settler = FailingSettler(("1.1", "1.2"))
    world.cycle()
    assert stored(world) == ["1.0"]
    world.jobs = [idle_job(2, proc) for proc in range(4)]
    world.run.pool.settler = FailingSettler(())
    assert len(world.cycle().matches) == 2


def test_copies_of_a_request_start_running_one_by_one(world):
    """Its ad names one job; the others are recognised by their slots."""
    world.jobs = [idle_job(1, _condor_RESOURCE_COUNT="3", JobStatus=None)]
    journal = world.cycle().journal
    for shown in range(4):
        again(world)
        world.jobs = [running_job(1, number, journal[number].slot) for number in range(shown)]
        assert used(world.cycle())[VCORE] == 3000
    world.jobs = [running_job(1, 9, journal[1].slot)]
    assert used(world.cycle())[VCORE] == 1000
    assert [entry.slot for entry in world.store.load(world.now).journal] == [journal[1].slot]


def test_undelivered_copies_are_no_longer_charged(world):
    """The copies of one ad are distinguished."""
    world.jobs = [idle_job(1, _condor_RESOURCE_COUNT="3", JobStatus=None)]
    world.run.pool.settler = FailsForLastMatch()
    world.cycle()
    assert len(stored(world)) == 2
    again(world)
    world.jobs = []
    assert used(world.cycle())[VCORE] == 2000


class FailsForLastMatch:
    """A settler that fails for the last match."""

    def settle(self, result, _vault):
        return [
            Delivery(match, FAILED if match is result.matches[-1] else DELIVERED, "no answer")
            for match in result.matches
        ]


def test_a_killed_process_leaves_no_wrong_counter(tmp_path):
    """Killed before and after each write: each delivered match counts once, and none is lost."""
    folders = killed_at_each_step(tmp_path, DEADLY, two_cycles, most=40)
    assert len(folders) > 8
    for step, folder in enumerate(folders, 1):
        notes = (folder / "notes").read_text().split()
        handed = [each.partition("@")[0] for each in notes if "@" in each]
        world = World(folder, queueing.bundle(folder / "bundle", LIMIT))
        world.slots = [slot(number) for number in range(6)]
        with world:
            written = stored(world)
            # Of what was handed out all is written: what is not seen yet, or what was seen and dropped.
            running = {"1.0"} if "second" in notes else set()
            assert set(handed) <= {*written, *running}, step
            world.jobs = [running_job(1, 0, "s0@h")]
            counted = used(world.cycle())
            assert counted[VCORE] == 1000 * len({"1.0", *written}), step
            world.jobs = [running_job(1, 0, "s0@h"), running_job(1, 1, "s1@h")]
            again(world)
            assert used(world.cycle())[VCORE] == 2000, step


def test_the_state_is_that_of_the_last_complete_write(tmp_path):
    """A store opened after a crash has the matches in their order, with their ads."""
    world = World(tmp_path, queueing.bundle(tmp_path / "bundle", LIMIT))
    world.slots = [slot(0), slot(1)]
    world.jobs = [idle_job(1), idle_job(1, 1)]
    with world:
        journal = world.cycle().journal
    with StateStore.open(tmp_path / "state") as store:
        assert store.load(world.now).journal == journal


def claim(number, machine="<1.2.3.4:9618>"):
    """Return a claim id as a startd makes it."""
    return f"{machine}#1795754642#{number}#[Encryption]c0ffee{number}"


def shown(number, machine="<1.2.3.4:9618>"):
    """Return what a claimed slot shows of it."""
    return f'"{machine}#1795754642#{number}#..."'


def claimed(name, user, number, **more):
    """Return a claimed slot, with its claim; a user may have several."""
    users = {"RemoteOwner": f'"{user}@d"', "RemoteUser": f'"{user}@d"'}
    own = {"Name": f'"{name}"', "State": '"Claimed"', "Cpus": "1", "PublicClaimId": shown(number)}
    return slot(1, **(own | users | more))


def partitionable(*children, **more):
    """Return a partitionable slot that shows these dynamic slots."""
    names = ", ".join(f'"{name}"' for name in children)
    return slot(0, PartitionableSlot="true", ChildName=f"{{{names}}}", **more)


def pending(world):
    """Return the jobs of the matches on disk that the pool has not shown."""
    return [entry.job for entry in world.store.load(world.now).journal if not entry.shown]


def matched_on(world, claims, *slots):
    """Match an idle job of tester with the only slot of which a claim id is offered."""
    job = idle_job(1, Requirements="TARGET.Cpus > 0")
    world.slots, world.claims, world.jobs = list(slots), claims, [job]
    world.run.pool.settler = TakingSettler()
    assert len(world.cycle().matches) == 1
    world.jobs = []


PREEMPTIBLE = "order: submitters\nPREEMPTION_REQUIREMENTS: 'true'\n"


@pytest.fixture
def preempting(tmp_path):
    """A world in which tester's job was matched with the slot of bob's, and ends it."""
    made = World(tmp_path, queueing.bundle(tmp_path / "bundle", LIMIT, PREEMPTIBLE))
    victim = claimed("s0_1@h", "bob", 1, CurrentRank="0.0", Rank="0.0", DynamicSlot="true")
    with made:
        matched_on(made, {"s0@h": claim(2), "s0_1@h": claim(4)}, partitionable("s0_1@h", Cpus="0"), victim)
        assert [entry.slot for entry in made.store.load(made.now).journal] == ["s0_1@h"]
        yield made


def test_a_preempting_match_counts_as_long_as_its_claim_id_is_offered(preempting):
    preempting.now += TIMEOUT
    preempting.cycle()
    assert stored(preempting) == ["1.0"]


@pytest.mark.parametrize("user", ["PreemptingUser", "PreemptingAccountingGroup"])
def test_a_preempting_match_counts_while_the_job_before_retires(preempting, user):
    """The slot then offers another claim id, and names who waits for the end of the job."""
    preempting.slots[1] = claimed("s0_1@h", "bob", 1, **{user: '"Tester@d"'})
    preempting.claims = {"s0@h": claim(2), "s0_1@h": claim(6)}
    for _ in range(3):
        preempting.now += 60
        preempting.cycle()
        assert pending(preempting) == ["1.0"]
    preempting.slots[1] = claimed("s0_1@h", "tester", 4)
    preempting.cycle()
    assert (stored(preempting), pending(preempting)) == (["1.0"], [])


def test_a_preempting_match_whose_claim_was_withdrawn_has_ended(preempting):
    """Its job was removed before the claim began: the slot offers another claim id, and nobody waits."""
    preempting.claims = {"s0@h": claim(2), "s0_1@h": claim(6)}
    preempting.cycle()
    assert stored(preempting) == []


@pytest.mark.parametrize("user", ["bob", "tester"])
def test_a_dynamic_slot_with_the_name_of_an_earlier_one_has_another_claim(preempting, user):
    """Also if it is of the same user: the match is not shown by it, and has ended."""
    preempting.slots[1] = claimed("s0_1@h", user, 2)
    preempting.claims = {"s0@h": claim(7), "s0_1@h": claim(9)}
    result = preempting.cycle()
    assert stored(preempting) == []
    assert used(result).get(VCORE) == (1000 if user == "tester" else None)
    assert not result.discarded


def test_a_match_with_a_dynamic_slot_that_is_gone_has_ended_after_a_while(preempting):
    """Its machine is still there; the collector may get the ads of one update one after the other."""
    preempting.slots, preempting.claims = [partitionable()], {"s0@h": claim(2)}
    preempting.cycle()
    assert stored(preempting) == ["1.0"]
    preempting.now += 5
    preempting.cycle()
    assert stored(preempting) == []


def test_a_match_counts_if_nothing_of_its_machine_is_there(preempting):
    preempting.slots, preempting.claims = [slot(3)], {"s3@h": "x"}
    for _ in range(3):
        preempting.now += 60
        preempting.cycle()
    assert stored(preempting) == ["1.0"]


@pytest.mark.parametrize(("children", "left"), [((), []), (("s0_1@h",), ["1.0"])])
def test_a_claim_that_began_and_ended_between_two_cycles_ends_its_match_at_once(world, children, left):
    """If the partitionable slot shows no dynamic slot whose ad is missing."""
    matched_on(world, {"s0@h": claim(1)}, partitionable())
    world.slots, world.claims = [partitionable(*children)], {"s0@h": claim(2)}
    world.cycle()
    assert stored(world) == left


def test_a_match_is_shown_by_its_claim_whatever_job_runs_there(world):
    """The schedd uses the claim for another job; a claim of the same user beside it is that of no match."""
    matched_on(world, {"s0@h": claim(1)}, partitionable())
    beside = claimed("s0_1@h", "tester", 2, JobId='"1.0"', GlobalJobId='"node1#1.0#1"')
    own = claimed("s0_2@h", "tester", 1, JobId='"1.8"', GlobalJobId='"node1#1.8#1"')
    world.slots, world.claims = [partitionable("s0_1@h", "s0_2@h"), beside, own], {"s0@h": claim(3)}
    world.cycle()
    assert (stored(world), pending(world)) == (["1.0"], [])
    world.slots = [partitionable("s0_1@h"), beside]
    world.cycle()
    assert stored(world) == []


def test_another_machine_cannot_show_the_claim_of_a_match(world):
    """It would end what its owner is charged for, or take the claim over."""
    matched_on(world, {"s0@h": claim(1)}, slot(0))
    forged = claimed("s5@evil", "eve", 1)
    world.slots = [slot(0), forged]
    world.cycle()
    assert pending(world) == ["1.0"]


def test_the_secret_part_of_a_claim_id_is_nowhere(world):
    matched_on(world, {"s0@h": claim(1)}, slot(0))
    (entry,) = world.store.load(world.now).journal
    assert entry.claim == shown(1).strip('"')
    again(world)
    files = [path for path in world.folder.rglob("*") if path.is_file()]
    assert not any(b"c0ffee" in path.read_bytes() for path in files)


def test_the_reason_names_the_slot_that_waits_for_its_claim(world):
    matched_on(world, {"s0@h": claim(1)}, slot(0))
    world.jobs = [idle_job(2)]
    (rejection,) = world.cycle().rejections
    assert "slot s0@h was matched in an earlier cycle" in rejection.reason.text
