"""Usage at the beginning of a cycle: running jobs, and earlier matches that the pool does not show yet."""

import attrs
import pytest

from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.requests import RequestFactory
from negotiator.plugin import Cycle
from pools import NOW, slot, snapshot, used, write_bundle
from queueing import app, bundle, limited

SLOTS = [slot(number, Machine=f'"h{number % 2}"') for number in range(6)]
SELF = "{limit: l, users: [tester], maxresources: {vcore: 100}}"
HOSTS = """
import numpy as np
from negotiator.plugin import Charge, Family, Grouping, Quota, hookimpl

@hookimpl
def negotiator_charges(request, slots):
    if "Bad" in request.ad and request.ad.boolean("Bad"):
        raise ValueError("a bad one")
    hosts, codes = np.unique(slots.strings("Machine").astype(str), return_inverse=True)
    label = Quota(rule="r", text="t")
    yield Charge(Grouping(codes, Family(("host",), hosts.tolist())), 1, 3, label)
    yield Charge(("most",), np.arange(len(slots)), None, label)

@hookimpl
def negotiator_job_attributes():
    return ["bad", "kind"]
"""


def running_job(cluster, proc=0, where=None, **more):
    """Return a running job of one core and 100 MB."""
    own = {"JobStatus": "2", "RequestCpus": "1", "RequestMemory": "100", "RemoteHost": where and f'"{where}"'}
    return app(cluster, proc, **(own | more))


@pytest.fixture
def limits(tmp_path):
    return bundle(tmp_path / "limits", limited(SELF))


@pytest.fixture
def hosts(tmp_path):
    return write_bundle(tmp_path / "hosts", plugins={"q": HOSTS})


def count(own, jobs, slots=SLOTS, journal=(), state=None):
    """Run one cycle with these running jobs and a journal."""
    state = state or CycleState.new(own, NOW)
    state = attrs.evolve(state, journal=tuple(journal))
    return run_cycle(snapshot(slots, jobs), own, Cycle(2, NOW, own.digest), state)


def matched_journal(own, jobs, slots=SLOTS):
    """Return the journal of a cycle that made these matches, and its state."""
    result = run_cycle(snapshot(slots, jobs), own, Cycle(1, NOW, own.digest))
    assert len(result.matches) == len(result.journal) > 0
    return result.journal, result.state


def idle_job(cluster, proc=0, **more):
    """Return the same job, idle."""
    return running_job(cluster, proc, **({"JobStatus": "1"} | more))


def test_a_request_given_by_an_expression_is_evaluated_for_each_job(limits):
    """HTCondor's own RequestMemory is one: equal texts can have different values."""
    written = "ifThenElse(MemoryUsage =!= undefined, MemoryUsage, 1)"
    jobs = [running_job(1, proc, RequestMemory=written, MemoryUsage=str(10 + proc)) for proc in range(3)]
    counted = used(count(limits, [*jobs, running_job(2, RequestMemory=written)]))
    assert counted["limits.user.tester.root.memory"] == (10 + 11 + 12 + 1) << 20


def test_a_request_of_an_impossible_size_counts_as_the_largest_slot(limits):
    """Where the slot of the job is not known."""
    counted = used(count(limits, [running_job(cluster, RequestMemory="9e12") for cluster in (1, 2, 3)]))
    assert counted["limits.user.tester.root.vcore"] == 3000
    assert counted["limits.user.tester.root"] == {"node1#1": 1, "node1#2": 1, "node1#3": 1}
    assert counted["limits.user.tester.root.memory"] == 3 * 4096 << 20


def test_a_running_job_is_charged_on_its_host_or_the_highest_amount_if_it_is_unknown(hosts):
    """A slot outside the pool has no host; the charge is then the largest possible amount."""
    counted = used(
        count(
            hosts,
            [running_job(1, where="s1@h"), running_job(1, 1, where="s3@h"), running_job(1, 2, where="s0@h")],
        )
    )
    assert (counted["q.host.h0"], counted["q.host.h1"], counted["q.most"]) == (1, 2, 4)
    counted = used(count(hosts, [running_job(1, where="gone@h"), running_job(1, 1)]))
    assert ("q.host.h0" not in counted, counted["q.most"]) == (True, 10)


def test_a_pool_without_slots_is_counted_too(hosts):
    """Columns without rows are not a wrong answer."""
    result = count(hosts, [running_job(1)], slots=())
    assert result.failures == ()


