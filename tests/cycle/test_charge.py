"""The station *charge* in whole cycles: the slots that each job gets, and the reasons of the others."""

import attrs
import pytest

from negotiator.bundle import load_bundle
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle
from negotiator.records import Mode
from pools import NOW, cycle, denials, matched, slot, snapshot, used, write_bundle
from queueing import app, bundle, limited, write

GROUPS = "placement: {groups: MY.Groups}\n"
TWO_CORES = "{limit: l, users: ['*'], maxresources: {vcore: 2}}"
SLOTS = [slot(number) for number in range(9)]

HEAD = """
import numpy as np
from negotiator.plugin import Charge, Family, Grouping, KeyCharge, Quota, hookimpl
from negotiator.records import Mode

@hookimpl
def negotiator_job_attributes():
    return ["requestcpus", "kind"]

@hookimpl
def negotiator_charges(request, slots, queues, settings, cycle):
"""


def cpus(cluster, proc=0, number=1, **more):
    """Return a job of an application with specified amounts."""
    return app(cluster, proc, **({"RequestCpus": str(number), "RequestMemory": "100"} | more))


def runs(cluster, proc=0, where=8, **more):
    """The same, running."""
    return cpus(cluster, proc, **({"JobStatus": "2", "RemoteHost": f'"s{where}@h"'} | more))


def decide(folder, jobs, queues, pool=GROUPS, slots=None):
    """Run one cycle under these limits."""
    return cycle(snapshot(SLOTS if slots is None else slots, jobs), bundle(folder / "b", queues, pool))


def plugged(folder, jobs, slots=None, **bodies):
    """Run one cycle with quota plugins; each text is the body of the hook."""
    own = write_bundle(folder / "b", plugins={name: HEAD + body for name, body in bodies.items()})
    return cycle(snapshot(SLOTS if slots is None else slots, jobs), own)


WAITS = {
    "user": (
        limited("{limit: l, users: [tester], maxresources: {vcore: 2}}"),
        ("user_limit", "limits", "limit of user tester at root"),
        "user tester in root: vcore uses 2, needs 1, may have 2",
        {"needed": 1000, "used": 2000, "limit": 2000},
    ),
    "group": (
        limited(one="{limit: l, groups: [dev], maxresources: {memory: 250Mi}}"),
        ("group_limit", "limits", "limit of group dev at root.one"),
        "group dev in root.one: memory uses 200Mi, needs 100Mi, may have 250Mi",
        {"needed": 100 << 20, "used": 200 << 20, "limit": 250 << 20},
    ),
    "queue": (
        limited(more="resources: {max: {vcore: 2}}"),
        ("quota", "maxima", "maximum of root.one"),
        "queue root.one: vcore uses 2, needs 1, may have 2",
        {"needed": 1000, "used": 2000, "limit": 2000},
    ),
}


@pytest.mark.parametrize("case", WAITS)
def test_a_waiting_reason_has_the_limit_the_numbers_and_the_line(tmp_path, case):
    """Earlier grants are counted; the line is that of queues.yaml."""
    queues, (code, plugin, rule), text, numbers = WAITS[case]
    result = decide(tmp_path, [cpus(1, proc, Groups='"dev"') for proc in range(4)], queues)
    assert matched(result) == [("1.0", "s0@h"), ("1.1", "s1@h")]
    (removal,) = [each for each in result.outcomes[0].removals if each.reason.numbers]
    assert (removal.reason.code, str(removal.reason.verdict)) == (code, "waiting")
    assert (removal.reason.text, removal.reason.numbers) == (text, numbers)
    where = removal.reason.provenance
    assert (where.plugin, where.rule, where.source.file) == (plugin, rule, "queues.yaml")
    line = queues.splitlines()[where.source.line - 1]
    assert "limit: l" in line if plugin == "limits" else "name: one" in line
    assert result.outcomes[0].first_unmatched == "1.2"


def test_a_job_that_exceeds_the_limit_by_itself_is_denied_and_does_not_wait(tmp_path):
    """It could never run, whatever others release."""
    result = decide(tmp_path, [cpus(1, number=3), cpus(2)], limited(TWO_CORES))
    assert matched(result) == [("2.0", "s0@h")]
    assert [(code, verdict) for code, verdict, *_ in denials(result)] == [("user_limit", "denied")]


