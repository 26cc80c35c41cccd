"""Each hook about users: access decisions and groups."""

import pytest

from negotiator.plugin import (
    AccessDecision,
    AccessKind,
    AccessQuestion,
    PlacedApplication,
)
from negotiator.records import Source
from negotiator.testing import queues


def test_negotiator_access_gets_all_questions_and_the_queues(plugins):
    """And the plugin's own settings; questions have user and kind, queues have their lists."""
    plugins.write(
        "acl.py",
        """
        @hookimpl
        def negotiator_access(questions, queues, settings):
            for question in questions:
                queue = queues.get(question.queue)
                subject = queue.config.submit.allows(question.user, question.groups) if queue else ""
                yield Access(AccessDecision.GRANT if subject else AccessDecision.ABSTAIN, f"{settings} {question.act}", subject,
                             Source("queues.yaml", 3))
        """,
    )
    questions = [AccessQuestion(user, ("dev",), AccessKind.SUBMIT, "root.a") for user in ("bob", "eve")]
    questions.append(AccessQuestion("eve", (), AccessKind.CONFIGURE))
    manager = plugins.load()
    answers, failures = manager.access(questions, queues({"root.a": "bob"}), {"acl": "mine"})
    assert failures == ()
    assert [(each.record.decision, each.record.rule, each.record.text) for each in answers] == [
        (AccessDecision.GRANT, "mine submit", "user bob"),
        (AccessDecision.ABSTAIN, "mine submit", ""),
        (AccessDecision.ABSTAIN, "mine configure", ""),
    ]
    assert {(each.plugin, each.version) for each in answers} == {("acl", manager.plugins[0].version)}
    assert answers[0].record.source == Source("queues.yaml", 3)


def knows(**groups):
    """Return a plugin that knows these users."""
    return f"""
        @hookimpl
        def negotiator_user_groups():
            for user, groups in {groups}.items():
                yield UserGroups(user, groups)
        """


def test_negotiator_application_groups_come_from_the_first_plugin_that_names_one(plugins):
    """One for each application, in the bundle's order of plugins; empty if no plugin names a group."""
    plugins.write(
        "a.py",
        """
        @hookimpl
        def negotiator_application_groups(applications, queues, settings):
            assert type(applications) is tuple
            for each in applications:
                yield settings + each.queue if each.user == "bob" and len(queues) else ""
        """,
    )
    plugins.write(
        "b.py",
        """
        @hookimpl
        def negotiator_application_groups(applications):
            return [each.groups[0] if each.groups else "" for each in applications]
        """,
    )
    placed = [
        PlacedApplication("bob", ("staff",), "root.a"),
        PlacedApplication("ann", ("staff",), "root.a"),
        PlacedApplication("eve", (), "root.b"),
    ]
    groups, failures = plugins.load().application_groups(placed, queues(), {"a": "in "})
    assert (groups, failures) == (("in root.a", "staff", ""), ())


@pytest.mark.parametrize("answer", ["['a']", "['a', 7]", "['a', '\\n']", "None"])
def test_negotiator_application_groups_fails_on_an_invalid_answer(plugins, answer):
    """Too few groups, a number, a name that is not printable, no answer."""
    plugins.write("p.py", f"@hookimpl\ndef negotiator_application_groups(): return {answer}\n")
    placed = [PlacedApplication("bob", (), "root.a"), PlacedApplication("ann", (), "root.a")]
    groups, failures = plugins.load().application_groups(placed, queues(), {})
    assert groups == ("", "")
    assert [failure.plugin for failure in failures] == ["p"]


def test_negotiator_user_groups_gets_users_settings_and_time(plugins):
    """A plugin gets all users at once and returns those that it knows; groups may be a list."""
    plugins.write(
        "p.py",
        """
        @hookimpl
        def negotiator_user_groups(users, settings, now):
            assert type(users) is tuple
            return [UserGroups(user, [user + "s", settings, str(now)]) for user in users if user != "eve"]
        """,
    )
    found, failures = plugins.load().user_groups(["bob", "eve", "ann"], 5.0, {"p": "mine"})
    assert failures == ()
    assert list(found.items()) == [("bob", ("bobs", "mine", "5.0")), ("ann", ("anns", "mine", "5.0"))]


