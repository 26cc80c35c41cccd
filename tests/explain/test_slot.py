"""Why a slot runs no idle job: conditions with the jobs they reject, quotas, use, gates, and what a cycle decides."""

import pytest

from negotiator.bundle import load_bundle
from negotiator.cycle.cycle_state import CycleState
from negotiator.explain.job import Lever
from negotiator.explain.slot import explain_jobs, slot_outcome
from negotiator.plugin import Cycle
from pools import NOW, cycle, job, slot, snapshot, write_bundle

REQUIREMENTS = 'TARGET.Memory >= RequestMemory && TARGET.OpSys == "LINUX"'


@pytest.fixture
def bundle(tmp_path):
    return write_bundle(tmp_path / "bundle", "")


def explained(pool, bundle, row=0):
    return explain_jobs(pool, bundle, Cycle(1, NOW, bundle.digest), CycleState.new(bundle, NOW), row)


def counts(found):
    return {each.reason.provenance.rule: (each.rejected, each.alone) for each in found.conditions}


def sized(*memories, **changed):
    own = {"Requirements": REQUIREMENTS} | changed
    return [job(number, RequestMemory=str(memory), **own) for number, memory in enumerate(memories)]


def test_each_condition_has_the_jobs_it_rejects_and_those_that_nothing_else_rejects(bundle):
    slots = [slot(0, OpSys='"LINUX"', Requirements="TARGET.RequestCpus =!= 8"), slot(1)]
    jobs = [*sized(9000, 9000, 16000), *sized(9000, RequestCpus="8"), *sized(100, RequestCpus="8")]
    found = explained(snapshot(slots, jobs), bundle)
    assert counts(found) == {
        "TARGET.Memory >= RequestMemory": (4, 3),
        "TARGET.RequestCpus =!= 8": (2, 1),
    }
    assert (found.jobs, found.classes, found.fitting, found.possible) == (5, 4, 0, 0)
    assert found.decisive.provenance.rule == "TARGET.Memory >= RequestMemory"
    assert [each.lever for each in found.conditions] == [Lever.JOB, Lever.MACHINE]


def test_alike_jobs_are_one_class_whatever_other_slots_would_tell_apart(bundle):
    """The work is for each class that this slot can tell apart."""
    slots = [slot(0), slot(1, Requirements="TARGET.Colour == 7")]
    jobs = [job(number, Colour=str(number)) for number in range(20)]
    found = explained(snapshot(slots, jobs), bundle)
    assert (found.jobs, found.classes, found.possible) == (20, 1, 20)


def test_the_nearest_value_of_the_slot_opens_as_many_jobs_as_it_says(bundle):
    slots = [slot(0, OpSys='"LINUX"')]
    jobs = sized(9000, 9000, 16000)
    (condition,) = explained(snapshot(slots, jobs), bundle).conditions
    assert str(condition.near) == "Memory >= 9000 (now 4096): 2 jobs"
    larger = [slot(0, OpSys='"LINUX"', Memory="9000")]
    assert explained(snapshot(larger, jobs), bundle).possible == 2


def test_the_fewest_to_change_are_those_of_the_jobs_with_the_fewest_conditions(bundle):
    slots = [slot(0, OpSys='"WINDOWS"', Requirements="TARGET.RequestCpus =!= 8")]
    found = explained(snapshot(slots, sized(9000, 9000, RequestCpus="8")), bundle)
    ((remedy),) = found.remedies
    assert (len(remedy.conditions), remedy.jobs) == (3, 2)


@pytest.mark.parametrize(("state", "rejected"), [("Claimed", (3, 2)), ("Unclaimed", None)])
def test_the_use_of_a_slot_is_decisive_and_the_jobs_that_would_fit_are_counted(bundle, state, rejected):
    pool = snapshot([slot(0, State=f'"{state}"', OpSys='"LINUX"')], sized(100, 100, 9000))
    found = explained(pool, bundle)
    assert counts(found).get("State") == rejected
    if rejected:
        assert (found.decisive.code, found.possible) == ("in_use", 0)
        too_small = snapshot([slot(0, State='"Claimed"', OpSys='"LINUX"')], sized(9000))
        assert explained(too_small, bundle).decisive.code == "in_use"