def test_the_first_jobs_in_the_schedds_order_get_what_fits(tmp_path):
    """By priority, not by the order of the ads; a small job behind a large one still fits."""
    jobs = [cpus(1), cpus(2, number=2, JobPrio="9"), cpus(3, JobPrio="5"), cpus(4, JobPrio="7")]
    limit = "{limit: l, users: ['*'], maxresources: {vcore: 3}}"
    assert [job for job, _ in matched(decide(tmp_path, jobs, limited(limit)))] == ["2.0", "4.0"]


@pytest.mark.parametrize(("status", "counts"), [(1, 0), (2, 1), (3, 0), (4, 0), (5, 0), (6, 1), (7, 1)])
def test_jobs_with_a_slot_count(tmp_path, status, counts):
    """Running, transferring output and suspended jobs: JobStatus 2, 6 and 7."""
    jobs = [runs(1, JobStatus=str(status), JobUniverse="12"), *(cpus(2, proc) for proc in range(3))]
    assert len(decide(tmp_path, jobs, limited(TWO_CORES)).matches) == 2 - counts


def test_jobs_running_above_a_limit_continue_and_only_block_new_ones(tmp_path):
    """They block no job under another limit."""
    jobs = [*(runs(1, proc) for proc in range(5)), cpus(2), cpus(3, user="sue")]
    result = decide(tmp_path, jobs, limited(TWO_CORES))
    assert [job for job, _ in matched(result)] == ["3.0"]
    (denial,) = denials(result)
    assert denial[1:] == (
        "waiting",
        "user tester in root: vcore uses 5, needs 1, may have 2",
        {"needed": 1000, "used": 5000, "limit": 2000},
    )


NAMED = "{limit: a, users: [sue], maxresources: {vcore: 3}}"
HOLDS = [
    ("a user who is named has nothing of the wildcard's", f"{NAMED}, {TWO_CORES}", "", "sue", "", 3),
    ("a user without a limit of their own has the wildcard's", f"{NAMED}, {TWO_CORES}", "", "bob", "", 2),
    ("without a wildcard others have no limit", NAMED, "", "bob", "", 9),
    ("a queue's limit holds beside that of the root", NAMED, TWO_CORES, "sue", "", 2),
    ("a group has one limit together", "{limit: g, groups: [dev], maxresources: {vcore: 4}}", "", "sue", "dev", 4),
    ("a group that no limit names is not limited", "{limit: g, groups: [dev], maxresources: {vcore: 4}}", "", "sue", "ops", 9),
    ("any group is the wildcard's", "{limit: a, groups: [dev], maxresources: {vcore: 5}}, {limit: g, groups: ['*'], maxresources: {vcore: 4}}", "", "sue", "ops", 4),
    ("user and group both", "{limit: g, groups: [dev], maxresources: {vcore: 4}}, " + TWO_CORES, "", "sue", "dev", 2),
]  # fmt: skip


@pytest.mark.parametrize(("root", "one", "user", "groups", "most"), [each[1:] for each in HOLDS])
def test_which_limits_apply(tmp_path, root, one, user, groups, most):
    """The reasons have the texts of the table."""
    jobs = [cpus(1, proc, user=user, Groups=f'"{groups}"') for proc in range(9)]
    assert len(decide(tmp_path, jobs, limited(root, one)).matches) == most


def test_the_users_of_a_group_share_its_limit_and_submitters_go_by_name(tmp_path):
    """Several requests of one cycle are charged on the same counters."""
    queues = limited("{limit: g, groups: [dev], maxresources: {vcore: 3}}")
    jobs = [
        cpus(number, 0, user=user, number=2 - number % 2, Groups='"dev"')
        for number, user in enumerate("cbac")
    ]
    result = decide(tmp_path, jobs, queues)
    assert [job for job, _ in matched(result)] == ["2.0", "1.0"]  # a takes 2 of 3, b 1
    assert used(result)["limits.group.dev.root.vcore"] == 3000
    assert len({where for _, where in matched(result)}) == 2


