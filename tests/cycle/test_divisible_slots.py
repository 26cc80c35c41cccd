"""Slots that several matches share: ``match: fill``, and consumption policies."""

from collections import Counter

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.bundle import load_bundle
from negotiator.cycle.loop import run_cycle
from negotiator.errors import BundleError
from negotiator.plugin import Cycle
from pools import NOW, job, matched, slot, snapshot, write_bundle

FIT = "TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory"
POLICY = {
    "MachineResources": '"Cpus Memory"',
    "ConsumptionCpus": "TARGET.RequestCpus",
    "ConsumptionMemory": "TARGET.RequestMemory",
}


def pslot(number=0, cpus=8, memory=8192, **changed):
    own = {"PartitionableSlot": "true", "Requirements": FIT, "SlotWeight": "Cpus"}
    return slot(number, Cpus=str(cpus), Memory=str(memory), **(own | changed))


def alike(count, cpus=1, memory=1024, name="ann", cluster=1):
    own = {"Owner": f'"{name}"', "User": f'"{name}@d"', "ClusterId": str(cluster)}
    size = {"RequestCpus": str(cpus), "RequestMemory": str(memory), "RequestDisk": "1"}
    return [job(number, **own, **size) for number in range(count)]


@pytest.fixture
def fill(tmp_path):
    return write_bundle(tmp_path / "fill", "match: fill\n")


def run(bundle, slots, jobs, claim_ids=None):
    pool = attrs.evolve(snapshot(slots, jobs), claim_ids=claim_ids)
    return run_cycle(pool, bundle, Cycle(1, NOW, bundle.digest))


def per_slot(result):
    return dict(Counter(name for _, name in matched(result)))


def test_a_partitionable_slot_gets_as_many_jobs_of_a_request_as_it_holds(fill):
    """By the scarcest resource: the second slot holds two by its memory."""
    slots = [pslot(0, cpus=3), pslot(1, cpus=8, memory=2500), slot(2)]
    assert per_slot(run(fill, slots, alike(9))) == {"s0@h": 3, "s1@h": 2, "s2@h": 1}
    assert [found for found, _ in matched(run(fill, slots, alike(9)))] == [
        f"1.{number}" for number in range(6)
    ]


def test_without_the_key_a_slot_gets_one_job(tmp_path):
    for text in ("", "match: one\n"):
        bundle = write_bundle(tmp_path / (text[7:10] or "none"), text)
        assert per_slot(run(bundle, [pslot(0), pslot(1)], alike(9))) == {"s0@h": 1, "s1@h": 1}


def test_another_value_of_the_key_is_refused(tmp_path):
    (tmp_path / "pool.yaml").write_text("match: all\n")
    with pytest.raises(BundleError, match="one of one, fill"):
        load_bundle(tmp_path)


def test_a_filled_slot_goes_to_one_request(fill):
    jobs = [*alike(2), *alike(9, name="sue", cluster=2)]
    result = run(fill, [pslot(0), pslot(1)], jobs)
    users = {match.slot: match.submitter for match in result.matches}
    assert (users, per_slot(result)) == ({"s0@h": "ann@d", "s1@h": "sue@d"}, {"s0@h": 2, "s1@h": 8})


@pytest.mark.parametrize("count", [(1,), None])
def test_one_claim_id_serves_all_jobs_of_a_filled_slot(fill, count):
    assert per_slot(run(fill, [pslot(0)], alike(9), count)) == {"s0@h": 8}


def test_each_job_of_a_filled_slot_is_charged(tmp_path):
    """A user limit of three cores leaves the rest of the slot empty, and the ledger has three charges."""
    queues = "partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: '*'\n"
    queues += "    queues:\n    - name: q\n      resources:\n        max: {vcore: 3}\n"
    queues += "  placementrules:\n  - name: fixed\n    value: root.q\n"
    folder = tmp_path / "b"
    folder.mkdir()
    (folder / "pool.yaml").write_text("match: fill\n")
    (folder / "queues.yaml").write_text(queues)
    result = run(load_bundle(folder), [pslot(0), pslot(1)], alike(9))
    assert per_slot(result) == {"s0@h": 3}
    (outcome,) = result.outcomes
    assert (outcome.unmatched, outcome.rejection.reason.code) == (6, "quota")
    result.ledger.verify()


def test_a_share_counts_what_the_jobs_take_of_a_slot(tmp_path):
    """Two submitters share sixteen cores: each gets one slot, and fills it with as many jobs as its share allows."""
    bundle = write_bundle(
        tmp_path / "fair", "order: submitters\nmatch: fill\naccounting: {trust_names: true}\n"
    )
    jobs = [*alike(20), *alike(20, name="sue", cluster=2)]
    result = run(bundle, [pslot(0, cpus=10), pslot(1, cpus=6)], jobs)
    assert sorted(per_slot(result).values()) == [6, 8]
    accounts = result.state.order_rows["submitters"]
    used = [accounts[f"account:{name}@d"]["WeightedResourcesUsed"] for name in ("ann", "sue")]
    assert sorted(used) == [6, 8]


