"""Functions with which authors test plugins."""

import pytest

from negotiator.plugin import (
    Access,
    AccessDecision,
    AccessKind,
    AccessQuestion,
    Application,
    CounterUsage,
    QueueNotice,
    QueueTarget,
    UserGroups,
)
from negotiator.testing import PluginFailedError, ads, call, cycle_record, queues, request, rule, table

GOOD = """
from negotiator.plugin import Filter, hookimpl
@hookimpl
def negotiator_filter_slots(request, slots, settings, cycle):
    yield Filter(rule="r", allow=slots.numbers("Cpus") >= request.ad.integer("RequestCpus"), code="c", text=str(settings))
@hookimpl
def negotiator_job_attributes():
    return ["RequestCpus"]
"""


@pytest.mark.parametrize(
    "text", ['Cpus = 1\nName = "a"\n\n\nCpus = 2\n', '[ Cpus = 1; Name = "a" ]\n[ Cpus = 2 ]']
)
def test_a_table_is_made_of_either_syntax(text):
    """Long form with blank lines between ads, or one ad in brackets on each line."""
    assert table(text).numbers("Cpus").tolist() == [1.0, 2.0]
    assert table(text).strings("Name").tolist() == ["a", None]


def test_a_text_that_does_not_parse_is_an_error():
    """An error in a test is reported where it is."""
    with pytest.raises(ValueError, match="text:2"):
        ads("Cpus = 1\nName = (")


def test_a_file_is_called_through_the_guard(tmp_path):
    """With the given arguments, and defaults for the others."""
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "good.py").chmod(0o666)
    slots = table("Cpus = 1\n\nCpus = 4")
    arguments = {
        "slots": slots,
        "request": request("RequestCpus = 2"),
        "settings": 5,
        "cycle": cycle_record(),
    }
    (answer,) = call(tmp_path / "good.py", "negotiator_filter_slots", **arguments)
    assert answer.allow.tolist() == [False, True]
    assert answer.text == "5"
    assert call(str(tmp_path / "good.py"), "negotiator_filter_slots")[0].allow.tolist() == []
    assert call(tmp_path / "good.py", "negotiator_job_attributes") == ("requestcpus",)


QUEUES = """
from negotiator.plugin import *
@hookimpl
def negotiator_access(questions, queues):
    for question in questions:
        allowed = queues.nearest(question.queue).config.submit.allows(question.user, question.groups)
        yield Access(AccessDecision.GRANT if allowed else AccessDecision.FORBID, "acl", allowed)
@hookimpl
def negotiator_user_groups(users, settings, now):
    return [UserGroups(user, (settings or str(now),)) for user in reversed(users) if user != "eve"]
@hookimpl
def negotiator_placement_rules():
    yield PlacementRule(name="Of", target=lambda app, rule: QueueTarget.child(app.user) if rule.lets_through("a") else None)
@hookimpl
def negotiator_queues_changed(changes):
    raise ValueError([each.queue for each in changes])
"""


@pytest.fixture
def policy(tmp_path):
    """Return a plugin that decides about queues."""
    (tmp_path / "policy.py").write_text(QUEUES)
    return tmp_path / "policy.py"


def test_access_is_called_with_queues_of_the_test(policy):
    """An answer for each question; without queues there is only the root."""
    arguments = [AccessQuestion(user, ("dev",), AccessKind.SUBMIT, "root.a.b.c") for user in ("bob", "eve")]
    made = queues({"root.A.b": "bob", "root.z": " dev"})
    assert call(policy, "negotiator_access", questions=arguments, queues=made) == (
        Access(AccessDecision.GRANT, "acl", "user bob"),
        Access(AccessDecision.FORBID, "acl", ""),
    )
    alone = call(policy, "negotiator_access", questions=arguments)
    assert [each.decision for each in alone] == [AccessDecision.FORBID] * 2
    assert call(policy, "negotiator_access") == ()


def test_queues_are_created_with_their_parents():
    """Only leaves take applications."""
    made = queues({"root.a.b": "bob", "root.a": "*"})
    assert [(queue.path, queue.leaf) for queue in made] == [
        ("root", False),
        ("root.a", False),
        ("root.a.b", True),
    ]
    assert made.get("root.a").config.submit.everybody
    assert [queue.path for queue in queues()] == ["root"]


QUOTAS = """
from negotiator.plugin import *
@hookimpl
def negotiator_charges(request, slots, queues, settings):
    for resource, amount in request.resources.items():
        label = Quota(rule=request.group or "nobody", text=f"{len(slots)} {len(queues)} {settings}")
        yield Charge((request.queue, resource, *sorted(request.unknown)), amount, None, label)
    yield KeyCharge((request.user,), request.applications, 1, Quota(rule="r", text="t"))
@hookimpl
def negotiator_usage(report, used):
    yield {"report": report, "keys": [list(key) for key in used.sums]}
"""