def test_a_gate_that_discards_a_slot_is_named_with_its_line(tmp_path):
    bundle = write_bundle(tmp_path / "b", "NEGOTIATOR_PE_STARTD_ONLY_EXPR: MY.Memory < 5000\n")
    found = explained(snapshot([slot(0), slot(1, Memory="9000")], [job()]), bundle)
    assert str(found.decisive.provenance.source) == "pool.yaml:1:33"
    assert explained(snapshot([slot(0), slot(1, Memory="9000")], [job()]), bundle, row=1).decisive is None


def test_a_central_expression_has_its_line(tmp_path):
    policy = "policies:\n  - {name: none, applies_to: match, expression: 'MY.Owner == \"bob\"'}\n"
    bundle = write_bundle(tmp_path / "b", policy)
    found = explained(snapshot([slot(0)], [job(0), job(1), of_user("bob", 2)]), bundle)
    (condition,) = [each for each in found.conditions if each.reason.provenance.source]
    assert (condition.rejected, condition.lever) == (2, Lever.POOL)


QUEUES = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - {name: users, limits: [{users: ["ada"], maxresources: {vcore: 1}}]}
    placementrules:
      - {name: fixed, value: root.users}
"""


def of_user(name, number, **changed):
    return job(number, Owner=f'"{name}"', User=f'"{name}@d"', RequestCpus="1", **changed)


@pytest.fixture
def limited(tmp_path):
    folder = tmp_path / "limited"
    folder.mkdir()
    (folder / "queues.yaml").write_text(QUEUES)
    (folder / "pool.yaml").write_text("")
    return load_bundle(folder)


def test_a_quota_that_is_used_up_refuses_the_jobs_that_fit(limited):
    """With what is used and its limit; one job is not charged for the other."""
    running = of_user("ada", 9, JobStatus="2", RemoteHost='"s1@h"')
    pool = snapshot([slot(0), slot(1)], [running, of_user("ada", 0), of_user("ada", 1)])
    found = explained(pool, limited)
    ((quota),) = found.quotas
    assert (quota.jobs, found.fitting, found.possible) == (2, 2, 0)
    assert "vcore uses 1, needs 1, may have 1" in found.decisive.text
    free = snapshot([slot(0), slot(1)], [of_user("ada", 0), of_user("ada", 1)])
    assert explained(free, limited).possible == 2


def test_jobs_that_get_other_slots_and_jobs_that_get_none_are_told_apart(limited):
    """The cycle gives ada's first job the other slot, which it prefers; the second waits for ada's limit."""
    jobs = [of_user("ada", number, Rank="TARGET.Memory") for number in range(2)]
    pool = snapshot([slot(0), slot(1, Memory="9000")], jobs)
    found = explained(pool, limited)
    competing = slot_outcome(cycle(pool, limited), "s0@h", found.ids)
    assert (competing.job, competing.elsewhere) == ("", 1)
    ((waiting),) = competing.waiting
    assert (waiting.jobs, waiting.reason.provenance.plugin) == (1, "limits")
    assert slot_outcome(cycle(pool, limited), "s1@h", found.ids).job == "1.0"


def test_jobs_that_take_no_part_are_counted_by_their_reason(limited):
    pool = snapshot([slot(0)], [job(0, JobUniverse="7"), job(1, JobStatus="2"), of_user("eve", 2)])
    found = explained(pool, limited)
    assert [(each.reason.code, each.jobs) for each in found.no_part] == [("universe_scheduler", 1)]
    assert (found.jobs, found.possible) == (1, 1)
    assert explained(snapshot([slot(0)], []), limited).decisive is None


def test_nothing_of_the_ledger_stays_charged_for_the_next_class(limited):
    """Each class is considered alone: the first one takes nothing from the second."""
    jobs = [of_user("ada", 0, RequestMemory="10"), of_user("ada", 1, RequestMemory="20")]
    pool = snapshot([slot(0, Requirements="TARGET.RequestMemory < 99")], jobs)
    found = explained(pool, limited)
    assert (found.classes, found.possible) == (2, 2)
