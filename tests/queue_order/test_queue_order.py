"""The order ``queues`` in whole cycles: the sequence of jobs is that of a plain model, one job after the other."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from negotiator.bundle import load_bundle
from pools import cycle, job, slot, snapshot
from queue_order_model import ModelJob, ModelQueue, sequence

PATHS = ("root", "root.a", "root.a.x", "root.a.y", "root.b", "root.c")
LEAVES = ("root.a.x", "root.a.y", "root.b", "root.c")


def written(queues, path="root"):
    """Return a queue and those below it as queues.yaml writes them."""
    queue = queues[path]
    resources = {
        key: {"vcore": f"{amount}m"}
        for key, amount in (("guaranteed", queue.guaranteed), ("max", queue.max))
        if amount is not None
    }
    properties = {
        "application.sort.policy": queue.sort,
        "application.sort.priority": "enabled" if queue.by_priority else "disabled",
        "priority.policy": "fence" if queue.fence else "default",
        "priority.offset": str(queue.offset),
    }
    children = [each for each in queues if each.rpartition(".")[0] == path]
    found = {"name": path.rpartition(".")[2], "properties": properties}
    if resources:
        found["resources"] = resources
    if path == "root":
        found["submitacl"] = "*"
    if children:
        found["queues"] = [written(queues, each) for each in children]
    return found


def bundle_of(folder, queues, pool="order: queues\nqueue_turns: exact\n"):
    """Return a bundle with these queues, by path; further keys of the partition are in ``pool`` after ``---``."""
    folder.mkdir(parents=True, exist_ok=True)
    partition = {"name": "default", "placementrules": [{"name": "provided"}], "queues": [written(queues)]}
    (folder / "queues.yaml").write_text(str({"partitions": [partition]}))
    (folder / "pool.yaml").write_text(pool)
    return load_bundle(folder)


def waiting(jobs):
    """Return the ads of jobs."""
    return [
        job(
            each.proc,
            ClusterId=str(each.cluster),
            Queue=f'"{each.queue}"',
            RequestCpus=repr(each.vcore / 1000),
            RequestMemory="1",
            JobPrio=str(each.priority),
            QDate=str(each.date),
        )
        for each in jobs
    ]


def machines(count):
    return [slot(number, Machine=f'"m{number}"', Cpus="4", Memory="100") for number in range(count)]


def served(result):
    """Return the jobs in the order in which they got their slots."""
    return [match.job for match in sorted(result.matches, key=lambda match: int(match.id.split(".")[1]))]


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