def test_a_user_with_uncertain_usage_gets_no_slot(hosts):
    """If a plugin fails for running jobs, usage would be too low."""
    jobs = [running_job(1, Bad="true"), idle_job(2), idle_job(3, user="sue")]
    result = count(hosts, jobs)
    assert [match.job for match in result.matches] == ["3.0"]
    assert [failure.message for failure in result.failures] == ["ValueError: a bad one"]


def test_a_match_counts_on_its_host_until_its_job_runs(hosts):
    """Then only the job counts."""
    journal, state = matched_journal(hosts, [idle_job(1), idle_job(1, 1)])
    before = used(count(hosts, [], journal=journal, state=state))
    assert (before["q.host.h0"], before["q.host.h1"]) == (1, 1)
    jobs = [running_job(1, where="s0@h"), running_job(1, 1, where="s1@h")]
    assert used(count(hosts, jobs, journal=journal, state=state)) == before
    assert used(count(hosts, jobs[:1], journal=journal, state=state)) == before
    assert used(count(hosts, jobs, state=state)) == before


def test_matched_jobs_and_slots_are_not_matched_again(limits):
    """Neither the job while slots are free, nor the slot while jobs wait; a job of another schedd is another job."""
    journal, state = matched_journal(limits, [idle_job(1)])
    others = [idle_job(2), idle_job(1, schedd="node2")]
    result = count(limits, [idle_job(1), *others], journal=journal, state=state)
    assert {match.schedd + " " + match.job for match in result.matches} == {"node1 2.0", "node2 1.0"}
    assert journal[0].slot not in {match.slot for match in result.matches}
    codes = {item.reason.code: item.count for item in result.discarded}
    assert codes == {"job_matched": 1, "slot_matched": 1}


def test_a_match_on_a_slot_outside_the_pool_counts_the_highest_amount(hosts):
    """Like a running job there."""
    journal, state = matched_journal(hosts, [idle_job(1)], SLOTS[:2])
    counted = used(count(hosts, [], SLOTS[2:], journal, state))
    assert counted["q.most"] == 3


def test_jobs_of_other_schedds_with_the_same_id_do_not_settle_a_match(limits):
    """The schedd is part of a job's id."""
    journal, state = matched_journal(limits, [idle_job(1, schedd="a")])
    counted = used(count(limits, [running_job(1, schedd="b")], journal=journal, state=state))
    assert counted["limits.user.tester.root.vcore"] == 2000


def test_jobs_of_other_users_with_the_same_id_neither_settle_a_match_nor_wait_for_it(limits):
    """The owner is part of a job's id: a GlobalJobId can be copied from the ad of another user's job."""
    journal, state = matched_journal(limits, [idle_job(1)])
    counted = used(count(limits, [running_job(1, Owner='"eve"')], journal=journal, state=state))
    assert counted["limits.user.tester.root.vcore"] == 1000
    journal, state = matched_journal(limits, [idle_job(1, Owner='"eve"')])
    result = count(limits, [idle_job(1)], journal=journal, state=state)
    assert [match.job for match in result.matches] == ["1.0"]


COPIES = {"_condor_RESOURCE_COUNT": "3", "JobStatus": None}


def test_each_copy_of_a_request_counts_until_its_slot_shows_a_job(limits):
    """The ad of a request for several jobs names one job only; the others are recognised by their slots."""
    journal, state = matched_journal(limits, [idle_job(1, **COPIES)])
    assert len(journal) == 3
    for shown in range(4):
        jobs = [running_job(1, number, where=journal[number].slot) for number in range(shown)]
        counted = used(count(limits, jobs, journal=journal, state=state))
        assert counted["limits.user.tester.root.vcore"] == 3000
    strange = [running_job(1, 0, where=journal[0].slot, schedd="other")]
    assert used(count(limits, strange, journal=journal, state=state))["limits.user.tester.root.vcore"] == 4000


def test_the_journal_restores_the_attributes_for_charges(limits):
    """As they were at the match."""
    journal, _ = matched_journal(
        limits, [idle_job(1, RequestMemory="MY.Want + 1", Want="99", Kind='"a\\"b"')]
    )
    factory = RequestFactory(limits, {}, Cycle(1, NOW, limits.digest).environment, frozenset())
    request = factory.of_journal(journal, lambda ad: ad)
    assert (request.user, request.queue, dict(request.resources)["memory"]) == (
        "tester",
        "root.one",
        100 << 20,
    )
    assert dict(request.resources)["vcore"] == 1000
    assert request.ad.string("Kind") is None
