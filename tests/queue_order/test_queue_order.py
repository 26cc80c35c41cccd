"""The order ``queues`` in whole cycles: the sequence of jobs is that of a plain model, one job after the other."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from negotiator.bundle import load_bundle
from pools import cycle, job, slot, snapshot
from queue_order_model import ModelJob, ModelQueue, sequence
from queue_order_pools import bundle_of, machines, served, waiting

PATHS = ("root", "root.a", "root.a.x", "root.a.y", "root.b", "root.c")
LEAVES = ("root.a.x", "root.a.y", "root.b", "root.c")


amounts = st.one_of(st.none(), st.integers(1, 20_000))
queue_settings = st.builds(
    ModelQueue,
    path=st.just(""),
    guaranteed=amounts,
    sort=st.sampled_from(["fifo", "fair"]),
    by_priority=st.booleans(),
    fence=st.booleans(),
    offset=st.integers(-3, 3),
)


@st.composite
def pools(draw):
    """Return queues by path, jobs, and a number of slots."""
    queues = {path: draw(queue_settings) for path in PATHS}
    for path, queue in queues.items():
        queue.path = path
    queues["root"].guaranteed = queues["root.a"].guaranteed = None
    jobs = []
    for cluster in range(1, draw(st.integers(2, 6)) + 1):
        queue = draw(st.sampled_from(LEAVES))
        sizes = draw(st.lists(st.sampled_from([1000, 1000, 2000, 3000]), min_size=1, max_size=6))
        date = draw(st.integers(0, 3))
        for proc, size in enumerate(sizes):
            priority = draw(st.sampled_from([0, 0, 0, 1, -2]))
            jobs.append(ModelJob(queue, cluster, proc, size, priority, date))
    return queues, jobs, draw(st.integers(1, 20))


@given(pool=pools())
@settings(max_examples=60, deadline=None)
def test_jobs_get_slots_in_the_order_of_the_model(tmp_path_factory, pool):
    queues, jobs, slots = pool
    bundle = bundle_of(tmp_path_factory.mktemp("bundle"), queues)
    result = cycle(snapshot(machines(slots), waiting(jobs)), bundle)
    wanted = sequence(queues, jobs, slots * 4000, slots)
    assert served(result) == [f"{each.cluster}.{each.proc}" for each in wanted]


@given(pool=pools())
@settings(max_examples=30, deadline=None)
def test_batched_turns_give_each_queue_as_much_as_single_ones_where_slots_are_alike(tmp_path_factory, pool):
    queues, jobs, slots = pool
    folder = tmp_path_factory.mktemp("bundle")
    many = [ModelJob(each.queue, each.cluster, proc, 1000) for each in jobs for proc in range(200)]
    many = list({(each.cluster, each.proc): each for each in many}.values())
    slots *= 20
    ads = snapshot(machines(slots), waiting(many))
    counts = []
    for turns in ("exact", "batched"):
        bundle = bundle_of(folder / turns, queues, f"order: queues\nqueue_turns: {turns}\n")
        counts.append([each.granted for each in cycle(ads, bundle).order])
    assert np.abs(np.subtract(*counts)).max() <= 1


def test_a_queue_with_many_requests_gets_no_more_than_its_share_in_batched_turns(tmp_path):
    queues = {
        path: ModelQueue(path, guaranteed=10_000) for path in ("root", *(f"root.q{n}" for n in range(10)))
    }
    queues["root"].guaranteed = None
    jobs = [ModelJob(f"root.q{n % 10}", n, proc, 1000) for n in range(120) for proc in range(20)]
    bundle = bundle_of(tmp_path / "b", queues, "order: queues\n")
    result = cycle(snapshot(machines(1000), waiting(jobs)), bundle)
    assert {each.granted for each in result.order} == {100}


def running(queue, cluster, count, machine="used"):
    """Return running jobs of a queue, and the claimed slots that they have."""
    names = [f"r{number}@{machine}" for number in range(count)]
    jobs = [
        job(
            number,
            ClusterId=str(cluster),
            Queue=f'"{queue}"',
            RequestCpus="1",
            RequestMemory="1",
            JobStatus="2",
            RemoteHost=f'"{name}"',
        )
        for number, name in enumerate(names)
    ]
    slots = [
        slot(number, Name=f'"{name}"', Machine=f'"{machine}"', State='"Claimed"', Cpus="1", Memory="1")
        for number, name in enumerate(names)
    ]
    return jobs, slots


TWO = {
    "root": ModelQueue("root"),
    "root.a": ModelQueue("root.a", guaranteed=10_000),
    "root.b": ModelQueue("root.b", guaranteed=10_000),
}


def test_what_runs_counts_for_its_queue(tmp_path):
    jobs, slots = running("root.a", 9, 4)
    waits = [
        ModelJob(f"root.{name}", number, proc, 1000)
        for number, name in enumerate("ab", 1)
        for proc in range(9)
    ]
    pool = snapshot([*slots, *machines(6)], [*jobs, *waiting(waits)])
    result = cycle(pool, bundle_of(tmp_path / "b", TWO))
    assert [each.granted for each in result.order] == [1, 5]
    assert [each.share_before for each in result.order] == [0.4, 0.0]


def test_a_queue_whose_jobs_fit_no_slot_leaves_the_slots_to_the_next_one(tmp_path):
    waits = waiting(
        [ModelJob("root.a", 1, 0, 9000), ModelJob("root.b", 2, 0, 1000), ModelJob("root.a", 3, 0, 1000)]
    )
    large = job(
        0,
        ClusterId="4",
        Queue='"root.a"',
        RequestCpus="1",
        RequestMemory="1",
        Requirements="false",
        JobPrio="9",
    )
    result = cycle(snapshot(machines(2), [large, *waits[1:]]), bundle_of(tmp_path / "b", TWO))
    assert served(result) == ["3.0", "2.0"]  # its priority still counts for its queue, as in YuniKorn


def test_other_applications_of_a_request_are_served_where_a_quota_refuses_one(tmp_path):
    queues = dict(TWO)
    bundle_of(tmp_path / "b", queues)
    text = (
        (tmp_path / "b" / "queues.yaml")
        .read_text()
        .replace("'name': 'a'", "'name': 'a', 'maxapplications': 1")
    )
    (tmp_path / "b" / "queues.yaml").write_text(text)
    jobs, slots = running("root.a", 2, 1)
    waits = [ModelJob("root.a", cluster, proc, 1000, date=cluster) for cluster in (1, 2) for proc in (1, 2)]
    waits += [ModelJob("root.b", 3, proc, 1000) for proc in (1, 2)]  # so that jobs are served one by one
    ads = [each.project([name for name in each if name.lower() != "rank"]) for each in waiting(waits)]
    result = cycle(snapshot([*slots, *machines(4)], [*jobs, *ads]), load_bundle(tmp_path / "b"))
    assert result.counts.requests == 2
    assert {"2.1", "2.2"} == set(served(result)) - {
        "3.1",
        "3.2",
    }  # cluster 2 runs already; 1 would be the second application


def test_jobs_without_a_queue_and_with_strange_numbers_are_served(tmp_path):
    (tmp_path / "pool.yaml").write_text("order: queues\nplugins: {disable: [placement]}\n")
    strange = ["error", "undefined", '"9"', "1e300", "-1e300", 'real("NaN")', "{1}", "true"]
    jobs = [
        job(number, JobPrio=value, QDate=value, ClusterId=value if number % 2 else "1")
        for number, value in enumerate(strange)
    ]
    result = cycle(snapshot(machines(len(jobs)), jobs), tmp_path)
    assert len(list(result.matches)) == len(jobs)


@pytest.mark.parametrize(("kind", "wanted"), [("binpacking", ["s2@h", "s0@h"]), ("fair", ["s0@h", "s2@h"])])
def test_machines_are_sorted_before_the_rank_of_jobs(tmp_path, kind, wanted):
    bundle_of(tmp_path / "b", TWO)
    text = (tmp_path / "b" / "queues.yaml").read_text()
    text = text.replace("'name': 'default'", f"'name': 'default', 'nodesortpolicy': {{'type': '{kind}'}}")
    (tmp_path / "b" / "queues.yaml").write_text(text)
    slots = [
        slot(0, Machine='"empty"'),
        slot(1, Machine='"used"', State='"Claimed"', RemoteOwner='"x@d"', RemoteUser='"x@d"'),
        slot(2, Machine='"used"'),
    ]
    rank = "TARGET.SlotID =?= undefined"
    jobs = [
        job(number, Queue='"root.a"', RequestCpus="1", RequestMemory="1", Rank=rank) for number in range(2)
    ]
    result = cycle(snapshot(slots, jobs), load_bundle(tmp_path / "b"))
    assert [match.slot for match in result.matches] == wanted


def test_the_reasons_of_jobs_that_wait_name_all_of_them(tmp_path):
    waits = [ModelJob("root.a", cluster, proc, 1000, date=cluster) for cluster in (1, 2) for proc in range(3)]
    result = cycle(snapshot(machines(4), waiting(waits)), bundle_of(tmp_path / "b", TWO))
    ids = [f"{each.cluster}.{each.proc}" for each in waits]
    left = {each for each in ids for outcome in result.outcomes if outcome.jobs_left.has(each)}
    assert served(result) == ["1.0", "1.1", "1.2", "2.0"]
    assert left == {"2.1", "2.2"}
    (rejection,) = [each.rejection for each in result.outcomes if each.rejection]
    assert rejection.first_job == "2.1"


def test_a_job_that_leaves_out_an_amount_counts_as_the_largest_slot(tmp_path):
    honest = waiting([ModelJob("root.a", 1, proc, 1000) for proc in range(9)])
    evading = [
        job(proc, ClusterId="2", Queue='"root.b"', RequestCpus="TARGET.Cpus", RequestMemory="1")
        for proc in range(9)
    ]
    result = cycle(snapshot(machines(5), [*honest, *evading]), bundle_of(tmp_path / "b", TWO))
    assert [each.granted for each in result.order] == [4, 1]


def test_an_ad_that_stands_for_several_jobs_waits_until_the_last_of_them_has_a_slot(tmp_path):
    ads = [
        job(
            0,
            ClusterId=cluster,
            Queue=f'"root.{queue}"',
            RequestCpus="1",
            RequestMemory="1",
            JobStatus=None,
            _condor_RESOURCE_COUNT="3",
        )
        for cluster, queue in (("1", "a"), ("2", "b"))
    ]
    for slots, left in ((4, {"1.0", "2.0"}), (5, {"2.0"}), (6, set())):
        result = cycle(snapshot(machines(slots), ads), bundle_of(tmp_path / str(slots), TWO))
        assert len(list(result.matches)) == slots
        assert {each for each in ("1.0", "2.0") for o in result.outcomes if o.jobs_left.has(each)} == left


def test_waiting_jobs_that_do_not_fit_do_not_hide_the_others_of_their_application(tmp_path):
    queues = {**TWO, "root.a": ModelQueue("root.a", guaranteed=10_000, sort="fair")}
    waits = waiting([ModelJob("root.a", 1, proc, 1000) for proc in range(4)])
    waits += waiting([ModelJob("root.a", 2, proc, 1000) for proc in range(2)])
    never = [
        job(p, ClusterId="1", Queue='"root.a"', RequestCpus="1", RequestMemory="1", Requirements="false")
        for p in (0, 1)
    ]
    result = cycle(snapshot(machines(3), [*never, *waits[2:]]), bundle_of(tmp_path / "b", queues))
    assert served(result) == ["1.2", "2.0", "1.3"]  # the refused jobs are no use of cluster 1


def test_machines_that_are_granted_count_as_used_at_the_next_turn(tmp_path):
    bundle_of(tmp_path / "b", TWO)
    text = (tmp_path / "b" / "queues.yaml").read_text()
    text = text.replace("'name': 'default'", "'name': 'default', 'nodesortpolicy': {'type': 'binpacking'}")
    (tmp_path / "b" / "queues.yaml").write_text(text)
    slots = [slot(number, Machine=f'"m{number % 2}"') for number in range(4)]
    waits = waiting([ModelJob("root.a", 1, 0, 1000), ModelJob("root.b", 2, 0, 1000)])
    result = cycle(snapshot(slots, waits), load_bundle(tmp_path / "b"))
    assert [match.slot for match in result.matches] == ["s0@h", "s2@h"]
