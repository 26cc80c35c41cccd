"""The station *place* in whole cycles: the queue of each application, assigned once, and rejections."""

import attrs
import pytest

import pools
import queueing
from negotiator.audit.records import records_by_kind
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle
from negotiator.queues import QueueChangeKind
from negotiator.queues.applications import ApplicationHold, ApplicationId
from negotiator.records import Verdict
from pools import NOW, slot, snapshot
from queueing import app

COUNTING = """
from negotiator.plugin import hookimpl, PlacementRule, QueueTarget
ASKED = []
def target(application, rule):
    ASKED.append(application)
    return QueueTarget.given(application.queue or "root.one")
@hookimpl
def negotiator_placement_rules():
    yield PlacementRule(name="counted", target=target)
"""


@pytest.fixture
def bundle(tmp_path):
    return queueing.bundle(tmp_path / "bundle")


def cycle(bundle, jobs, state=None, slots=()):
    return run_cycle(snapshot(slots, jobs), bundle, Cycle(1, NOW, bundle.digest), state)


def state(bundle, **more):
    return attrs.evolve(CycleState.new(bundle, NOW), **more)


def after(result, **more):
    """Return the state after a cycle."""
    return attrs.evolve(result.state, **more)


def queues(result):
    return {(str(each.id), each.id.user): each.queue for each in result.state.registry}


def discarded_jobs(result):
    return [(each.reason.code, each.reason.verdict, each.count) for each in result.discarded]


def test_a_job_is_placed_by_its_rule_and_its_queue_is_in_request_and_match(bundle):
    result = cycle(bundle, [app(1), app(2, queue="root.two")], slots=[slot(0), slot(1)])
    assert queues(result) == {("node1#1", "tester"): "root.one", ("node1#2", "tester"): "root.two"}
    assert [(each.request.queue, each.request.count) for each in result.outcomes] == [
        ("root.one", 1),
        ("root.two", 1),
    ]
    assert [(match.job, match.queue) for match in result.matches] == [
        ("1.0", "root.one"),
        ("2.0", "root.two"),
    ]


def test_jobs_alike_but_for_their_queue_are_different_requests(bundle):
    """Those of one queue are one request, even of several applications."""
    jobs = [app(1), app(2), app(3, queue="root.two"), app(4, queue="root.two")]
    result = cycle(bundle, jobs)
    assert [(each.request.queue, each.request.count) for each in result.outcomes] == [
        ("root.one", 2),
        ("root.two", 2),
    ]


def test_the_rules_are_applied_once_to_alike_applications(tmp_path):
    rules = queueing.QUEUES.replace("provided, create: true", "counted, create: true")
    bundle = queueing.bundle(tmp_path / "b", queues=rules, plugins={"counting": COUNTING})
    jobs = [
        app(cluster, proc, user, queue)
        for user in ("ann", "bob")
        for cluster, queue in ((1, None), (2, None), (3, "root.two"))
        for proc in range(4)
    ]
    result = cycle(bundle, jobs)
    calls = [(each.application.user, each.application.queue) for each in result.placements]
    assert calls == [("ann", ""), ("ann", "root.two"), ("bob", ""), ("bob", "root.two")]
    assert [(each.jobs, each.first_job) for each in result.placements] == [
        (8, "1.0"),
        (4, "3.0"),
        (8, "1.0"),
        (4, "3.0"),
    ]
    rule = bundle.chain.rules[0]
    assert len(rule.type.record.target.__globals__["ASKED"]) == 4


def test_a_placed_application_keeps_its_queue_whatever_it_requests_later(bundle):
    first = cycle(bundle, [app(1)])
    second = cycle(bundle, [app(1, queue="root.two")], after(first))
    assert queues(second) == {("node1#1", "tester"): "root.one"}
    assert (second.placements, second.changes) == ((), ())
    assert second.outcomes[0].request.queue == "root.one"


def test_a_later_job_goes_to_the_queue_of_its_application(bundle):
    first = cycle(bundle, [app(1)])
    second = cycle(bundle, [app(1), app(1, 1, queue="root.two")], after(first))
    assert [(each.request.queue, each.request.count) for each in second.outcomes] == [("root.one", 2)]


