"""Answers of access control lists to any questions."""

import os
import pwd

import pytest

from negotiator.hooks.access import AccessDecision, AccessKind, AccessQuestion
from negotiator.queues import QueueTree
from negotiator_access import _owner
from yunikorn_pool import bundle, read


def ask(queues, *questions):
    """Return the answers of all policies of the default bundle, and the failures."""
    tree = QueueTree.of(read({"queues": [{"name": "root", "queues": queues}]}).partition.root, 0.0)
    answers, failures = bundle().hooks.access(questions, tree, bundle().settings)
    return [answer.record for answer in answers], failures


def test_a_question_about_a_long_path_does_not_affect_others():
    """An answer too long would invalidate all answers of the call, and deny everybody."""
    far = "root." + ".".join(["x" * 64] * 50)
    questions = (AccessQuestion("sue", (), AccessKind.SUBMIT, path) for path in ("root.a", far))
    answers, failures = ask([{"name": "a", "submitacl": "sue"}], *questions)
    assert ([answer.decision for answer in answers], failures) == (
        [AccessDecision.GRANT, AccessDecision.ABSTAIN],
        (),
    )
    assert far[:100] in answers[1].text


def test_a_list_of_a_queue_with_a_long_path_gives_access():
    """A path may be longer than the name of a rule may be."""
    queues = [{"name": "q" * 64, "submitacl": "sue"}]
    for _ in range(5):
        queues = [{"name": "q" * 64, "queues": queues}]
    path = "root" + ".{}".format("q" * 64) * 6
    (answer,), failures = ask(queues, AccessQuestion("sue", (), AccessKind.SUBMIT, path))
    assert (answer.decision, failures) == (AccessDecision.GRANT, ())


@pytest.fixture
def nameless(monkeypatch):
    """Let this process run as a user without a name, as in many containers."""

    def unknown(uid):
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    _owner.cache_clear()
    yield
    _owner.cache_clear()


@pytest.mark.usefixtures("nameless")
def test_an_owner_without_a_name_is_identified_by_the_user_id():
    """The caller of a command too."""
    questions = (AccessQuestion(user, (), AccessKind.CONFIGURE) for user in (str(os.geteuid()), "boss"))
    answers, _ = ask([], *questions)
    assert [answer.decision for answer in answers] == [AccessDecision.GRANT, AccessDecision.ABSTAIN]
