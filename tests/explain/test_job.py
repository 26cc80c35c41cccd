"""Why a job gets no slot: conditions with their slots, the fewest together and to change, and the nearest value."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import negotiator as n
from negotiator.cycle.cycle_state import CycleState
from negotiator.explain.job import Lever, explain_alone, explain_slot
from negotiator.explain.job.conditions import fewest_to_change, fewest_together
from negotiator.plugin import Cycle
from pools import NOW, cycle, job, slot, snapshot, write_bundle

ROOT = Path(__file__).parents[2]
MEMORY = 'TARGET.Memory >= RequestMemory && TARGET.OpSys == "LINUX"'


@pytest.fixture
def bundle(tmp_path):
    # Without preemption a claimed slot is in use, whoever uses it.
    return write_bundle(tmp_path / "bundle", "order: names\n")


def explained(pool, bundle, row=0):
    return explain_alone(pool, bundle, Cycle(1, NOW, bundle.digest), CycleState.new(bundle, NOW), row)


def by_text(found):
    return {each.reason.text.partition(": ")[2] or each.reason.text: each for each in found.conditions}


SLOTS = [
    slot(0, Memory="14336", OpSys='"LINUX"'),
    slot(1, Memory="14336", OpSys='"LINUX"'),
    slot(2, Memory="8192", OpSys='"LINUX"'),
    slot(3, Memory="32768", OpSys='"WINDOWS"'),
    slot(4, Memory="1024", OpSys='"WINDOWS"'),
    slot(5, Memory="64000", OpSys='"LINUX"', State='"Claimed"'),
]


def test_each_condition_has_the_slots_it_rejects_and_those_that_nothing_else_rejects(bundle):
    found = explained(snapshot(SLOTS, [job(RequestMemory="16384", Requirements=MEMORY)]), bundle)
    counts = {text: (each.rejected, each.alone) for text, each in by_text(found).items()}
    assert counts == {
        "TARGET.Memory >= RequestMemory": (4, 3),
        'TARGET.OpSys == "LINUX"': (2, 1),
        "the slot is in use": (1, 1),
    }
    assert (found.slots, found.candidates, found.slot) == (6, 0, "")


def test_the_nearest_value_opens_as_many_slots_as_it_says(bundle):
    """The job is asked again with that value."""
    ad = {"RequestMemory": "16384", "Requirements": MEMORY}
    near = by_text(explained(snapshot(SLOTS, [job(**ad)]), bundle))["TARGET.Memory >= RequestMemory"].near
    assert str(near) == "RequestMemory <= 14336 (now 16384): 2 slots"
    changed = explained(snapshot(SLOTS, [job(**(ad | {"RequestMemory": "14336"}))]), bundle)
    assert changed.candidates == near.opens == 2


@pytest.mark.parametrize(
    ("requirements", "near"),
    [
        ("TARGET.Memory > 50000", "the constant < 32768 (now 50000): 1 slot"),
        ("50000 <= TARGET.Memory", "the constant <= 32768 (now 50000): 1 slot"),
        ("MY.RequestMemory * 4 < TARGET.Memory", "MY.RequestMemory * 4 < 32768 (now 65536): 1 slot"),
        ("(TARGET.OpSys == MY.Wanted)", 'Wanted == "LINUX" (now "MACOS"): 3 slots'),
        ("TARGET.Memory == RequestMemory", "RequestMemory == 14336 (now 16384): 2 slots"),
    ],
)
def test_the_nearest_value_of_a_comparison(bundle, requirements, near):
    ad = job(RequestMemory="16384", Wanted='"MACOS"', Requirements=requirements)
    found = explained(snapshot(SLOTS, [ad]), bundle)
    (own,) = [each for each in found.conditions if each.reason.code == "job_requirements"]
    assert str(own.near) == near


@pytest.mark.parametrize(
    "requirements",
    [
        "TARGET.HasDocker",
        "TARGET.Memory >= TARGET.Cpus * 100000",
        "RequestMemory >= 20000",
        'regexp("MAC", TARGET.OpSys)',
    ],
)
def test_a_condition_that_does_not_compare_the_job_with_slots_has_no_nearest_value(bundle, requirements):
    found = explained(snapshot(SLOTS, [job(RequestMemory="16384", Requirements=requirements)]), bundle)
    (own,) = [each for each in found.conditions if each.reason.code == "job_requirements"]
    assert own.near is None


def test_who_can_change_a_condition_is_named(tmp_path):
    bundle = write_bundle(
        tmp_path / "b",
        "policies:\n  - {name: none, applies_to: match, expression: 'TARGET.Cpus > 99'}\n",
    )
    slots = [
        slot(0, Requirements="TARGET.RequestMemory <= 10"),
        slot(1, Requirements='TARGET.Owner == "root"'),
        slot(2, Requirements="MY.Cpus > 50"),
        slot(3, State='"Claimed"', RemoteUser='"u@d"'),
    ]
    found = by_text(
        explained(snapshot(slots, [job(RequestMemory="20", Requirements="TARGET.Cpus > 5")]), bundle)
    )
    levers = {text: each.lever for text, each in found.items()}
    assert levers["TARGET.Cpus > 5"] is Lever.JOB
    assert levers["MY.Cpus > 50"] is Lever.MACHINE
    assert levers["the slot keeps its job"] is Lever.TIME
    assert Lever.POOL in levers.values()


def test_a_number_of_the_job_in_the_requirements_of_slots_is_its_owners_to_change(bundle):
    slots = [slot(n, Requirements="TARGET.RequestMemory <= MY.Memory", Memory=str(n * 10)) for n in range(3)]
    (found,) = explained(snapshot(slots, [job(RequestMemory="50")]), bundle).conditions
    assert (found.lever, str(found.near)) == (Lever.JOB, "RequestMemory <= 20 (now 50): 1 slot")


def test_the_fewest_that_leave_no_slot_and_the_fewest_to_change(bundle):
    found = explained(snapshot(SLOTS, [job(RequestMemory="16384", Requirements=MEMORY)]), bundle)
    assert {each.reason.code for each in found.together} == {"job_requirements", "in_use"}
    assert [(len(each.conditions), each.slots) for each in found.remedies] == [(1, 3), (1, 1), (1, 1)]


def test_a_job_that_fits_has_the_slot_that_it_would_get_alone(bundle):
    """Other idle jobs are left out; slots that are in use are not."""
    pool = snapshot([slot(0), slot(1, State='"Claimed"')], [job(0), job(1)])
    found = explained(pool, bundle, row=1)
    assert (found.slot, found.candidates, found.decisive) == ("s0@h", 1, None)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"JobStatus": "2"}, "job_running"),
        ({"JobStatus": "5"}, "job_held"),
        ({"JobUniverse": "7"}, "universe_scheduler"),
    ],
)
def test_a_job_that_takes_no_part_has_the_reason_of_its_own(bundle, changed, code):
    """Not that of other jobs."""
    pool = snapshot([slot(0)], [job(0, JobStatus="2"), job(1, **changed)])
    assert explained(pool, bundle, row=1).decisive.code == code


def test_a_discarded_schedd_is_named_with_its_gate(tmp_path):
    bundle = write_bundle(tmp_path / "b", "NEGOTIATOR_PE_SCHEDD_ONLY_EXPR: 'MY.Bad'\n")
    schedds = [job(Name='"a"', Bad="true", MyType='"Scheduler"')]
    jobs = [job(0, GlobalJobId='"a#1.0#1"')]
    found = explained(snapshot([slot(0)], jobs, schedds=schedds), bundle)
    assert found.decisive.code == "schedd_discarded"
    assert [each.provenance.rule for each in found.causes] == ["NEGOTIATOR_PE_SCHEDD_ONLY_EXPR"]


def test_the_counts_are_those_of_the_cycle(tmp_path):
    """A request alone in a pool has the same reasons and numbers, under an order that ends no jobs."""
    bundle = write_bundle(tmp_path / "names", "order: names\n")
    pool = snapshot(SLOTS, [job(RequestMemory="16384", Requirements=MEMORY)])
    (outcome,) = cycle(pool, bundle).outcomes
    found = {each.reason.text: each.rejected for each in explained(pool, bundle).conditions}
    assert found == {each.reason.text: each.rejected for each in outcome.removals}


MATRICES = arrays(np.bool_, st.tuples(st.integers(1, 5), st.integers(1, 8)))


@given(MATRICES)
def test_the_fewest_together_reject_everything_and_no_smaller_set_does(rejections):
    found = fewest_together(rejections)
    if not rejections.any(axis=0).all():
        assert found == ()
        return
    assert rejections[list(found)].any(axis=0).all()
    for size in range(1, min(len(found), 4)):
        assert not any(
            rejections[list(each)].any(axis=0).all() for each in combinations(range(len(rejections)), size)
        )


@given(MATRICES)
def test_the_fewest_to_change_open_what_they_say_and_nothing_opens_more_with_fewer(rejections):
    found = fewest_to_change(rejections)
    counts = rejections.sum(axis=0)
    if not counts.min():
        assert found == []
        return
    for places, slots in found:
        assert len(places) == counts.min()
        others = np.delete(rejections, places, axis=0)
        assert slots == int((~others.any(axis=0)).sum())
    assert sum(slots for _, slots in found) <= int((counts == counts.min()).sum())


def test_a_gate_that_only_warns_keeps_no_slot_away(tmp_path):
    """It discards nothing, and so is no reason."""
    gate = "policies:\n  - {name: small, applies_to: startd, expression: MY.Memory < 9000, mode: warn}\n"
    bundle = write_bundle(tmp_path / "b", gate)
    pool = snapshot([slot(0), slot(1, Requirements="false")], [job()])
    assert explained(pool, bundle).discarded == ()
    found = explain_slot(pool, bundle, Cycle(1, NOW, bundle.digest), CycleState.new(bundle, NOW), 0, 1)
    assert [each.code for each in found.reasons] == ["slot_requirements"]


@pytest.mark.parametrize(
    "policy", ["default", "limits", "preemption", "fair-share", "queue-order", "resource-quotas"]
)
def test_the_reason_of_each_job_is_that_of_the_cycle(policy):
    """Of all idle jobs of the example pool, and of the slots that they get."""
    found = n.run(
        n.read_pool(ROOT / "examples/first-pool"), n.load_bundle(ROOT / "policies" / policy), now=NOW
    )
    result = found.decided.present_cycle
    explained = 0
    for outcome in result.outcomes:
        for match in outcome.matches:
            assert found.explain(match.job).slot == match.slot
        if outcome.rejection is not None:
            answer = found.explain(outcome.first_unmatched)
            assert answer.reason == outcome.rejection.reason
            assert answer.reason.text in str(answer).splitlines()[1]
            explained += 1
    assert explained == sum(each.rejection is not None for each in result.outcomes)