def test_an_application_has_one_queue_even_if_its_jobs_request_several(bundle):
    """It is that of its first job; no queue is created for the others."""
    jobs = [app(1, 0, queue="root.two"), app(1, 1, queue="root.made"), app(1, 2)]
    result = cycle(bundle, jobs)
    assert queues(result) == {("node1#1", "tester"): "root.two"}
    assert [(each.request.queue, each.request.count) for each in result.outcomes] == [("root.two", 3)]
    assert (result.changes, len(result.placements)) == ((), 1)


def test_a_cluster_is_another_application_at_another_schedd_and_of_another_user(bundle):
    jobs = [app(1), app(1, schedd="node2", queue="root.two"), app(1, 5, user="ann", queue="root.made")]
    assert queues(cycle(bundle, jobs)) == {
        ("node1#1", "tester"): "root.one",
        ("node2#1", "tester"): "root.two",
        ("node1#1", "ann"): "root.made",
    }


def test_the_schedd_of_an_application_is_the_same_in_any_case_of_letters(bundle):
    first = cycle(bundle, [app(1, schedd="Node1")])
    second = cycle(bundle, [app(1, schedd="NODE1", queue="root.two")], after(first))
    assert queues(second) == {("node1#1", "tester"): "root.one"}


@pytest.mark.parametrize(
    "cluster", ["-1", "1.5", "4294967296", "1e300", '"x"', "undefined", 'real("NaN")', 'real("INF")']
)
def test_an_invalid_cluster_is_placed_and_not_registered(bundle, cluster):
    """Each such job is placed separately, since they may be of different applications."""
    jobs = [app(1, 0, ClusterId=cluster), app(1, 1, ClusterId=cluster, queue="root.two")]
    result = cycle(bundle, jobs)
    assert sorted(each.request.queue for each in result.outcomes) == ["root.one", "root.two"]
    assert len(result.state.registry) == 0


def test_the_largest_cluster_is_registered(bundle):
    assert queues(cycle(bundle, [app(2**32 - 1)])) == {("node1#4294967295", "tester"): "root.one"}


def test_a_held_application_is_discarded_with_the_administrator_and_the_note(bundle):
    held = {ApplicationId("node1", "tester", 1): ApplicationHold("boss", NOW, "fills the disk")}
    result = cycle(bundle, [app(1), app(1, 1), app(2)], state(bundle, held=held))
    (discarded,) = result.discarded
    assert (discarded.reason.code, discarded.count, discarded.examples) == (
        "held_by_admin",
        2,
        ("1.0", "1.1"),
    )
    assert "boss: fills the disk" in discarded.reason.text
    assert [each.request.first_job for each in result.outcomes] == ["2.0"]


def test_a_held_application_keeps_its_queue(bundle):
    """Administrators of that queue may release it."""
    held = {ApplicationId("node1", "tester", 1): ApplicationHold("boss", NOW)}
    result = cycle(bundle, [app(1, queue="root.two")], state(bundle, held=held))
    assert queues(result) == {("node1#1", "tester"): "root.two"}


def test_a_job_without_a_valid_owner_is_discarded(bundle):
    result = cycle(bundle, [app(1, Owner=None), app(2, Owner="7"), app(3)])
    assert discarded_jobs(result) == [("no_user", "misconfigured", 2)]
    assert queues(result) == {("node1#3", "tester"): "root.one"}


def test_a_user_with_unresolved_groups_is_discarded_and_an_unknown_user_is_in_no_group(bundle):
    groups = {"ann": None, "bob": ("staff",)}
    jobs = [app(1, user="ann"), app(2, user="bob"), app(3, user="carl")]
    result = cycle(bundle, jobs, state(bundle, groups=groups))
    assert discarded_jobs(result) == [("groups_unknown", Verdict.BROKEN_PLUGIN, 1)]
    assert {each.application.user: each.application.groups for each in result.placements} == {
        "ann": (),
        "bob": ("staff",),
        "carl": (),
    }


def test_groups_that_the_job_specifies_need_no_plugin(tmp_path):
    bundle = queueing.bundle(tmp_path / "b", pool="placement: {groups: MY.Groups}\n")
    jobs = [app(1, user="ann", Groups='"x, y"')]
    result = cycle(bundle, jobs, state(bundle, groups={"ann": None}))
    assert (discarded_jobs(result), result.placements[0].application.groups) == ([], ("x", "y"))