def test_a_group_is_chosen_at_placement_and_stays_when_the_configuration_changes(tmp_path):
    """A new application counts by the new configuration."""
    first = bundle(
        tmp_path / "b", limited("{limit: l, groups: [dev, ops], maxresources: {vcore: 9}}"), GROUPS
    )
    pool = snapshot(SLOTS, [cpus(1, Groups='"ops,dev"')])
    result = run_cycle(pool, first, Cycle(1, NOW, first.digest))
    state = attrs.evolve(result.state, journal=())
    write(tmp_path / "b", limited("{limit: l, groups: [ops, dev], maxresources: {vcore: 9}}"), GROUPS)
    second = load_bundle(tmp_path / "b")
    queues = state.queues.mutable()
    queues.apply(second.partition.root, NOW)
    state = attrs.evolve(state, queues=queues.view)
    jobs = [runs(1, Groups='"ops,dev"'), *(cpus(number, Groups='"ops,dev"') for number in (2, 3))]
    result = run_cycle(snapshot(SLOTS, jobs), second, Cycle(2, NOW, second.digest), state)
    counted = used(result)
    assert counted["limits.group.dev.root"] == {"node1#1": 1}
    assert counted["limits.group.ops.root"] == {"node1#2": 1, "node1#3": 1}


APPLICATIONS = {
    "user": limited("{limit: l, users: ['*'], maxapplications: 2}"),
    "group": limited(one="{limit: l, groups: [dev], maxapplications: 2}"),
    "queue": limited(more="maxapplications: 2"),
}


@pytest.mark.parametrize("owners", APPLICATIONS)
def test_an_application_counts_once_and_new_ones_are_skipped(tmp_path, owners):
    """Its jobs match even at the limit; those of a new application wait, although they are first."""
    jobs = [runs(1, Groups='"dev"'), runs(1, 1, Groups='"dev"'), runs(2, Groups='"dev"')]
    jobs += [cpus(*each, Groups='"dev"') for each in ((3, 0), (1, 2), (2, 1), (4, 0))]
    jobs += [cpus(5, JobPrio="9", Groups='"dev"')]
    result = decide(tmp_path, jobs, APPLICATIONS[owners])
    assert [job for job, _ in matched(result)] == ["1.2", "2.1"]
    assert {(verdict, tuple(numbers.values())) for _, verdict, _, numbers in denials(result)} == {
        ("waiting", (1, 2, 2))
    }


def test_some_jobs_of_a_request_of_several_applications_are_skipped(tmp_path):
    """The first two applications run; all jobs of the third wait."""
    jobs = [cpus(cluster, proc) for proc in range(2) for cluster in (1, 2, 3)]
    result = decide(tmp_path, jobs, APPLICATIONS["queue"])
    assert result.counts.requests == 1
    assert [job for job, _ in matched(result)] == ["1.0", "1.1", "2.0", "2.1"]
    assert (result.outcomes[0].first_unmatched, result.outcomes[0].unmatched) == ("3.0", 2)


UNKNOWN = ["undefined", '"many"', "error", "-1", 'real("NaN")', "1.0/0", "{1}"]


@pytest.mark.parametrize("memory", UNKNOWN)
def test_an_invalid_amount_is_refused_where_it_is_limited(tmp_path, memory):
    """But not in queues without that limit; the job's other requests are counted."""
    jobs = [cpus(1, RequestMemory=memory)]
    limit = "{limit: l, users: ['*'], maxresources: {memory: 1G}}"
    (tmp_path / "limited").mkdir()
    result = decide(tmp_path / "limited", jobs, limited(limit))
    assert not matched(result)
    assert [(code, verdict) for code, verdict, *_ in denials(result)] == [("amount_unknown", "misconfigured")]
    assert "user tester in root: memory is limited to 1G" in denials(result)[0][2]
    (provenance,) = (each.reason.provenance for outcome in result.outcomes for each in outcome.removals)
    assert (provenance.plugin, provenance.source.file) == ("limits", "queues.yaml")
    (tmp_path / "free").mkdir()
    result = decide(tmp_path / "free", jobs, limited(TWO_CORES))
    assert len(result.matches) == 1
    assert used(result)["limits.user.tester.root.vcore"] == 1000