def test_jobs_that_request_nothing_or_too_much_get_the_slot_alone(fill):
    """What a slot's Requirements do not refuse is matched as without the key."""
    slots = [pslot(0, Requirements="true")]
    for size in ({"cpus": 99}, {"cpus": 0, "memory": 0}, {"cpus": -3}, {"cpus": '"x"', "memory": "error"}):
        jobs = [each.with_items([("RequestDisk", 0)]) for each in alike(3, **size)]
        assert len(run(fill, slots, jobs).matches) == 1


def test_jobs_of_one_request_are_equal_in_what_they_take(fill):
    """Nothing but the key reads what jobs request."""
    slots = [pslot(0, Requirements="true"), pslot(1, Requirements="true")]
    jobs = [
        *alike(9, cpus=4)[:2],
        *[each.with_items([("ProcId", 5 + at)]) for at, each in enumerate(alike(4, cpus=2))],
    ]
    assert per_slot(run(fill, slots, jobs)) == {"s0@h": 2, "s1@h": 4}


def test_a_slot_with_a_consumption_policy_is_shared_by_requests(tmp_path):
    """Sue's jobs see what ann's have left."""
    bundle = write_bundle(tmp_path / "names", "order: names\n")
    jobs = [*alike(2, cpus=3), *alike(9, name="sue", cluster=2)]
    assert [match.submitter for match in run(bundle, [pslot(0, **POLICY)], jobs).matches] == [
        *["ann@d"] * 2,
        *["sue@d"] * 2,
    ]


def test_each_match_with_a_consumption_policy_needs_a_claim_id(tmp_path):
    bundle = write_bundle(tmp_path / "plain")
    slots = [pslot(0, **POLICY), pslot(1, **POLICY)]
    assert per_slot(run(bundle, slots, alike(20), (3, 2))) == {"s0@h": 3, "s1@h": 2}


@pytest.mark.parametrize("text", ["-1", '"two"', "undefined", "error", "0"])
def test_a_policy_that_says_no_amount_matches_nothing(tmp_path, text):
    bundle = write_bundle(tmp_path / "plain")
    policy = POLICY | {"ConsumptionCpus": text, "ConsumptionMemory": "0"}
    assert run(bundle, [pslot(0, **policy)], alike(2)).matches == ()


def test_a_policy_must_cover_all_resources(tmp_path):
    """Without one for memory the slot is an ordinary one; swap needs none."""
    bundle = write_bundle(tmp_path / "plain")
    partial = {name: value for name, value in POLICY.items() if name != "ConsumptionMemory"}
    swap = POLICY | {"MachineResources": '"Cpus, Memory Swap"'}
    result = run(bundle, [pslot(0, **partial), pslot(1, **swap)], alike(20))
    assert per_slot(result) == {"s0@h": 1, "s1@h": 8}


sizes = st.tuples(st.integers(1, 9), st.integers(1, 9))


@settings(deadline=None, max_examples=40)
@given(
    st.lists(sizes, min_size=1, max_size=5),
    st.lists(st.tuples(sizes, st.integers(1, 9)), max_size=4),
    st.booleans(),
)
def test_no_slot_gets_more_than_it_has(tmp_path_factory, slots, requests, policy):
    """Whatever fits, fits together; and no slot that could hold one more job of the last request is left.

    Under fair share a part of the pie may be less than a job takes.
    """
    more = "order: names\n" + ("" if policy else "match: fill\n")
    bundle = write_bundle(tmp_path_factory.mktemp("b") / "x", more)
    own = POLICY if policy else {}
    table = [pslot(number, cpus, memory, **own) for number, (cpus, memory) in enumerate(slots)]
    jobs = [
        each
        for number, ((cpus, memory), count) in enumerate(requests)
        for each in alike(count, cpus, memory, name=f"u{number}", cluster=number + 1)
    ]
    left = {f"s{number}@h": list(size) for number, size in enumerate(slots)}
    for match in run(bundle, table, jobs).matches:
        size = requests[int(match.job.partition(".")[0]) - 1][0]
        left[match.slot] = [has - takes for has, takes in zip(left[match.slot], size, strict=True)]
    assert all(each >= 0 for size in left.values() for each in size)
    if policy and requests:
        (cpus, memory), count = requests[-1]
        made = sum(match.submitter == f"u{len(requests) - 1}@d" for match in run(bundle, table, jobs).matches)
        assert made == count or not any(has >= cpus and more >= memory for has, more in left.values())
