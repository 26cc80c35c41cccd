"""Use case: the permissions of a user on queues and on the scheduler, and the rules that decide."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from negotiator.app.subject import Subject, resolve_subject
from negotiator.bundle import Bundle
from negotiator.errors import PluginFailureError
from negotiator.hooks.access import Access, AccessKind, AccessQuestion
from negotiator.hooks.answers import Attributed, HookFailure
from negotiator.placement import AccessCache
from negotiator.placement.chain import is_granted
from negotiator.queues import QueueTree

QUEUE_KINDS = (AccessKind.SUBMIT, AccessKind.ADMINISTER)


@attrs.frozen
class AccessAnswer:
    """The answer to one question; ``exists`` is False for a queue that is not configured (a rule may create it)."""

    queue: str  # empty for the scheduler
    kind: AccessKind
    exists: bool
    granted: bool
    decided_by: Attributed[Access]


@attrs.frozen
class AccessReport:
    """All answers about one user: queue by queue, then the scheduler; ``failures`` are of policies that failed."""

    subject: Subject
    answers: tuple[AccessAnswer, ...]
    failures: tuple[HookFailure, ...] = ()


def access_report(
    bundle: Bundle, user: str, groups: Sequence[str], paths: Sequence[str], now: float
) -> AccessReport:
    """Ask the access policies about a user.

    :param groups: the user's groups, the primary one first; looked up if empty.
    :param paths: queues, existing or not; all configured queues if empty.
    :param now: seconds since the epoch.
    :raises PluginFailureError: the groups of the user are unknown, because a plugin failed.
    :raises InvalidCallError: the user is missing, or the name of a group is invalid.
    """
    subject = resolve_subject(bundle, user, groups, now)
    if not subject.known:
        raise PluginFailureError(
            f"{'; '.join(map(str, subject.failures))}: the groups of {user} are unknown: use --group"
        )
    queues = QueueTree.of(bundle.partition.root, now)
    cache = AccessCache(bundle.hooks, bundle.settings, queues)
    chosen = dict.fromkeys(paths or (queue.path for queue in queues))
    questions = [
        AccessQuestion(subject.user, subject.groups, kind, path) for path in chosen for kind in QUEUE_KINDS
    ]
    questions += [
        AccessQuestion(subject.user, subject.groups, kind) for kind in AccessKind if kind.of_configuration
    ]
    cache.ask(questions)
    answers = tuple(_answer(question, cache, queues) for question in questions)
    return AccessReport(subject, answers, tuple(cache.failures))


def _answer(question: AccessQuestion, cache: AccessCache, queues: QueueTree) -> AccessAnswer:
    answer = cache.answer(question)
    exists = not question.queue or queues.get(question.queue) is not None
    return AccessAnswer(question.queue, question.act, exists, is_granted(answer), answer)
