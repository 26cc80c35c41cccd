"""What access control lists answer, whatever they are asked."""

import os
import pwd

import pytest

from negotiator.hooks.access import AccessDecision, AccessKind, AccessQuestion
from negotiator.queues import QueueTree
from negotiator_access import _owner
from yunikorn_pool import bundle, read


def ask(queues, *questions):
    """What all policies of the default bundle say, and those that failed."""
    tree = QueueTree.of(read({"queues": [{"name": "root", "queues": queues}]}).partition.root, 0.0)
    answers, failures = bundle().hooks.access(questions, tree, bundle().settings)
    return [answer.record for answer in answers], failures


def test_a_question_about_a_long_path_spoils_no_other():
    """An answer that is too long would make all answers of a batch wrong, and deny everybody everything."""
    far = "root." + ".".join(["x" * 64] * 50)
    questions = (AccessQuestion("sue", (), AccessKind.SUBMIT, path) for path in ("root.a", far))
    answers, failures = ask([{"name": "a", "submitacl": "sue"}], *questions)
    assert ([answer.decision for answer in answers], failures) == (
        [AccessDecision.GRANT, AccessDecision.ABSTAIN],
        (),
    )
    assert far[:100] in answers[1].text


def test_a_list_of_a_queue_with_a_long_path_gives_access():
    """A path may be longer than the name of a rule."""
    queues = [{"name": "q" * 64, "submitacl": "sue"}]
    for _ in range(5):
        queues = [{"name": "q" * 64, "queues": queues}]
    path = "root" + ".{}".format("q" * 64) * 6
    (answer,), failures = ask(queues, AccessQuestion("sue", (), AccessKind.SUBMIT, path))
    assert (answer.decision, failures) == (AccessDecision.GRANT, ())


@pytest.fixture
def nameless(monkeypatch):
    """A process that runs as a user whom the system does not name, as in many containers."""

    def unknown(uid):
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    _owner.cache_clear()
    yield
    _owner.cache_clear()


@pytest.mark.usefixtures("nameless")
def test_an_owner_without_a_name_goes_by_the_number():
    """Who calls a command is named alike."""
    questions = (AccessQuestion(user, (), AccessKind.CONFIGURE) for user in (str(os.geteuid()), "boss"))
    answers, _ = ask([], *questions)
    assert [answer.decision for answer in answers] == [AccessDecision.GRANT, AccessDecision.ABSTAIN]