@pytest.mark.parametrize("memory", ["1e300", "8e12", "8796093022208", "17592186044416"])
def test_an_amount_too_large_to_count_exceeds_any_limit(tmp_path, memory):
    """The job is denied, and affects no other job."""
    limit = "{limit: l, users: ['*'], maxresources: {memory: 7E}}"
    result = decide(tmp_path, [cpus(1, RequestMemory=memory), cpus(2)], limited(limit))
    assert [job for job, _ in matched(result)] == ["2.0"]
    assert denials(result)[0][:2] == ("user_limit", "denied")


def test_a_further_resource_counts_if_a_job_requests_it(tmp_path):
    """Jobs without the request are not limited; no expression of a job hides its request."""
    queues = limited("{limit: l, users: ['*'], maxresources: {gpus: 1}}")
    jobs = [
        cpus(1, RequestGPUs="1"),
        cpus(2),
        cpus(3, RequestGPUs="MY.Cards", Cards="1"),
        cpus(4, RequestGPUs='"some"'),
        cpus(5, RequestGPUs="ifThenElse(TARGET.Cpus > 0, 1, 0)"),
    ]
    result = decide(tmp_path, jobs, queues)
    assert sorted(job for job, _ in matched(result)) == ["1.0", "2.0"]
    assert {code for code, *_ in denials(result)} == {"user_limit", "amount_unknown"}


def test_cpu_is_the_number_of_requested_processors(tmp_path):
    """As in the specification's example of a limit; vcore counts the same in thousandths."""
    queues = limited("{limit: l, users: ['*'], maxresources: {cpu: 5}}")
    result = decide(
        tmp_path, [cpus(1, RequestCpus="3"), cpus(2, RequestCpus="3"), cpus(3, RequestCpus="2")], queues
    )
    assert sorted(job for job, _ in matched(result)) == ["1.0", "3.0"]
    assert {code for code, *_ in denials(result)} == {"user_limit"}


