"""What is counted at the beginning of a cycle: what runs, and matches of earlier cycles that the pool does not show yet."""

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


def runs(cluster, proc=0, where=None, **more):
    """A running job of one core and 100 MB."""
    own = {"JobStatus": "2", "RequestCpus": "1", "RequestMemory": "100", "RemoteHost": where and f'"{where}"'}
    return app(cluster, proc, **(own | more))


@pytest.fixture
def limits(tmp_path):
    return bundle(tmp_path / "limits", limited(SELF))


@pytest.fixture
def hosts(tmp_path):
    return write_bundle(tmp_path / "hosts", plugins={"q": HOSTS})


def count(own, jobs, slots=SLOTS, journal=(), state=None):
    """One cycle in which these jobs run, with a journal."""
    state = state or CycleState.new(own, NOW)
    state = attrs.evolve(state, journal=tuple(journal))
    return run_cycle(snapshot(slots, jobs), own, Cycle(2, NOW, own.digest), state)


def matched_journal(own, jobs, slots=SLOTS):
    """The journal of a cycle that made these matches."""
    result = run_cycle(snapshot(slots, jobs), own, Cycle(1, NOW, own.digest))
    assert len(result.matches) == len(result.journal) > 0
    return result.journal, result.state


def asks(cluster, proc=0, **more):
    """The same job, not running."""
    return runs(cluster, proc, **({"JobStatus": "1"} | more))


def test_what_a_job_asks_for_by_an_expression_is_evaluated_for_each(limits):
    """HTCondor's own RequestMemory is one: jobs that write it alike are not alike."""
    written = "ifThenElse(MemoryUsage =!= undefined, MemoryUsage, 1)"
    jobs = [runs(1, proc, RequestMemory=written, MemoryUsage=str(10 + proc)) for proc in range(3)]
    counted = used(count(limits, [*jobs, runs(2, RequestMemory=written)]))
    assert counted["limits.user.tester.root.memory"] == (10 + 11 + 12 + 1) << 20


def test_where_a_sum_cannot_be_counted_all_others_are(limits):
    """A job of an impossible size does not escape the limits of other resources."""
    jobs = [runs(cluster, RequestMemory="8e12") for cluster in (1, 2, 3)]
    counted = used(count(limits, jobs))
    assert counted["limits.user.tester.root.vcore"] == 3000
    assert counted["limits.user.tester.root"] == {"node1#1": 1, "node1#2": 1, "node1#3": 1}
    assert counted["limits.user.tester.root.memory"] > 8e18


def test_what_runs_is_charged_where_it_runs_and_at_the_highest_where_that_is_unknown(hosts):
    """A slot that is not in the pool has no host; the amount is then the most that it may be."""
    counted = used(count(hosts, [runs(1, where="s1@h"), runs(1, 1, where="s3@h"), runs(1, 2, where="s0@h")]))
    assert (counted["q.host.h0"], counted["q.host.h1"], counted["q.most"]) == (1, 2, 4)
    counted = used(count(hosts, [runs(1, where="gone@h"), runs(1, 1)]))
    assert ("q.host.h0" not in counted, counted["q.most"]) == (True, 10)


def test_a_pool_without_slots_is_counted_too(hosts):
    """Columns of nothing are no wrong answer."""
    result = count(hosts, [runs(1)], slots=())
    assert result.failures == ()


def test_where_usage_is_not_certain_its_user_gets_nothing(hosts):
    """A plugin that fails on what runs would count too little."""
    jobs = [runs(1, Bad="true"), asks(2), asks(3, user="sue")]
    result = count(hosts, jobs)
    assert [match.job for match in result.matches] == ["3.0"]
    assert [failure.message for failure in result.failures] == ["ValueError: a bad one"]


def test_a_match_counts_where_it_was_made_until_its_job_runs(hosts):
    """Then only the job counts."""
    journal, state = matched_journal(hosts, [asks(1), asks(1, 1)])
    before = used(count(hosts, [], journal=journal, state=state))
    assert (before["q.host.h0"], before["q.host.h1"]) == (1, 1)
    jobs = [runs(1, where="s0@h"), runs(1, 1, where="s1@h")]
    assert used(count(hosts, jobs, journal=journal, state=state)) == before
    assert used(count(hosts, jobs[:1], journal=journal, state=state)) == before
    assert used(count(hosts, jobs, state=state)) == before


def test_what_was_matched_is_not_matched_again(limits):
    """Neither its job, while slots are free, nor its slot, while jobs ask; a job of another schedd is another job."""
    journal, state = matched_journal(limits, [asks(1)])
    others = [asks(2), asks(1, schedd="node2")]
    result = count(limits, [asks(1), *others], journal=journal, state=state)
    assert {match.schedd + " " + match.job for match in result.matches} == {"node1 2.0", "node2 1.0"}
    assert journal[0].slot not in {match.slot for match in result.matches}
    codes = {item.reason.code: item.count for item in result.discarded}
    assert codes == {"job_matched": 1, "slot_matched": 1}


def test_a_match_on_a_slot_that_left_the_pool_counts_at_the_highest(hosts):
    """As what runs there does."""
    journal, state = matched_journal(hosts, [asks(1)], SLOTS[:2])
    counted = used(count(hosts, [], SLOTS[2:], journal, state))
    assert counted["q.most"] == 3


def test_jobs_of_other_schedds_with_the_same_number_show_no_match(limits):
    """The schedd is part of a job's name."""
    journal, state = matched_journal(limits, [asks(1, schedd="a")])
    counted = used(count(limits, [runs(1, schedd="b")], journal=journal, state=state))
    assert counted["limits.user.tester.root.vcore"] == 2000


COPIES = {"_condor_RESOURCE_COUNT": "3", "JobStatus": None}


def test_each_copy_of_a_request_counts_until_its_slot_shows_a_job(limits):
    """The ad of a request for several jobs names one job only: the others that run are not that job."""
    journal, state = matched_journal(limits, [asks(1, **COPIES)])
    assert len(journal) == 3
    for shown in range(4):
        jobs = [runs(1, number, where=journal[number].slot) for number in range(shown)]
        counted = used(count(limits, jobs, journal=journal, state=state))
        assert counted["limits.user.tester.root.vcore"] == 3000
    strange = [runs(1, 0, where=journal[0].slot, schedd="other")]
    assert used(count(limits, strange, journal=journal, state=state))["limits.user.tester.root.vcore"] == 4000


def test_the_journal_reads_back_what_charges_are_made_of(limits):
    """The ad of an entry is text, whatever it contains."""
    journal, _ = matched_journal(limits, [asks(1, RequestMemory="MY.Want + 1", Want="99", Kind='"a\\"b"')])
    factory = RequestFactory(limits, {}, Cycle(1, NOW, limits.digest).environment, frozenset())
    request = factory.of_journal(journal)
    assert (request.user, request.queue, dict(request.resources)["memory"]) == (
        "tester",
        "root.one",
        100 << 20,
    )
    assert dict(request.resources)["vcore"] == 1000
