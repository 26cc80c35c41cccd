"""Usage of each queue: running jobs, claimed slots, and matches that the pool does not show yet."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import queueing
from negotiator.bundle import load_bundle
from negotiator.classad import ClassAd, Environment, Table, parse_old
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.place import place
from negotiator.cycle.queue_usage import queue_usage
from negotiator.cycle.resources import amounts, requested
from negotiator.plugin import Cycle
from negotiator.queues.applications import ApplicationId
from negotiator.queues.names import upwards
from pools import NOW, slot, snapshot
from queueing import app

QUEUES = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - {name: one, resources: {max: {gpus: 4}}}
          - {name: two}
          - {name: above, parent: true, childtemplate: {resources: {max: {vcore: 3}}}}
    placementrules:
      - {name: provided, create: true}
      - {name: fixed, value: root.one}
"""
GIB = 1 << 30
VALUES = [
    "0", "1", "7", "-1", "2.5", "-0.5", "true", "undefined", "error", '"4"', "1e300", 'real("NaN")', 'real("INF")',
    "9223372036854775807", "9223372036854775808.0", "9223372036854774784.0", "Missing", "Weight + 1", "{1}", "TARGET.Cpus",
]  # fmt: skip


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return load_bundle(queueing.write(tmp_path_factory.mktemp("bundle"), QUEUES))


def running_job(cluster, proc=0, queue=None, **more):
    """Return a running job of one core and one GiB."""
    own = {"JobStatus": "2", "RequestCpus": "1", "RequestMemory": "1024"}
    return app(cluster, proc, queue=queue, **(own | more))


def claimed(number, queue, **more):
    """Return a claimed slot of two cores and one GiB, whose job requested a queue."""
    own = {
        "State": '"Claimed"',
        "Cpus": "2",
        "Memory": "1024",
        "RemoteUser": '"sue@d"',
        "Queue": f'"{queue}"',
    }
    return slot(number, **(own | more))


def count(bundle, jobs=(), slots=(), state=None):
    """Return by queue: whole vcores, memory in GiB, gpus, and applications."""
    cycle = Cycle(1, NOW, bundle.digest)
    in_use = place(snapshot(slots, jobs), None, bundle, cycle, state or CycleState.new(bundle, NOW))
    found = queue_usage(in_use, bundle, cycle)
    return {
        path: (
            usage.resources["vcore"] / 1000,
            usage.resources["memory"] / GIB,
            usage.resources["gpus"],
            usage.applications,
        )
        for path, usage in found.items()
    }


def test_usage_of_a_queue_includes_its_children(bundle):
    """Waiting jobs do not count, and a queue without running jobs is not listed."""
    jobs = [
        running_job(1, queue="root.above.a", RequestGPUs="1"),
        running_job(1, 1, queue="root.above.a"),
        running_job(2, queue="root.above.b", RequestCpus="3"),
        running_job(3),
        running_job(4, queue="root.two", JobStatus="1"),
    ]
    assert count(bundle, jobs) == {
        "root.above.a": (2, 2, 1, 1),
        "root.above.b": (3, 1, 0, 1),
        "root.above": (5, 3, 1, 2),
        "root.one": (1, 1, 0, 1),
        "root": (6, 4, 1, 3),
    }


def test_jobs_that_no_rule_places_count_at_the_root(bundle):
    assert count(bundle, [running_job(1, queue="root.one.below")])["root"] == (1, 1, 0, 1)


def test_a_claimed_slot_counts_with_its_resources_and_a_job_without_an_application_as_one(bundle):
    found = count(
        bundle, [running_job(1, ClusterId=None), running_job(1, 1, ClusterId=None)], [claimed(0, "root.two")]
    )
    assert found["root.two"] == (2, 1, 0, 1)
    assert found["root"] == (4, 3, 0, 3)


def test_sums_are_exact_beyond_the_largest_limit(bundle):
    """Each job requests almost the largest amount."""
    jobs = [running_job(cluster, RequestGPUs=str(2**63 - 1 - cluster)) for cluster in range(5)]
    assert count(bundle, jobs)["root"][2] == 5 * (2**63 - 1) - 10


def test_a_match_counts_until_its_job_runs(bundle):
    """With its application; one that was moved since counts once in the common parent of both queues."""
    waiting = [running_job(1, JobStatus="1"), running_job(1, 1, JobStatus="1")]
    result = run_cycle(
        snapshot([slot(0), slot(1)], waiting),
        bundle,
        Cycle(1, NOW, bundle.digest),
        CycleState.new(bundle, NOW),
    )
    state = result.state
    assert count(bundle, state=state)["root.one"] == (2, 2, 0, 1)
    assert count(bundle, [running_job(1)], state=state)["root.one"] == (2, 2, 0, 1)
    assert count(bundle, [running_job(1), running_job(1, 1)], state=state)["root.one"] == (2, 2, 0, 1)
    moved = state.registry.copy()
    moved.move(ApplicationId("node1", "tester", 1), "root.two", NOW)
    found = count(bundle, [running_job(1)], state=attrs.evolve(state, registry=moved))
    assert (found["root.one"], found["root.two"], found["root"]) == (
        *((1, 1, 0, 1), (1, 1, 0, 1), (2, 2, 0, 1)),
    )


@given(st.lists(st.tuples(*[st.none() | st.sampled_from(VALUES)] * 3), min_size=1, max_size=12))
def test_amounts_of_many_jobs_are_those_of_each(bundle, rows):
    """By columns or one by one: also of expressions, of invalid amounts, and of amounts too large to count."""
    names = ("RequestCpus", "RequestMemory", "RequestGPUs")
    ads = [
        ClassAd([(name, parse_old(text)) for name, text in zip(names, row, strict=True) if text is not None])
        for row in rows
    ]
    env = Environment(now=NOW)
    found = amounts(Table.from_ads(ads), bundle, env)
    assert found.keys() == {"vcore", "memory", "gpus"}
    for row, each in enumerate(ads):
        expected, _ = requested(each, bundle, env)
        assert {name: values[row] for name, values in found.items()} == expected


@given(
    st.lists(
        st.tuples(
            st.integers(0, 4),
            st.sampled_from(["one", "two", "above.a", "above.b.c", "above.c"]),
            st.integers(0, 9),
        ),
        max_size=20,
    )
)
def test_usage_of_each_queue_is_the_sum_over_its_running_jobs(bundle, drawn):
    """Compared with a sum job by job."""
    jobs = [
        running_job(cluster, proc, f"root.{queue}", RequestCpus=str(cpus))
        for proc, (cluster, queue, cpus) in enumerate(drawn)
    ]
    wanted = {}
    placed = place(
        snapshot((), jobs), None, bundle, Cycle(1, NOW, bundle.digest), CycleState.new(bundle, NOW)
    ).running
    for path, each in zip(placed.queues, placed.jobs.ads, strict=True):
        for queue in upwards(path):
            sums, applications = wanted.setdefault(queue, [0, set()])
            wanted[queue][0] = sums + each.integer("RequestCpus")
            applications.add(each.integer("ClusterId"))
    assert {queue: (cpus, len(each)) for queue, (cpus, each) in wanted.items()} == {
        queue: (usage[0], usage[3]) for queue, usage in count(bundle, jobs).items()
    }