def test_an_application_that_no_rule_places_is_discarded_with_every_rule_that_was_tried(tmp_path):
    rules = queueing.QUEUES.replace("root.one}", "root.one, filter: {type: deny, users: [tester]}}")
    bundle = queueing.bundle(tmp_path / "b", queues=rules)
    result = cycle(bundle, [app(1), app(2, user="ann")])
    assert discarded_jobs(result) == [("no_rule_matched", "denied", 1)]
    (rejected, _) = result.placements
    assert [(step.rule, step.code) for step in rejected.placement.steps] == [
        ("provided", "no_value"),
        ("fixed", "filtered"),
    ]
    assert queues(result) == {("node1#2", "ann"): "root.one"}


def test_a_rejected_application_is_placed_again_in_the_next_cycle(tmp_path):
    denying = queueing.QUEUES.replace("root.one}", "root.one, filter: {type: deny, users: [tester]}}")
    rejected = cycle(queueing.bundle(tmp_path / "denying", queues=denying), [app(1)])
    assert (len(rejected.discarded), queues(rejected)) == (1, {})
    placed = cycle(queueing.bundle(tmp_path / "open"), [app(1)], rejected.state)
    assert queues(placed) == {("node1#1", "tester"): "root.one"}


def test_queues_are_created_in_the_order_of_the_first_requests_for_them(bundle):
    names = ["z", "m", "a", "q"]
    jobs = [app(number, queue=f"root.above.{name}") for number, name in enumerate(names * 2)]
    result = cycle(bundle, jobs)
    created = [(each.path, each.change) for each in result.changes]
    assert created == [(f"root.above.{name}", QueueChangeKind.CREATED) for name in names]
    assert all(not result.state.queues.get(f"root.above.{name}").managed for name in names)


def test_a_cycle_does_not_change_its_inputs(bundle):
    given = state(bundle)
    before = given.queues.mutable().view
    result = cycle(bundle, [app(1, queue="root.above.new")], given)
    assert (given.queues, len(given.registry)) == (before, 0)
    assert result.state.queues != before


def test_the_same_input_gives_the_same_output(bundle):
    jobs = [app(n, p, f"u{n % 3}", f"root.above.q{n % 5}") for n in range(20) for p in range(2)]
    held = {ApplicationId("node1", "u1", 4): ApplicationHold("boss", NOW)}
    results = [cycle(bundle, jobs, state(bundle, held=held), [slot(n) for n in range(9)]) for _ in range(2)]
    one, other = map(records_by_kind, results)
    assert one == other
    assert queues(results[0]) == queues(results[1])
    assert list(results[0].state.registry) == list(results[1].state.registry)


def test_without_jobs_the_queues_are_unchanged(bundle):
    result = pools.cycle(snapshot([slot()]), bundle)
    assert (list(result.state.registry), result.placements, result.changes) == ([], (), ())


FAILING_GROUPS = """
from negotiator.plugin import hookimpl
@hookimpl
def negotiator_application_groups(applications): raise OSError("no server")
"""


def test_new_applications_are_rejected_if_a_plugin_fails_to_choose_their_groups(tmp_path):
    """Otherwise they would count for the wrong group permanently."""
    bundle = queueing.bundle(tmp_path / "b", plugins={"failing": FAILING_GROUPS})
    result = cycle(bundle, [app(1), app(2)], slots=[slot(0)])
    assert discarded_jobs(result) == [("plugin_error", Verdict.BROKEN_PLUGIN, 2)]
    assert [failure.plugin for failure in result.failures] == ["failing"]
    assert queues(result) == {}


def test_no_queue_is_created_for_applications_rejected_because_of_their_groups(tmp_path):
    bundle = queueing.bundle(tmp_path / "b", plugins={"failing": FAILING_GROUPS})
    before = state(bundle)
    jobs = [app(1, queue="root.above.made.new"), app(2, queue="root.above.made.other", JobStatus="2"), app(3)]
    result = cycle(bundle, jobs, before, slots=[slot(0)])
    assert discarded_jobs(result)[-1] == ("plugin_error", Verdict.BROKEN_PLUGIN, 2)
    assert (result.changes, result.state.queues) == ((), before.queues)
    assert not result.state.queues.has_children("root.above")
