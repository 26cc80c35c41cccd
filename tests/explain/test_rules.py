"""What each rule does in a cycle: all of it, and what no other rule does."""

import pytest

from negotiator.audit.records import records_by_kind
from negotiator.bundle import load_bundle
from negotiator.cycle.cycle_state import CycleState
from negotiator.explain.rules import count_rules
from negotiator.plugin import Cycle
from pools import NOW, cycle, job, slot, snapshot

POLICY = """
  - name: {0}
    applies_to: {1}
    expression: {2}
    mode: {3}
"""
QUEUES = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
            resources: {max: {vcore: MAXIMUM}}
            limits: [{users: ["*"], maxresources: {vcore: 1}}]
            properties: {negotiator.limits.mode: MODE}
    placementrules: [{name: fixed, value: root.a}]
"""


@pytest.fixture
def counted(tmp_path):
    """Return a function that counts what rules do under policies (name, kind, expression, mode) and queues."""
    numbers = iter(range(9))

    def count(pool, *policies, queues="", pool_yaml=""):
        folder = tmp_path / f"bundle{next(numbers)}"
        folder.mkdir()
        text = "".join(POLICY.format(*each) for each in policies)
        (folder / "pool.yaml").write_text(pool_yaml + (f"policies:{text}" if text else ""))
        if queues:
            (folder / "queues.yaml").write_text(queues)
        bundle = load_bundle(folder)
        found = count_rules(pool, bundle, Cycle(1, NOW, bundle.digest), CycleState.new(bundle, NOW))
        assert records_by_kind(found.result) == records_by_kind(cycle(pool, bundle))
        return found.result, {key.rule: each for key, each in found.counts.items()}

    return count


def test_a_policy_has_the_slots_it_rejects_and_those_that_only_it_does(counted):
    """What only it does is what a cycle without it gives to the jobs."""
    slots = [slot(n, Number=str(n)) for n in range(5)]
    pool = snapshot([*slots, slot(5, Number="5", State='"Claimed"')], [job(0), job(1), job(2)])
    low = ("low", "match", "TARGET.Number > 2", "enforce")
    high = ("high", "match", "TARGET.Number < 2 && TARGET.Cpus > 0", "enforce")
    result, counts = counted(pool, low, high, pool_yaml="order: names\n")
    assert not result.matches
    found = counts["low"]
    assert (found.requests, found.slots, found.slots_alone, found.jobs, found.jobs_alone) == (1, 3, 2, 3, 2)
    found = counts["high"]
    assert (found.slots, found.slots_alone, found.jobs, found.jobs_alone) == (4, 2, 3, 2)
    for only, rule in ((high, "low"), (low, "high")):
        without, _ = counted(pool, only, pool_yaml="order: names\n")
        assert len(without.matches) == counts[rule].jobs_alone


def test_a_policy_that_only_warns_has_what_it_would_do_and_keeps_nothing_from_the_others(counted):
    pool = snapshot([slot(0, Old="true"), slot(1)], [job(0), job(1)])
    warn = ("not-old", "match", "TARGET.Old =!= true", "warn")
    dryrun = ("not-h", "match", 'TARGET.Machine != "h"', "dryrun")
    result, counts = counted(pool, warn, dryrun)
    assert len(result.matches) == 2
    assert (counts["not-old"].slots, counts["not-old"].matches, counts["not-old"].matches_alone) == (1, 1, 0)
    assert (counts["not-h"].slots, counts["not-h"].matches, counts["not-h"].matches_alone) == (2, 2, 1)


def test_gates_count_each_ad_that_they_discard(counted):
    slots = [slot(n, Number=str(n)) for n in range(4)]
    small = ("small", "startd", "MY.Number < 2", "enforce")
    even = ("even", "startd", "MY.Number % 2 == 0", "enforce")
    maybe = ("maybe", "startd", "MY.Number == 3", "dryrun")
    pool = snapshot(slots, [job(0), job(1, JobStatus="2")])
    result, counts = counted(pool, small, even, maybe, ("jobs", "job", "true", "dryrun"))
    assert len(result.matches) == 1
    ads = {rule: (each.ads, each.ads_alone) for rule, each in counts.items() if each.ads}
    assert ads == {"small": (2, 1), "even": (2, 1), "maybe": (1, 1), "jobs": (1, 1)}


def test_a_quota_that_another_one_hides_is_not_alone(counted):
    """The cycle names the first quota that refuses a job; the other one would refuse it too."""
    pool = snapshot([slot(0), slot(1), slot(2)], [job(n, RequestCpus="1") for n in range(3)])
    result, counts = counted(pool, queues=QUEUES.replace("MAXIMUM", "9").replace("MODE", "enforce"))
    assert len(result.matches) == 1
    found = counts["limit of user * at root.a"]
    assert (found.slots, found.slots_alone, found.jobs, found.jobs_alone) == (2, 2, 2, 2)
    _, counts = counted(pool, queues=QUEUES.replace("MAXIMUM", "1").replace("MODE", "enforce"))
    shown = {rule: (each.slots, each.slots_alone, each.jobs_alone) for rule, each in counts.items()}
    assert shown
    assert all(each == (2, 0, 0) for each in shown.values())


def test_a_policy_is_not_alone_where_a_quota_would_refuse_the_job_too(counted):
    pool = snapshot([slot(0), slot(1, Old="true")], [job(n, RequestCpus="1") for n in range(2)])
    policy = ("not-old", "match", "TARGET.Old =!= true", "enforce")
    _, counts = counted(pool, policy, queues=QUEUES.replace("MAXIMUM", "1").replace("MODE", "dryrun"))
    assert (counts["not-old"].slots, counts["not-old"].slots_alone, counts["not-old"].jobs_alone) == (1, 0, 0)
    _, counts = counted(pool, policy, queues=QUEUES.replace("MAXIMUM", "9").replace("MODE", "dryrun"))
    assert (counts["not-old"].slots_alone, counts["not-old"].jobs_alone) == (1, 1)


def test_a_limit_that_only_warns_has_the_matches_that_it_would_deny(counted):
    pool = snapshot([slot(0), slot(1), slot(2)], [job(n, RequestCpus="1") for n in range(3)])
    result, counts = counted(pool, queues=QUEUES.replace("MAXIMUM", "9").replace("MODE", "warn"))
    assert len(result.matches) == 3
    found = counts["limit of user * at root.a"]
    assert (found.matches, found.matches_alone, found.slots) == (2, 2, 0)


def test_what_the_requirements_of_a_slot_reject_too_is_not_of_a_policy_alone(counted):
    own = {"Requirements": 'Number < 2 || TARGET.Owner == "eve"'}
    pool = snapshot([slot(n, Number=str(n), **own) for n in range(4)], [job(0)])
    _, counts = counted(pool, ("none", "match", "false", "enforce"))
    found = counts["none"]
    assert (found.slots, found.slots_alone, found.jobs_alone) == (4, 2, 1)


def test_a_request_that_has_all_that_its_group_may_have_would_get_no_more_without_a_policy(counted):
    jobs = [job(n, AcctGroup='"g"', AccountingGroup='"g.tester"', User='"g.tester@d"') for n in range(3)]
    pool = snapshot([slot(n, Number=str(n), Cpus="1") for n in range(4)], jobs)
    groups = "GROUP_NAMES: g\nGROUP_QUOTA_g: 1\n"
    result, counts = counted(pool, ("last", "match", "TARGET.Number < 3", "enforce"), pool_yaml=groups)
    assert len(result.matches) == 1
    assert (counts["last"].slots_alone, counts["last"].jobs, counts["last"].jobs_alone) == (1, 2, 0)
