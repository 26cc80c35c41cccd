"""Usage of each queue: running jobs, claimed slots, and matches that the pool does not show yet."""

import math

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import queueing
from negotiator.bundle import load_bundle
from negotiator.classad import Ad, parse_old
from negotiator.cycle.claim_requests import claim_requests, queue_usage
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.place import place
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
    pool = snapshot(slots, jobs)
    in_use = place(pool, None, bundle, cycle, state or CycleState.new(bundle, NOW))
    found = queue_usage(claim_requests(in_use, pool.slots, bundle, cycle))
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


def test_a_request_larger_than_any_machine_counts_as_what_its_slot_has(bundle):
    """As the most that any slot has if its slot is not in the pool."""
    slots = [slot(0, GPUs="2"), slot(1, GPUs="3"), slot(2)]
    huge = str(2**63 - 1)
    jobs = [running_job(1, proc, RequestGPUs=huge, RemoteHost=f'"s{proc}@h"') for proc in range(3)]
    assert count(bundle, jobs[:1], slots)["root"][2] == 2
    assert count(bundle, jobs[:2], slots)["root"][2] == 5
    assert count(bundle, jobs, slots)["root"][2] == 5
    assert count(bundle, [running_job(1, RequestGPUs=huge)], slots)["root"][2] == 3


def test_a_match_counts_until_its_job_runs(bundle):
    """With its application, where it was moved since."""
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
    assert (found.get("root.one"), found["root.two"], found["root"]) == (*(None, (2, 2, 0, 1), (2, 2, 0, 1)),)


@given(st.lists(st.tuples(*[st.none() | st.sampled_from(VALUES)] * 3), min_size=1, max_size=12))
def test_a_running_job_counts_at_least_one_core_and_at_most_its_slot(bundle, rows):
    """Whatever its ad requests: a valid request counts as it is, and any other as the whole slot."""
    names = ("RequestCpus", "RequestMemory", "RequestGPUs")
    slots = [slot(number, Cpus="4", Memory="4096", GPUs="2") for number in range(len(rows))]
    least, most = (1, 1, 0), (4, 4096, 2)
    expected = np.zeros(3)
    jobs = []
    for number, row in enumerate(rows):
        requests = dict(zip(names, row, strict=True))
        jobs.append(running_job(number, RemoteHost=f'"s{number}@h"', Weight="2", **requests))
        for place_, (text, low, high) in enumerate(zip(row, least, most, strict=True)):
            value = None if text is None else Ad([("Weight", 2), ("X", parse_old(text))]).evaluate("X")
            is_valid = type(value) in (int, float) and 0 <= value <= 2**43
            missing = text is None and not low
            amount = min(max(value, low), high) if is_valid else 0 if missing else high
            expected[place_] += math.ceil(amount * 1000) / 1000 if place_ == 0 else amount
    found = count(bundle, jobs, slots)["root"]
    assert found[0] == pytest.approx(expected[0])
    assert found[1] == pytest.approx(expected[1] / 1024)
    assert found[2] == pytest.approx(expected[2], abs=len(rows) / 2)


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
            wanted[queue][0] = sums + max(1, each.integer("RequestCpus"))
            applications.add(each.integer("ClusterId"))
    assert {queue: (cpus, len(each)) for queue, (cpus, each) in wanted.items()} == {
        queue: (usage[0], usage[3]) for queue, usage in count(bundle, jobs).items()
    }