def test_negotiator_user_groups_come_from_the_first_plugin_that_knows_a_user(plugins):
    """In the bundle's order; a user without groups is known too; other users than the given ones are ignored."""
    plugins.write("a.py", knows(bob=("a",), ann=()))
    plugins.write("b.py", knows(bob=("b",), ann=("b",), eve=("b", "b2"), zoe=("b",)))
    users = ["eve", "bob", "ann", "nobody"]
    expected = {"eve": ("b", "b2"), "bob": ("a",), "ann": ()}
    assert plugins.load().user_groups(users, 0.0, {}) == (expected, ())
    turned, _ = plugins.load(order=("b",)).user_groups(users, 0.0, {})
    assert turned == {"eve": ("b", "b2"), "bob": ("b",), "ann": ("b",)}


def test_negotiator_user_groups_takes_the_first_record_of_a_user(plugins):
    """As with two plugins, the first record counts."""
    plugins.write(
        "p.py",
        """
        @hookimpl
        def negotiator_user_groups():
            return [UserGroups("bob", ("first",)), UserGroups("bob", ("second",))]
        """,
    )
    assert plugins.load().user_groups(["bob"], 0.0, {}) == ({"bob": ("first",)}, ())


def test_negotiator_user_groups_after_a_failed_plugin_are_ignored(plugins):
    """The failed plugin might have known the user with other groups; answers of plugins before it count."""
    plugins.write("a.py", knows(bob=("a",)))
    plugins.write("b.py", "@hookimpl\ndef negotiator_user_groups(): raise OSError('no server')\n")
    plugins.write("c.py", knows(bob=("c",), eve=("c",)))
    found, failures = plugins.load().user_groups(["bob", "eve"], 0.0, {})
    assert found == {"bob": ("a",)}
    assert [(failure.plugin, failure.message) for failure in failures] == [("b", "OSError: no server")]
    later, failures = plugins.load(order=("a", "c")).user_groups(["bob", "eve"], 0.0, {})
    assert later == {"bob": ("a",), "eve": ("c",)}
    assert [failure.plugin for failure in failures] == ["b"]


def test_negotiator_user_groups_may_return_as_many_records_as_users(plugins):
    """But never fewer than other answers may have."""
    plugins.write(
        "p.py",
        """
        @hookimpl
        def negotiator_user_groups(users, settings):
            for number in range(settings):
                yield UserGroups(f"user{number}", ("staff",))
        """,
    )
    manager = plugins.load()
    users = [f"user{number}" for number in range(20_001)]
    found, failures = manager.user_groups(users, 0.0, {"p": len(users)})
    assert (len(found), failures) == (20_001, ())
    assert manager.user_groups(users[:1], 0.0, {"p": 10_000}) == ({"user0": ("staff",)}, ())
    for count, records in ((1, 10_001), (20_001, 20_002)):
        found, (failure,) = manager.user_groups(users[:count], 0.0, {"p": records})
        assert (found, failure.message) == (
            {},
            f"wrong answer: expected at most {max(count, 10_000)} records, got more",
        )


def test_an_answer_is_read_to_one_record_beyond_its_limit(plugins):
    """A plugin without end does not run on, and what it would do next is not its failure."""
    plugins.write(
        "p.py",
        """
        @hookimpl
        def negotiator_user_groups(users):
            for number in range(10_001):
                yield UserGroups(f"user{number}", ())
            raise RuntimeError("read further")
        """,
    )
    _, (failure,) = plugins.load().user_groups(["user0"], 0.0, {})
    assert failure.message == "wrong answer: expected at most 10000 records, got more"


def test_a_user_may_have_10000_groups(plugins):
    plugins.write("p.py", knows(bob=("g",) * 10_000, eve=("g",)))
    found, failures = plugins.load().user_groups(["bob", "eve"], 0.0, {})
    assert (len(found["bob"]), found["eve"], failures) == (10_000, ("g",), ())
