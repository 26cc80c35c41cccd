"""Claimed slots whose job has no ad: their jobs count like other running jobs."""

import pytest

import queueing
from negotiator.cycle.claims import undivided
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle
from pools import NOW, slot, snapshot
from queueing import app

LIMITED = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: one
            limits:
              - {limit: each, users: ["*"], maxresources: {vcore: 4}}
    placementrules:
      - {name: fixed, value: root.one}
"""


@pytest.fixture
def bundle(tmp_path):
    return queueing.bundle(tmp_path / "bundle", LIMITED)


def claimed(number, **more):
    own = {"State": '"Claimed"', "Cpus": "2", "Memory": "1024", "RemoteUser": '"tester@d"'}
    return slot(number, **(own | more))


def used(bundle, slots, jobs=()):
    result = run_cycle(snapshot(slots, jobs), bundle, Cycle(1, NOW, bundle.digest))
    return dict(result.ledger.counters()), result


def vcore(counters, user="tester", queue="root.one"):
    return counters.get(("limits", "user", user, queue, "vcore"), 0)


def test_a_claimed_slot_counts_for_its_user_with_all_its_resources(bundle):
    counters, _ = used(bundle, [claimed(0), claimed(1, Cpus="1"), slot(2)])
    assert vcore(counters) == 3000
    assert vcore(counters, queue="root") == 3000


def test_a_job_that_has_an_ad_is_counted_once(bundle):
    """By its ad, which has more attributes than the slot; identified by the slot's name, or by the job's."""
    running = app(7, JobStatus="2", RequestCpus="1", RemoteHost='"slot1@n0"', GlobalJobId='"node1#7.0#1"')
    by_name = claimed(0, Name='"slot1@n0"')
    by_job = claimed(1, JobId='"7.0"', GlobalJobId='"node1#7.0#1"')
    assert vcore(used(bundle, [by_name], [running])[0]) == 1000
    assert vcore(used(bundle, [by_job], [running])[0]) == 1000


@pytest.mark.parametrize("name", ['"7."', '".0"', '"7"', '""', '"x.0"', '"7.y"', "7", "undefined"])
def test_a_claimed_slot_with_an_invalid_job_id_counts_too(bundle, name):
    """A machine writes what it likes."""
    assert vcore(used(bundle, [claimed(0, JobId=name)])[0]) == vcore(used(bundle, [claimed(0)])[0]) > 0


def test_running_jobs_use_up_the_limit(bundle):
    waiting = [app(cluster, RequestCpus="1", RequestMemory="1") for cluster in range(3)]
    _, result = used(bundle, [claimed(0), claimed(1, Cpus="1"), slot(2), slot(3)], waiting)
    assert len(result.matches) == 1


@pytest.mark.parametrize(
    "gate", ["NEGOTIATOR_PE_STARTD_ONLY_EXPR: MY.Old", "NEGOTIATOR_SLOT_CONSTRAINT: '!MY.Old'"]
)
def test_a_discarded_slot_counts_while_it_is_claimed(tmp_path, gate):
    """A gate keeps a machine from being matched; it does not free the quota of what runs there."""
    gated = queueing.bundle(tmp_path / "bundle", LIMITED, pool=f"{gate}\n")
    waiting = app(1, RequestCpus="4", RequestMemory="1")
    counters, result = used(gated, [claimed(0, Old="true"), slot(1, Old="false")], [waiting])
    assert [each.examples for each in result.discarded] == [("s0@h",)]
    assert (vcore(counters), result.matches) == (2000, ())
    running = app(7, JobStatus="2", RequestCpus="9", RemoteHost='"s0@h"')
    assert vcore(used(gated, [claimed(0, Old="true"), slot(1, Old="false")], [running])[0]) == 2000


def test_a_slot_without_a_user_counts_for_no_other_user(bundle):
    counters, _ = used(bundle, [claimed(0, RemoteUser=None)])
    assert {key[2] for key in counters if key[1] == "user"} <= {""}


def test_a_slot_that_names_only_the_owner_of_its_job_counts_for_that_owner(bundle):
    counters, _ = used(bundle, [claimed(0, RemoteUser=None, RemoteOwner='"zoe@d"')])
    assert {key[2] for key in counters if key[1] == "user"} == {"zoe"}


MAXIMA = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - {name: made, parent: true, childtemplate: {maxapplications: 2, resources: {max: {vcore: 9}}}}
    placementrules:
      - {name: provided, create: true}
"""


def test_a_queue_created_for_a_claimed_slot_has_its_maxima_at_once(tmp_path):
    """Even if no job waits."""
    counters, _ = used(queueing.bundle(tmp_path / "bundle", MAXIMA), [claimed(0, Queue='"root.made.one"')])
    assert counters["maxima", "root.made.one", "vcore"] == 2000


def test_jobs_without_an_application_count_as_one_each(tmp_path):
    """A running job, a waiting one and a slot whose job has no ad are separate applications."""
    own = queueing.bundle(tmp_path / "bundle", MAXIMA)
    attributes = {"ClusterId": None, "queue": "root.made.one", "RequestCpus": "1", "RequestMemory": "1"}
    slots = [claimed(0, Queue='"root.made.one"'), slot(1)]
    assert len(used(own, slots, [app(**attributes)])[1].matches) == 1
    running = app(**attributes, JobStatus="2")
    _, result = used(own, slots, [running, app(**attributes)])
    assert dict(result.ledger.counters().key_sets())["maxima", "root.made.one"].keys() == {
        *("claim 0", "running job 0"),
    }
    assert result.matches == ()


@pytest.mark.parametrize(
    ("slot", "name"),
    [("slot1_2@a.example.org", "slot1@a.example.org"), ("slot1_2", "slot1"), ("slot1@a", ""), ("", "")],
)
def test_the_name_of_a_dynamic_slot_has_that_of_the_slot_it_was_taken_from(slot, name):
    assert undivided(slot) == name
