"""What the answers of all access policies come to, and what becomes of one that does not answer."""

import pytest

from negotiator.plugin import AccessDecision, AccessKind, AccessQuestion
from negotiator.testing import queues


def says(name, decision, text="t"):
    """A plugin that answers every question with one decision."""
    body = f'yield from [Access(AccessDecision.{decision}, "{name}", "{text}")] * len(questions)'
    return f"@hookimpl\ndef negotiator_access(questions):\n    {body}\n"


@pytest.mark.parametrize(
    ("said", "decides", "decision"),
    [
        ("", "default", "ABSTAIN"),
        ("A", "a", "ABSTAIN"),
        ("G", "a", "GRANT"),
        ("F", "a", "FORBID"),
        ("AA", "a", "ABSTAIN"),
        ("AG", "b", "GRANT"),
        ("GA", "a", "GRANT"),
        ("GG", "a", "GRANT"),
        ("GF", "b", "FORBID"),
        ("FG", "a", "FORBID"),
        ("AF", "b", "FORBID"),
        ("FF", "a", "FORBID"),
        ("AGF", "c", "FORBID"),
        ("GAG", "a", "GRANT"),
    ],
)
def test_answers_are_combined_forbid_before_grant_before_nothing(plugins, said, decides, decision):
    """The answer that decides is the first of its kind, in the order in which plugins are asked."""
    names = {"A": "ABSTAIN", "G": "GRANT", "F": "FORBID"}
    for name, each in zip("abc", said, strict=False):
        plugins.write(f"{name}.py", says(name, names[each]))
    asked = [AccessQuestion("bob", (), AccessKind.CONFIGURE)] * 2
    answers, failures = plugins.load().access(asked, queues(), {})
    assert failures == ()
    assert [(each.record.rule, each.record.decision) for each in answers] == [
        (decides, AccessDecision[decision])
    ] * 2
    assert {each.plugin for each in answers} == {decides if said else "negotiator"}


def test_each_question_is_decided_by_itself(plugins):
    """What one policy says of one question has no effect on another question."""
    for name, user in (("a", "eve"), ("b", "bob")):
        plugins.write(
            f"{name}.py",
            f"""
            @hookimpl
            def negotiator_access(questions):
                for asked in questions:
                    yield Access(AccessDecision.GRANT if asked.user == "{user}" else AccessDecision.ABSTAIN, "{name}", "t")
            """,
        )
    asked = [AccessQuestion(user, (), AccessKind.CONFIGURE) for user in ("bob", "eve", "ann", "bob")]
    answers, _ = plugins.load().access(asked, queues(), {})
    assert [(each.plugin, each.record.decision.value) for each in answers] == [
        ("b", "grant"),
        ("a", "grant"),
        ("a", "abstain"),
        ("b", "grant"),
    ]
    assert plugins.load().access([], queues(), {}) == ((), ())


@pytest.mark.parametrize("body", ["raise ValueError('no server')", "return []", "return None"])
def test_a_policy_that_fails_denies_everything(plugins, body):
    """Whoever else grants it: it might have been the one to forbid it."""
    plugins.write("bad.py", f"@hookimpl\ndef negotiator_access(questions): {body}\n")
    plugins.write("a.py", says("a", "GRANT"))
    plugins.write("z.py", says("z", "GRANT"))
    asked = [AccessQuestion(user, (), AccessKind.SUBMIT, "root.a") for user in ("bob", "eve")]
    answers, failures = plugins.load().access(asked, queues(), {})
    assert [failure.plugin for failure in failures] == ["bad"]
    assert [(each.plugin, each.record.decision, each.record.rule) for each in answers] == [
        ("bad", AccessDecision.FORBID, "plugin_error")
    ] * 2
    (failure,) = failures
    expected = f"plugin bad {failure.version}, hook negotiator_access: {failure.message}"
    assert {each.record.text for each in answers} == {expected}  # without a path of this machine


@pytest.mark.parametrize(("count", "got"), [(0, "0"), (1, "1"), (2, None), (3, "more"), (10**9, "more")])
def test_each_question_must_be_answered(plugins, count, got):
    """An answer too few or too many would be taken for the answer to another question."""
    plugins.write(
        "p.py",
        f"""
        @hookimpl
        def negotiator_access():
            for _ in range({count}):
                yield Access(AccessDecision.GRANT, "r", "t")
        """,
    )
    asked = [AccessQuestion(user, (), AccessKind.CONFIGURE) for user in ("bob", "eve")]
    answers, failures = plugins.load().access(asked, queues(), {})
    assert [failure.message for failure in failures] == (
        [] if got is None else [f"wrong answer: expected 2 records of Access, one a question, got {got}"]
    )
    assert {each.record.decision for each in answers} == {
        AccessDecision.FORBID if got else AccessDecision.GRANT
    }


def test_more_questions_are_answered_than_other_answers_may_have_records(plugins):
    """A pool has as many users and queues as it has."""
    plugins.write("a.py", says("a", "GRANT"))
    plugins.write("b.py", says("b", "ABSTAIN"))
    asked = [AccessQuestion(f"user{number}", (), AccessKind.CONFIGURE) for number in range(20_001)]
    answers, failures = plugins.load().access(asked, queues(), {})
    assert failures == ()
    assert len(answers) == 20_001
    assert {each.plugin for each in answers} == {"a"}
