"""Limits that are exceeded by what is in use: running jobs, and matches that the pool does not show yet."""

import attrs
import pytest

from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle
from negotiator.testing import cycle as cycle_of_plugins
from pools import NOW, slot, snapshot, write_bundle
from queueing import app, bundle, limited

SLOTS = [slot(number, Machine=f'"h{number % 2}"') for number in range(6)]
TWO = "{limit: l, users: [tester], maxresources: {vcore: 2}}"
APPS = "{limit: l, groups: [dev], maxapplications: 1}"
RULES = """{
   name r
   enabled TRUE
   limit users {*} hosts {h1} to slots=2
   limit users {*} to slots=1
}
"""
MODES = """
from negotiator.plugin import Charge, Mode, Quota, hookimpl

@hookimpl
def negotiator_charges():
    yield Charge(("jobs",), 1, 2, Quota(rule="r", text="jobs"))
    yield Charge(("jobs",), 1, 9, Quota(rule="r", text="jobs", mode=Mode.WARN))
"""
COLUMN = """
import numpy as np
from negotiator.plugin import Charge, Quota, hookimpl

@hookimpl
def negotiator_charges(slots):
    yield Charge(("jobs",), 1, np.arange(len(slots)), Quota(rule="r", text="jobs"))
"""
PLUGIN = """
import numpy as np
from negotiator.plugin import Charge, Family, Grouping, Quota, hookimpl

@hookimpl
def negotiator_charges(request, slots):
    hosts, codes = np.unique(slots.strings("Machine").astype(str), return_inverse=True)
    label = Quota(rule="r", text="jobs on")
    yield Charge(Grouping(codes, Family(("host",), hosts.tolist())), 1, 2, label)

@hookimpl
def negotiator_job_attributes():
    return []
"""


def running(count, user="tester", start=0, **more):
    """Return running jobs of one core, each on a slot of its own."""
    own = {"JobStatus": "2", "RequestCpus": "1", "RequestMemory": "1024"} | more
    return [
        app(number, 0, user, **({"RemoteHost": f'"s{number}@h"'} | own))
        for number in range(start, start + count)
    ]


def exceeded(chosen, jobs, slots=SLOTS, state=None):
    """Return the exceeded limits of a cycle."""
    state = state or CycleState.new(chosen, NOW)
    return run_cycle(snapshot(slots, jobs), chosen, Cycle(2, NOW, chosen.digest), state).overruns


def texts(found):
    """Return text and rule of each one."""
    return [f"{each.reason.text} ({each.reason.provenance})" for each in found]


@pytest.fixture
def two(tmp_path):
    """Return a bundle that allows a user two processors."""
    return bundle(tmp_path / "two", limited(TWO))


def test_running_jobs_above_a_limit_are_reported_with_rule_numbers_and_place(two):
    (found,) = exceeded(two, running(3))
    assert (found.subject, found.resource, found.used, found.limit) == (
        "user tester in root",
        "vcore",
        3000,
        2000,
    )
    assert found.reason.text == "user tester in root: vcore uses 3, may have 2"
    assert str(found.reason.provenance) == "limits: limit of user tester at root (queues.yaml:7:18)"
    assert found.counter == ("user", "tester", "root", "vcore")


def test_usage_at_the_limit_is_none(two):
    assert exceeded(two, running(2)) == ()


def test_jobs_of_users_without_the_limit_do_not_count(two):
    assert exceeded(two, [*running(2), *running(3, "sue", 2)]) == ()


def test_a_limit_lowered_between_two_cycles_is_exceeded(two, tmp_path):
    """Also by a match that the pool does not show yet."""
    jobs = running(1, start=5)
    waiting = app(9, 0, RequestCpus="1", RequestMemory="1024")
    first = run_cycle(snapshot(SLOTS, [*jobs, waiting]), two, Cycle(1, NOW, two.digest))
    assert (len(first.matches), first.overruns) == (1, ())
    lower = bundle(tmp_path / "one", limited(TWO.replace("2", "1")))
    state = attrs.evolve(first.state, queues=CycleState.new(lower, NOW).queues)
    (found,) = exceeded(lower, jobs, state=state)
    assert (found.used, found.limit) == (2000, 1000)


def test_running_applications_of_a_group_are_counted(tmp_path):
    own = bundle(tmp_path / "b", limited(APPS), "placement: {groups: MY.Groups}\n")
    (found,) = exceeded(own, running(3, Groups='"dev"'))
    assert (found.subject, found.resource, found.used, found.limit) == (
        "running applications of group dev in root",
        "",
        3,
        1,
    )


