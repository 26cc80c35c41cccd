"""Preemption between queues in whole cycles of random pools: the jobs that end are those of a plain model."""

import hypothesis.strategies as st
from hypothesis import given, settings

from pools import cycle, snapshot
from queue_order_model import ModelJob, ModelQueue
from queue_order_pools import bundle_of, occupied, waiting
from queue_preemption_model import RunningModelJob, endings, split, used

PATHS = ("root", "root.a", "root.a.x", "root.a.y", "root.a.z", "root.b", "root.c", "root.c.x")
LEAVES = ("root.a.x", "root.a.y", "root.a.z", "root.b", "root.c.x")

amounts = st.sampled_from([None, 2000, 3000, 4000, 6000, 9000, 20_000])
queue_settings = st.builds(
    ModelQueue,
    path=st.just(""),
    guaranteed=amounts,
    sort=st.sampled_from(["fifo", "fair"]),
    by_priority=st.booleans(),
    fence=st.sampled_from([False, False, True]),
    offset=st.sampled_from([0, 0, 0, 1, -1]),
    preemption=st.sampled_from(["default"] * 6 + ["fence", "disabled"]),
)


@st.composite
def pools(draw):
    """Return queues by path, waiting jobs, and running jobs; no slot is free."""
    queues = {path: draw(queue_settings) for path in PATHS}
    for path, queue in queues.items():
        queue.path = path
        parent = queues.get(path.rpartition(".")[0])
        if parent is not None and parent.preemption == "disabled":  # inherited
            queue.preemption = "disabled"
    for path in ("root", "root.a", "root.c"):
        own = [queues[each].guaranteed or 0 for each in PATHS if each.rpartition(".")[0] == path]
        queues[path].guaranteed = draw(st.sampled_from([None, sum(own)])) if sum(own) else None
    queues["root"].guaranteed = None
    sizes = st.sampled_from([1000, 1000, 2000, 3000])
    waits, priorities = [], st.sampled_from([0, 0, 0, 1, -2])
    used_by = draw(st.lists(st.sampled_from(LEAVES), min_size=1, max_size=3))
    for cluster in range(1, draw(st.integers(1, 4)) + 1):
        queue, date = draw(st.sampled_from(LEAVES)), draw(st.integers(1, 3))
        waits += [
            ModelJob(queue, cluster, proc, draw(sizes), draw(priorities), date)
            for proc in range(draw(st.integers(2, 14)))
        ]
    runs = [
        RunningModelJob(
            *(draw(st.sampled_from(used_by)), 100 + number, 0, draw(sizes), draw(priorities), 1),
            slot=number,
            started=draw(st.integers(1, 3)),
        )
        for number in range(draw(st.integers(5, 20)))
    ]
    return queues, waits, runs


def ended(result):
    """Return the jobs that got slots, each with the slot and the queue of the job that was ended."""
    matches = sorted(result.matches, key=lambda match: int(match.id.split(".")[1]))
    return [(match.job, match.slot, match.preempts.queue) for match in matches]


@given(pool=pools())
@settings(max_examples=100, deadline=None)
def test_running_jobs_are_ended_as_the_model_ends_them(tmp_path_factory, pool):
    queues, waits, runs = pool
    slots, jobs = occupied(runs)
    bundle = bundle_of(tmp_path_factory.mktemp("bundle"), queues)
    result = cycle(snapshot(slots, [*jobs, *waiting(waits)]), bundle)
    wanted = endings(queues, waits, runs, len(runs) * 4000)
    assert ended(result) == [
        (f"{each.cluster}.{each.proc}", f"s{victim.slot}@h", victim.queue) for each, victim in wanted
    ]


@given(pool=pools())
@settings(max_examples=60, deadline=None)
def test_no_queue_loses_its_guarantee_and_none_gets_more_than_its_own(tmp_path_factory, pool):
    queues, waits, runs = pool
    slots, jobs = occupied(runs)
    bundle = bundle_of(tmp_path_factory.mktemp("bundle"), queues)
    result = cycle(snapshot(slots, [*jobs, *waiting(waits)]), bundle)
    by_id = {f"{each.cluster}.{each.proc}": each for each in waits}
    by_slot = {f"s{each.slot}@h": each for each in runs}
    using = list(runs)
    for name, place, _ in ended(result):
        job_, victim = by_id[name], by_slot[place]
        using.remove(victim)
        using.append(job_)
        above, below = split(job_.queue, victim.queue)
        for path in below:
            assert queues[path].guaranteed is None or used(path, using) >= queues[path].guaranteed
        for path in above:
            assert queues[path].guaranteed is None or used(path, using) <= queues[path].guaranteed
            assert (
                queues[path].preemption != "fence"
            )  # what runs above a fence is not ended for jobs below it
        assert queues[victim.queue].preemption != "disabled"


@given(pool=pools())
@settings(max_examples=15, deadline=None)
def test_nothing_is_ended_where_the_partition_forbids_it(tmp_path_factory, pool):
    queues, waits, runs = pool
    slots, jobs = occupied(runs)
    bundle = bundle_of(tmp_path_factory.mktemp("bundle"), queues, preemption={"enabled": False})
    assert not cycle(snapshot(slots, [*jobs, *waiting(waits)]), bundle).matches