def test_charges_are_called_with_a_request_of_the_test(tmp_path):
    """Amounts are given beside its ad; a missing amount is 0; its jobs are of one application."""
    (tmp_path / "quotas.py").write_text(QUOTAS)
    arguments = request(
        'Owner = "eve"',
        count=2,
        first_job="7.0",
        queue="root.a",
        group="dev",
        resources={"gpu": 2},
        unknown=["memory"],
    )
    given = {
        "request": arguments,
        "slots": table("Cpus = 1"),
        "queues": queues({"root.a": "*"}),
        "settings": 5,
    }
    memory, gpu, applications = call(tmp_path / "quotas.py", "negotiator_charges", **given)
    assert (gpu.counter, gpu.amount) == (("root.a", "gpu", "memory"), 2)
    assert (memory.counter, memory.amount) == (("root.a", "memory", "memory"), 0)
    assert (gpu.label.rule, gpu.label.text) == ("dev", "1 2 5")
    assert (applications.counter, applications.keys) == (("eve",), ("schedd@example.org#7",) * 2)
    (alone,) = call(tmp_path / "quotas.py", "negotiator_charges")
    assert (alone.counter, alone.keys) == (("alice",), ("schedd@example.org#1",))


def test_usage_is_called_with_counters_of_the_test(tmp_path):
    """By default the report of users, without usage."""
    (tmp_path / "quotas.py").write_text(QUOTAS)
    used = CounterUsage({("a", "b"): 1}, {}, {})
    given = {"report": "hosts", "used": used}
    assert call(tmp_path / "quotas.py", "negotiator_usage", **given) == (
        {"report": "hosts", "keys": [["a", "b"]]},
    )
    assert call(tmp_path / "quotas.py", "negotiator_usage") == ({"report": "users", "keys": []},)


def test_groups_are_returned_for_known_users(policy):
    """As the plugin returns them; by default at the time of the cycle."""
    users = ["bob", "eve", "ann"]
    assert call(policy, "negotiator_user_groups", users=users, now=5.0) == (
        UserGroups("ann", ("5.0",)),
        UserGroups("bob", ("5.0",)),
    )
    (known,) = call(policy, "negotiator_user_groups", users=["bob"])
    assert known.groups == (str(cycle_record().now),)
    assert call(policy, "negotiator_user_groups", users=["bob"], settings="s")[0].groups == ("s",)
    assert call(policy, "negotiator_user_groups") == ()


def test_a_placement_rule_is_called_with_a_rule_of_the_test(policy):
    """Its filter admits all groups, or the named ones."""
    (made,) = call(policy, "negotiator_placement_rules")
    assert made.name == "of"
    assert made.target(Application("bob"), rule()) == QueueTarget("bob")
    assert made.target(Application("bob"), rule(groups=["b"])) is None
    assert made.target(Application("bob"), rule(groups=["a", "b"])) == QueueTarget("bob")
    configured = rule("x", name="of", create=True)
    assert (configured.value, configured.name, configured.create) == ("x", "of", True)


def test_an_observer_of_queues_is_called(policy):
    """Its exceptions fail the test."""
    with pytest.raises(PluginFailedError, match=r"ValueError: \['root.a'\]"):
        call(policy, "negotiator_queues_changed", changes=[QueueNotice("root.a", "created", 0.0)])
    with pytest.raises(PluginFailedError, match=r"ValueError: \[\]"):
        call(policy, "negotiator_queues_changed")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def negotiator_filter_slots(): return 3", "expected an iterable of Filter, got int"),
        ("def negotiator_filter_slots(): return 1 / 0", "ZeroDivisionError"),
        ("def negotiator_filter_slots(job): return []", "unknown argument job"),
        (
            "def negotiator_commands(): return []",
            "the plugin does not implement negotiator_filter_slots; it implements: negotiator_commands",
        ),
    ],
)
def test_reported_failures_fail_the_test(tmp_path, source, message):
    """A refusal, an exception and a wrong answer alike."""
    (tmp_path / "bad.py").write_text(f"from negotiator.plugin import hookimpl\n@hookimpl\n{source}\n")
    with pytest.raises(PluginFailedError, match=message):
        call(tmp_path / "bad.py", "negotiator_filter_slots")


def test_an_unknown_argument_is_refused_with_the_valid_names(tmp_path):
    """A misspelled argument would be ignored otherwise, and the test would test nothing."""
    (tmp_path / "good.py").write_text(GOOD)
    expected = (
        r"unknown argument slot of negotiator_filter_slots; its arguments are: request, slots, settings, cycle, policy"
        r" \(did you mean slots\?\)"
    )
    with pytest.raises(TypeError, match=expected):
        call(tmp_path / "good.py", "negotiator_filter_slots", slot=table(""))