def test_limits_that_do_not_enforce_are_not_reported(tmp_path):
    """Matches exceed them, each with a warning."""
    more = "properties: {negotiator.limits.mode: warn}"
    own = bundle(tmp_path / "b", limited(one=TWO, more=more))
    assert exceeded(own, running(3)) == ()


def test_the_maximum_of_a_queue_is_reported(tmp_path):
    own = bundle(tmp_path / "b", limited(more="resources: {max: {memory: 2Gi}}"))
    assert texts(exceeded(own, running(3))) == [
        "queue root.one: memory uses 3Gi, may have 2Gi (maxima: maximum of root.one (queues.yaml:9:13))"
    ]


def test_a_concurrency_limit_is_reported_in_its_own_unit(tmp_path):
    own = write_bundle(tmp_path / "b", "concurrency_limits: {matlab: 1}\n")
    (found,) = exceeded(own, running(3, ConcurrencyLimits='"matlab:0.5"'))
    assert (found.subject, found.used, found.limit) == ("concurrency limit matlab", 1.5, 1.0)


def test_a_quota_set_is_reported_by_claimant_and_host(tmp_path):
    """Not in the words of a refusal."""
    folder = tmp_path / "b"
    write_bundle(folder)
    (folder / "quota.rqs").write_text(RULES)
    found = exceeded(bundle(folder), running(6))
    assert [(each.subject, each.used, each.limit) for each in found] == [
        ("user tester", 3, 1),
        ("user tester host h1", 3, 2),
    ]
    assert str(found[1].reason.provenance) == "quotasets: r/1 (quota.rqs:4:4)"


def test_a_limit_of_a_plugin_is_reported_without_anything_of_its_own(tmp_path):
    """The counter of many is named after the text."""
    own = write_bundle(tmp_path / "b", plugins={"mine": PLUGIN})
    assert [(each.subject, each.used) for each in exceeded(own, running(5))] == [("jobs on h0", 3)]


def test_a_job_on_an_unknown_slot_counts_on_the_only_host_there_is(tmp_path):
    own = write_bundle(tmp_path / "b", plugins={"mine": PLUGIN})
    jobs = running(3, RemoteHost='"gone@h"')
    assert [(each.subject, each.used) for each in exceeded(own, jobs, SLOTS[:1])] == [("jobs on h0", 3)]
    assert exceeded(own, jobs, ()) == ()


@pytest.mark.parametrize(("jobs", "used"), [(5, None), (6, 6)])
def test_a_job_on_an_unknown_slot_has_the_highest_limit_of_any_slot(tmp_path, jobs, used):
    own = write_bundle(tmp_path / "b", plugins={"mine": COLUMN})
    found = exceeded(own, running(jobs, RemoteHost='"gone@h"'))
    assert [each.used for each in found] == ([] if used is None else [used])


def test_a_limit_that_does_not_enforce_raises_none_that_does(tmp_path):
    """Although both have the same counter."""
    own = write_bundle(tmp_path / "b", plugins={"mine": MODES})
    assert [(each.used, each.limit) for each in exceeded(own, running(3))] == [(3, 2)]


def test_plugins_get_them_with_the_summary_of_the_cycle():
    jobs = "\n\n".join("JobStatus = 2\nRequestCpus = 1\nRequestMemory = 1" for _ in range(2))
    queues = "partitions: [{name: default, queues: [{name: root, submitacl: '*', limits: [{limit: l, users: ['*'], maxresources: {vcore: 1}}]}]}]"
    summary = cycle_of_plugins("", jobs, {"queues.yaml": queues})
    (found,) = [each for each in summary.overruns if each.is_limit]
    assert (found.subject, found.used, found.limit) == ("user alice in root", 2000, 1000)


def test_what_nobody_may_use_is_exceeded_by_most(tmp_path):
    """A limit of 0 comes first, whatever is used of others."""
    own = write_bundle(tmp_path / "b", "concurrency_limits: {none: 0, few: 1}\n")
    jobs = [*running(4, ConcurrencyLimits='"few"'), *running(1, start=4, ConcurrencyLimits='"none"')]
    assert [each.subject for each in exceeded(own, jobs)] == [
        "concurrency limit none",
        "concurrency limit few",
    ]


def test_the_most_exceeded_limits_come_first(tmp_path):
    limits = ", ".join(
        f"{{limit: l, users: [{user}], maxresources: {{vcore: {most}}}}}"
        for user, most in zip("abcd", (3, 1, 2, 4), strict=True)
    )
    own = bundle(tmp_path / "b", limited(limits))
    slots = [slot(number) for number in range(20)]
    jobs = [each for place, user in enumerate("abcd") for each in running(4, user, 4 * place)]
    assert [each.subject[5] for each in exceeded(own, jobs, slots)] == ["b", "c", "a"]
