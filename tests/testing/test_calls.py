"""What the authors of plugins test with."""

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
    """Long form with blank lines between ads, or an ad in brackets a line."""
    assert table(text).numbers("Cpus").tolist() == [1.0, 2.0]
    assert table(text).strings("Name").tolist() == ["a", None]


def test_a_text_that_does_not_parse_is_an_error():
    """A test that is wrong fails where it is wrong."""
    with pytest.raises(ValueError, match="text:2"):
        ads("Cpus = 1\nName = (")


def test_a_file_is_called_through_the_guard(tmp_path):
    """With the arguments that are given, and plain ones for the rest."""
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "good.py").chmod(0o666)
    slots = table("Cpus = 1\n\nCpus = 4")
    asked = {"slots": slots, "request": request("RequestCpus = 2"), "settings": 5, "cycle": cycle_record()}
    (answer,) = call(tmp_path / "good.py", "negotiator_filter_slots", **asked)
    assert answer.allow.tolist() == [False, True]
    assert answer.text == "5"
    assert call(str(tmp_path / "good.py"), "negotiator_filter_slots")[0].allow.tolist() == []
    assert call(tmp_path / "good.py", "negotiator_job_attributes") == ("requestcpus",)


QUEUES = """
from negotiator.plugin import *
@hookimpl
def negotiator_access(questions, queues):
    for asked in questions:
        allowed = queues.nearest(asked.queue).config.submit.allows(asked.user, asked.groups)
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
    """A plugin that decides about queues."""
    (tmp_path / "policy.py").write_text(QUEUES)
    return tmp_path / "policy.py"


def test_access_is_asked_over_queues_that_a_test_makes(policy):
    """An answer for each question; without queues there is the root alone."""
    asked = [AccessQuestion(user, ("dev",), AccessKind.SUBMIT, "root.a.b.c") for user in ("bob", "eve")]
    made = queues({"root.A.b": "bob", "root.z": " dev"})
    assert call(policy, "negotiator_access", questions=asked, queues=made) == (
        Access(AccessDecision.GRANT, "acl", "user bob"),
        Access(AccessDecision.FORBID, "acl", ""),
    )
    alone = call(policy, "negotiator_access", questions=asked)
    assert [each.decision for each in alone] == [AccessDecision.FORBID] * 2
    assert call(policy, "negotiator_access") == ()


def test_queues_are_made_with_all_above_them():
    """Only what has nothing below it takes applications."""
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


def test_charges_are_declared_for_a_request_that_a_test_makes(tmp_path):
    """What a job asks for is said beside its ad; what it does not tell is 0; its jobs are of one application."""
    (tmp_path / "quotas.py").write_text(QUOTAS)
    asked = request(
        'Owner = "eve"',
        count=2,
        first_job="7.0",
        queue="root.a",
        group="dev",
        resources={"gpu": 2},
        unknown=["memory"],
    )
    given = {"request": asked, "slots": table("Cpus = 1"), "queues": queues({"root.a": "*"}), "settings": 5}
    memory, gpu, applications = call(tmp_path / "quotas.py", "negotiator_charges", **given)
    assert (gpu.counter, gpu.amount) == (("root.a", "gpu", "memory"), 2)
    assert (memory.counter, memory.amount) == (("root.a", "memory", "memory"), 0)
    assert (gpu.label.rule, gpu.label.text) == ("dev", "1 2 5")
    assert (applications.counter, applications.keys) == (("eve",), ("schedd@example.org#7",) * 2)
    (alone,) = call(tmp_path / "quotas.py", "negotiator_charges")
    assert (alone.counter, alone.keys) == (("alice",), ("schedd@example.org#1",))


def test_usage_is_reported_of_what_a_test_counts(tmp_path):
    """The report of users of nothing, where nothing else is given."""
    (tmp_path / "quotas.py").write_text(QUOTAS)
    used = CounterUsage({("a", "b"): 1}, {}, {})
    given = {"report": "hosts", "used": used}
    assert call(tmp_path / "quotas.py", "negotiator_usage", **given) == (
        {"report": "hosts", "keys": [["a", "b"]]},
    )
    assert call(tmp_path / "quotas.py", "negotiator_usage") == ({"report": "users", "keys": []},)


def test_groups_come_back_for_the_users_that_are_known(policy):
    """As the plugin returns them; at the time of the cycle if no other is given."""
    users = ["bob", "eve", "ann"]
    assert call(policy, "negotiator_user_groups", users=users, now=5.0) == (
        UserGroups("ann", ("5.0",)),
        UserGroups("bob", ("5.0",)),
    )
    (known,) = call(policy, "negotiator_user_groups", users=["bob"])
    assert known.groups == (str(cycle_record().now),)
    assert call(policy, "negotiator_user_groups", users=["bob"], settings="s")[0].groups == ("s",)
    assert call(policy, "negotiator_user_groups") == ()


def test_a_placement_rule_is_called_with_a_rule_that_a_test_makes(policy):
    """Its filter lets every group through, or those that are named."""
    (made,) = call(policy, "negotiator_placement_rules")
    assert made.name == "of"
    assert made.target(Application("bob"), rule()) == QueueTarget("bob")
    assert made.target(Application("bob"), rule(groups=["b"])) is None
    assert made.target(Application("bob"), rule(groups=["a", "b"])) == QueueTarget("bob")
    configured = rule("x", name="of", create=True)
    assert (configured.value, configured.name, configured.create) == ("x", "of", True)


def test_an_observer_of_queues_is_told(policy):
    """And what it raises fails the test."""
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
def test_what_the_program_would_report_fails_the_test(tmp_path, source, message):
    """A refusal, an exception and a wrong answer alike."""
    (tmp_path / "bad.py").write_text(f"from negotiator.plugin import hookimpl\n@hookimpl\n{source}\n")
    with pytest.raises(PluginFailedError, match=message):
        call(tmp_path / "bad.py", "negotiator_filter_slots")


def test_an_unknown_argument_is_refused_with_the_valid_names(tmp_path):
    """A misspelled argument would be ignored otherwise, and the test would test nothing."""
    (tmp_path / "good.py").write_text(GOOD)
    expected = (
        r"unknown argument slot of negotiator_filter_slots; its arguments are: request, slots, settings, cycle"
        r" \(did you mean slots\?\)"
    )
    with pytest.raises(TypeError, match=expected):
        call(tmp_path / "good.py", "negotiator_filter_slots", slot=table(""))
