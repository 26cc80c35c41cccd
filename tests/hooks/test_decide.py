"""The decision from the answers of all access policies, and policies that fail to answer."""

import pytest

from negotiator.plugin import AccessDecision, AccessKind, AccessQuestion
from negotiator.testing import queues


def policy(name, decision, text="t"):
    """Return a plugin that answers every question with one decision."""
    body = f'yield from [Access(AccessDecision.{decision}, "{name}", "{text}")] * len(questions)'
    return f"@hookimpl\ndef negotiator_access(questions):\n    {body}\n"


@pytest.mark.parametrize(
    ("decisions", "decides", "decision"),
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
def test_answers_are_combined_forbid_before_grant_before_nothing(plugins, decisions, decides, decision):
    """The deciding answer is the first of its kind, in the order of plugins."""
    names = {"A": "ABSTAIN", "G": "GRANT", "F": "FORBID"}
    for name, each in zip("abc", decisions, strict=False):
        plugins.write(f"{name}.py", policy(name, names[each]))
    questions = [AccessQuestion("bob", (), AccessKind.CONFIGURE)] * 2
    answers, failures = plugins.load().access(questions, queues(), {})
    assert failures == ()
    assert [(each.record.rule, each.record.decision) for each in answers] == [
        (decides, AccessDecision[decision])
    ] * 2
    assert {each.plugin for each in answers} == {decides if decisions else "negotiator"}


def test_each_question_is_decided_by_itself(plugins):
    """The answer to one question has no effect on another question."""
    for name, user in (("a", "eve"), ("b", "bob")):
        plugins.write(
            f"{name}.py",
            f"""
            @hookimpl
            def negotiator_access(questions):
                for question in questions:
                    yield Access(AccessDecision.GRANT if question.user == "{user}" else AccessDecision.ABSTAIN, "{name}", "t")
            """,
        )
    questions = [AccessQuestion(user, (), AccessKind.CONFIGURE) for user in ("bob", "eve", "ann", "bob")]
    answers, _ = plugins.load().access(questions, queues(), {})
    assert [(each.plugin, each.record.decision.value) for each in answers] == [
        ("b", "grant"),
        ("a", "grant"),
        ("a", "abstain"),
        ("b", "grant"),
    ]
    assert plugins.load().access([], queues(), {}) == ((), ())


@pytest.mark.parametrize("body", ["raise ValueError('no server')", "return []", "return None"])
def test_a_policy_that_fails_denies_everything(plugins, body):
    """Even if others grant it: the failed policy might have forbidden it."""
    plugins.write("bad.py", f"@hookimpl\ndef negotiator_access(questions): {body}\n")
    plugins.write("a.py", policy("a", "GRANT"))
    plugins.write("z.py", policy("z", "GRANT"))
    questions = [AccessQuestion(user, (), AccessKind.SUBMIT, "root.a") for user in ("bob", "eve")]
    answers, failures = plugins.load().access(questions, queues(), {})
    assert [failure.plugin for failure in failures] == ["bad"]
    assert [(each.plugin, each.record.decision, each.record.rule) for each in answers] == [
        ("bad", AccessDecision.FORBID, "plugin_error")
    ] * 2
    (failure,) = failures
    expected = f"plugin bad {failure.version}, hook negotiator_access: {failure.message}"
    assert {each.record.text for each in answers} == {expected}  # without a path of this machine


@pytest.mark.parametrize(("count", "got"), [(0, "0"), (1, "1"), (2, None), (3, "more"), (10**9, "more")])
def test_each_question_must_be_answered(plugins, count, got):
    """With an answer too few or too many, answers could be taken for those to other questions."""
    plugins.write(
        "p.py",
        f"""
        @hookimpl
        def negotiator_access():
            for _ in range({count}):
                yield Access(AccessDecision.GRANT, "r", "t")
        """,
    )
    questions = [AccessQuestion(user, (), AccessKind.CONFIGURE) for user in ("bob", "eve")]
    answers, failures = plugins.load().access(questions, queues(), {})
    assert [failure.message for failure in failures] == (
        [] if got is None else [f"wrong answer: expected 2 records of Access, one a question, got {got}"]
    )
    assert {each.record.decision for each in answers} == {
        AccessDecision.FORBID if got else AccessDecision.GRANT
    }


def test_the_number_of_answers_is_limited_by_the_questions_alone(plugins):
    """There are as many questions as users and queues."""
    plugins.write("a.py", policy("a", "GRANT"))
    plugins.write("b.py", policy("b", "ABSTAIN"))
    questions = [AccessQuestion(f"user{number}", (), AccessKind.CONFIGURE) for number in range(20_001)]
    answers, failures = plugins.load().access(questions, queues(), {})
    assert failures == ()
    assert len(answers) == 20_001
    assert {each.plugin for each in answers} == {"a"}