PER_HOST = """
    names, codes = np.unique(slots.strings("Machine").astype(str), return_inverse=True)
    label = Quota(rule="per host", text="jobs on one host", mode={mode})
    yield Charge(Grouping(codes, Family(("host",), names.tolist())), 1, {limit}, label)
"""
RACK = """
    racks = slots.numbers("Rack").astype(int)
    label = Quota(rule="per rack", text="jobs in one rack")
    yield Charge(Grouping(racks, [("rack", "0"), ("rack", "1")]), 1, 2, label)
"""
HOSTS = [
    slot(number, Machine=f'"h{number % 3}"', Rack=str(number // 3 % 2)) for number in range(9)
]  # 3 on each host


def own(result, mode=Mode.ENFORCE):
    """Return the plugin's own counters, without those of limits of users."""
    return {key: amount for key, amount in used(result, mode).items() if not key.startswith("limits.")}


def hosts(result):
    """Return the hosts of the matches."""
    return sorted(match.slot_ad.string("Machine") for match in result.matches)


def test_a_quota_of_each_host_leaves_the_best_slots_of_all_hosts(tmp_path):
    """Running jobs count on their hosts; amounts and limits may differ from slot to slot."""
    jobs = [runs(1, where=0, RemoteHost='"s0@h"'), *(cpus(2, proc) for proc in range(9))]
    result = plugged(tmp_path, jobs, HOSTS, q=PER_HOST.format(limit=2, mode="Mode.ENFORCE"))
    assert hosts(result) == ["h0", "h1", "h1", "h2", "h2"]
    limits = "np.where(slots.strings('Machine') == 'h2', 0, 1)"
    (tmp_path / "other").mkdir()
    result = plugged(tmp_path / "other", jobs, HOSTS, q=PER_HOST.format(limit=limits, mode="Mode.ENFORCE"))
    assert hosts(result) == ["h1"]


def test_further_slots_are_tried_if_the_best_ones_have_no_capacity(tmp_path):
    """The best three are on full hosts."""
    jobs = [*(runs(1, proc, RemoteHost=f'"s{proc}@h"') for proc in (0, 1)), cpus(2), cpus(2, 1)]
    result = plugged(tmp_path, jobs, HOSTS, q=PER_HOST.format(limit=1, mode="Mode.ENFORCE"))
    assert hosts(result) == ["h2"]


def test_a_limit_that_stops_a_request_refuses_all_slots_that_are_left(tmp_path):
    """Nine slots, of which two are granted."""
    (outcome,) = decide(tmp_path, [cpus(1, proc) for proc in range(4)], limited(TWO_CORES)).outcomes
    assert [(each.reason.code, each.removed) for each in outcome.removals] == [("user_limit", 7)]


OTHER = '"zoe"'  # running jobs of the same user would use up the share, too


@pytest.mark.parametrize(
    ("full", "text"), [((0,), "jobs on h0 now: uses 1,"), ((0, 1, 2), "jobs on h0 now and 2 more: needs 1,")]
)
def test_the_reason_of_a_quota_of_each_host_names_the_first_and_counts_the_others(tmp_path, full, text):
    jobs = [*(runs(1, proc, RemoteHost=f'"s{proc}@h"') for proc in full), cpus(2, User=OTHER, Owner=OTHER)]
    quota = PER_HOST.format(limit=1, mode="Mode.ENFORCE").replace(
        '"jobs on one host"', '"jobs on ", text_after=" now"'
    )
    slots = HOSTS[: len(full)]
    (outcome,) = plugged(tmp_path, jobs, slots, q=quota).outcomes
    assert [each.reason.text[: len(text)] for each in outcome.removals] == [text]


def test_groupings_may_cross(tmp_path):
    """A match needs capacity on its host and in its rack."""
    result = plugged(
        tmp_path,
        [cpus(1, proc) for proc in range(9)],
        HOSTS,
        q=PER_HOST.format(limit=1, mode="Mode.ENFORCE") + RACK,
    )
    assert hosts(result) == ["h0", "h1", "h2"]
    assert own(result)["q.rack.0"] == 2


def test_a_bound_is_a_limit_of_0_on_some_slots(tmp_path):
    """It consumes nothing, and refuses slots whose limit is below its amount."""
    body = """
    bad = slots.strings("Machine") == "h1"
    yield Charge(("bound",), bad.astype(np.int64), 0, Quota(rule="not h1", text="host h1 is not for all"))
"""
    result = plugged(tmp_path, [cpus(1, proc) for proc in range(9)], HOSTS, q=body)
    assert hosts(result) == ["h0"] * 3 + ["h2"] * 3
    assert own(result) == {}


ONE = "    yield Charge(('all',), 1, {limit}, Quota(rule='r', text='all jobs', mode=Mode.{mode}))\n"


@pytest.mark.parametrize("mode", ["WARN", "DRYRUN"])
def test_a_rule_that_does_not_enforce_adds_a_warning(tmp_path, mode):
    """The match is made; its counters are separate from those of enforcing rules."""
    body = ONE.format(limit=2, mode=mode) + ONE.format(limit=4, mode="ENFORCE")
    result = plugged(tmp_path, [runs(9), *(cpus(1, proc) for proc in range(9))], q=body)
    assert [len(match.warnings) for match in result.matches] == [0, 1, 1]
    reason = result.matches[1].warnings[0]
    assert (str(reason.mode), reason.code, reason.numbers) == (
        mode.lower(),
        "quota",
        {"needed": 1, "used": 4, "limit": 2},
    )
    assert own(result) == own(result, Mode.WARN) == {"q.all": 4}


def test_keys_that_do_not_enforce_add_warnings_too(tmp_path):
    """Each match of a new application beyond the limit has a warning."""
    body = """
    yield KeyCharge(("apps",), [str(number // 2) for number in range(len(request.applications))], 1,
                    Quota(rule="r", text="apps", mode=Mode.WARN))
"""
    result = plugged(tmp_path, [cpus(1, proc) for proc in range(4)], q=body)
    assert [len(match.warnings) for match in result.matches] == [0, 0, 1, 1]


def test_plugins_with_counters_of_the_same_name_do_not_affect_each_other(tmp_path):
    """The name of the plugin is part of every counter."""
    bodies = {"a": ONE.format(limit=3, mode="ENFORCE"), "b": ONE.format(limit=5, mode="ENFORCE")}
    result = plugged(tmp_path, [cpus(1, proc) for proc in range(9)], **bodies)
    assert own(result) == {"a.all": 3, "b.all": 3}
    assert [each.reason.provenance.plugin for each in result.outcomes[0].removals] == ["a"]


LABEL = "Quota(rule='r', text='t')"
WRONG = {
    "raise ValueError('no')": "no",
    "return 5": "expected an iterable",
    "yield 'yes'": "a Charge or a KeyCharge",
    f"yield Charge(('a',), -1, 2, {LABEL})": "0 or more",
    f"yield Charge(('a',), 2**64, 2, {LABEL})": "at most 2^63 - 1",
    f"yield Charge(('a',), np.full(len(slots), -1), 2, {LABEL})": "0 or more",
    f"yield Charge(('a',), np.ones(99, np.int64), 2, {LABEL})": "9 integers",
    f"yield Charge(('a',), np.ones(len(slots)), 2, {LABEL})": "9 integers",
    f"yield Charge(('a',), 1.5, 2, {LABEL})": "an integer",
    f"yield Charge((), 1, 2, {LABEL})": "a tuple of strings",
    f"yield Charge((1,), 1, 2, {LABEL})": "a tuple of strings",
    "yield Charge(('a',), 1, 2, 'label')": "a Quota",
    f"yield Charge(Grouping(np.zeros(3, int), [('a',)]), 1, 2, {LABEL})": "a code for each of 9 slots",
    f"yield Charge(Grouping(np.ones(len(slots), int), [('a',)]), 1, 2, {LABEL})": "codes from -1 to 0",
    f"yield Charge(Grouping(np.zeros(len(slots), int), [1]), 1, 2, {LABEL})": "keys of a Grouping",
    f"yield Charge(Grouping(np.zeros(len(slots), int), [('a', 1)]), 1, 2, {LABEL})": "invalid key",
    f"yield KeyCharge(('a',), ['x'], 2, {LABEL})": "a key for each of 2 jobs",
    f"yield Charge(('a',), 1, 2, {LABEL}); yield KeyCharge(('a',), 'xy', 2, {LABEL})": "both as a sum and as a set",
}


@pytest.mark.parametrize("body", WRONG)
@pytest.mark.parametrize("mode", ["ENFORCE", "WARN"])
def test_a_request_gets_no_slot_if_a_plugin_fails(tmp_path, body, mode):
    """Whatever the mode of its rule; the reason has the error, and nothing is charged."""
    bodies = {"wrong": "    " + body.replace("text='t'", f"text='t', mode=Mode.{mode}") + "\n"}
    result = plugged(tmp_path, [cpus(1), cpus(1, 1)], right=ONE.format(limit=9, mode="ENFORCE"), **bodies)
    assert not matched(result)
    ((code, verdict, text, _),) = denials(result)
    assert (code, verdict) == ("plugin_error", "broken_plugin")
    assert WRONG[body] in text
    assert own(result) == own(result, Mode.WARN) == {}


def test_the_same_input_gives_the_same_output_and_does_not_change_the_state(tmp_path):
    """Each cycle has its own ledger."""
    chosen = bundle(tmp_path / "b", limited(TWO_CORES), GROUPS)
    pool = snapshot(SLOTS, [runs(1), *(cpus(number, user=user) for number, user in enumerate("abcab"))])
    state = CycleState.new(chosen, NOW)
    before = repr(state)
    results = [run_cycle(pool, chosen, Cycle(1, NOW, chosen.digest), state) for _ in range(2)]
    assert repr(state) == before
    assert len({repr((result, used(result), result.journal)) for result in results}) == 1
    results[0].ledger.verify()


def calls(chosen):
    """Return the number of calls of the plugin."""
    (info,) = [each for each in chosen.hooks.plugins if each.name == "q"]
    return info.calls


def test_ten_thousand_alike_jobs_are_one_call_and_one_admission(tmp_path):
    """Running jobs are one call for each kind."""
    chosen = write_bundle(tmp_path / "b", plugins={"q": HEAD + ONE.format(limit=1500, mode="ENFORCE")})
    jobs = [cpus(1, proc) for proc in range(10_000)]
    running = [runs(2, proc, Kind=str(proc % 10), RequestMemory="MY.Kind * 2") for proc in range(1000)]
    slots = [slot(number) for number in range(2_000)]
    before = calls(chosen)
    result = cycle(snapshot(slots, jobs), chosen)
    assert (len(result.matches), calls(chosen) - before, len(result.outcomes)) == (1500, 1, 1)
    before = calls(chosen)
    result = cycle(snapshot(slots, running), chosen)
    assert (own(result), calls(chosen) - before) == ({"q.all": 1000}, 10)
