"""Preemption between queues where no single slot is enough: jobs of several dynamic slots of a machine end for one job."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.audit.records import records_by_kind
from pools import NOW, cycle, job, slot, snapshot
from queue_order_model import ModelQueue
from queue_order_pools import bundle_of

QUEUES = {
    "root": ModelQueue("root"),
    "root.a": ModelQueue("root.a", guaranteed=8000),
    "root.b": ModelQueue("root.b", guaranteed=1000),
}
FITS = "TARGET.Cpus >= RequestCpus"


def ad_of_machine(machine, number, cpus, **changed):
    own = {
        "Name": f'"slot1{f"_{number}" if number else ""}@h{machine}"', "Machine": f'"h{machine}"', "SlotID": "1",
        "MyAddress": f'"<10.0.0.{machine}:9618>"', "Cpus": str(cpus), "Memory": "4096",
    }  # fmt: skip
    return slot(number, **(own | changed))


def machine_of(machine, left, *running):
    """Return the slots of a machine and their running jobs; each runs (queue, cpus, start), and may have attributes of its slot."""
    slots = [ad_of_machine(machine, 0, left, PartitionableSlot="true")]
    jobs = []
    for number, (queue, cpus, start, *more) in enumerate(running, 1):
        cluster = 100 * machine + number  # an application has one queue
        ids = {"GlobalJobId": f'"h#{cluster}.0#1"'}
        name = f'"slot1_{number}@h{machine}"'
        of_job = {"JobId": f'"{cluster}.0"', "JobStart": str(start), "State": '"Claimed"'}
        own = {
            "DynamicSlot": "true",
            "DSlotID": str(number),
            "RemoteUser": '"bob@d"',
            "RemoteOwner": '"bob@d"',
        }
        slots.append(ad_of_machine(machine, number, cpus, **(own | of_job | ids | (more[0] if more else {}))))
        jobs.append(
            job(
                *(0,), ClusterId=str(cluster), Queue=f'"{queue}"', JobStatus="2", Owner='"bob"', User='"bob@d"',
                RequestCpus=str(cpus), RequestMemory="1", RemoteHost=name, **ids,
            )
        )  # fmt: skip
    return slots, jobs


def asking(cpus, count=1, queue="root.a"):
    since = {"QDate": "5", "EnteredCurrentStatus": str(int(NOW) - 1000)}
    return [
        job(
            *(number,), Queue=f'"{queue}"', Owner='"ann"', User='"ann@d"', RequestCpus=str(cpus), RequestMemory="1",
            Requirements=FITS, GlobalJobId=f'"h#1.{number}#1"', **since,
        )
        for number in range(count)
    ]  # fmt: skip


def run(folder, machines, waits, queues=QUEUES):
    slots = [each for own, _ in machines for each in own]
    jobs = [each for _, own in machines for each in own]
    return cycle(snapshot(slots, [*jobs, *waits]), bundle_of(folder, queues, "order: queues\n"))


def ended(result):
    return {match.job: (match.slot, names(match)) for match in result.matches}


def names(match):
    """Return the slots whose jobs a match ends."""
    return sorted(each.slot for each in match.preempts.slots) if match.preempts.slots else [match.slot]


B = "root.b"
CASES = {
    "the youngest that are enough": (
        [machine_of(1, 0, (B, 1, 10), (B, 1, 40), (B, 1, 30), (B, 1, 20))],
        2,
        ["slot1_2@h1", "slot1_3@h1"],
    ),
    "what is left counts": ([machine_of(1, 2, (B, 1, 10), (B, 1, 40), (B, 1, 30))], 3, ["slot1_2@h1"]),
    "none that is not needed": ([machine_of(1, 0, (B, 1, 40), (B, 3, 30), (B, 1, 20))], 3, ["slot1_2@h1"]),
    "the fewest of all machines": (
        [
            machine_of(1, 0, (B, 1, 40), (B, 1, 30), (B, 1, 35)),
            machine_of(2, 1, (B, 1, 20), (B, 1, 10)),
        ],
        3,
        ["slot1_1@h2", "slot1_2@h2"],
    ),
    "a slot that is enough by itself": (
        [machine_of(1, 0, (B, 1, 40), (B, 1, 30)), machine_of(2, 0, (B, 2, 20))],
        2,
        ["slot1_1@h2"],
    ),
    "the queue keeps its guarantee": ([machine_of(1, 0, (B, 1, 40), (B, 1, 30), (B, 1, 20))], 3, None),
    "never those of the queue that asks": (
        [machine_of(1, 0, (B, 2, 10), ("root.a", 2, 50), ("root.a", 1, 40))],
        3,
        None,
    ),
    "a slot that likes its job keeps it": (
        [machine_of(1, 1, (B, 1, 40, {"CurrentRank": "1.0"}), (B, 1, 30), (B, 1, 20))],
        3,
        ["slot1_2@h1", "slot1_3@h1"],
    ),
    "a job that retires goes on": (
        [machine_of(1, 1, (B, 1, 40, {"RetirementTimeRemaining": "9"}), (B, 1, 30), (B, 1, 20), (B, 1, 10))],
        3,
        ["slot1_2@h1", "slot1_3@h1"],
    ),
}


@pytest.mark.parametrize(("machines", "cpus", "expected"), CASES.values(), ids=CASES)
def test_which_jobs_end_together(tmp_path, machines, cpus, expected):
    result = run(tmp_path / "b", machines, asking(cpus))
    assert [names(match) for match in result.matches] == ([] if expected is None else [expected])


def test_the_record_names_each_job_that_ends(tmp_path):
    result = run(tmp_path / "b", [machine_of(1, 0, (B, 1, 10), (B, 1, 40), (B, 1, 30))], asking(2))
    (match,) = result.matches
    assert (match.slot, match.slot_ad.evaluate("Cpus")) == ("slot1@h1", 2)
    preempts = records_by_kind(result)["match"][0]["preempts"]
    assert (preempts["by"], preempts["queue"]) == ("guarantee", "root.b")
    assert [each["job"] for each in preempts["slots"]] == ["102.0", "103.0"]
    assert [(each.path, each.granted, each.ended) for each in result.order] == [("root.a", 1, 2)]


def test_further_jobs_of_the_queue_see_what_ended(tmp_path):
    machines = [machine_of(each, 0, *[(B, 1, 10 * n) for n in (1, 2, 3)]) for each in (1, 2)]
    result = run(tmp_path / "b", machines, asking(2, count=3))
    assert sorted(match.slot for match in result.matches) == ["slot1@h1", "slot1@h2"]
    assert sum(len(names(match)) for match in result.matches) == 4


@settings(max_examples=40, deadline=None)
@given(
    left=st.integers(0, 2),
    running=st.lists(
        st.tuples(st.sampled_from(["root.a", "root.b", "root.c"]), st.integers(1, 3)), max_size=6
    ),
    cpus=st.integers(1, 8),
)
def test_what_ends_is_enough_and_none_ends_needlessly(tmp_path_factory, left, running, cpus):
    """A queue that is asked keeps its guarantee, and no job of the queue that asks ends."""
    queues = QUEUES | {"root.c": ModelQueue("root.c", guaranteed=2000)}
    own = machine_of(1, left, *((queue, size, 10 * number) for number, (queue, size) in enumerate(running)))
    result = run(tmp_path_factory.mktemp("b") / "b", [own], asking(cpus), queues)
    used = {
        name: sum(size for queue, size in running if queue == name) for name in ("root.a", "root.b", "root.c")
    }
    for match in result.matches:
        if match.preempts is None:
            continue
        chosen = [running[int(name.partition("@")[0].rpartition("_")[2]) - 1] for name in names(match)]
        sizes = [size for _, size in chosen]
        whole = left if match.preempts.slots else 0
        assert whole + sum(sizes) >= cpus
        assert all(whole + sum(sizes) - size < cpus for size in sizes)
        assert "root.a" not in {queue for queue, _ in chosen}
        for queue, guaranteed in (("root.b", 1), ("root.c", 2)):
            taken = sum(size for name, size in chosen if name == queue)
            assert not taken or used[queue] - taken >= guaranteed
