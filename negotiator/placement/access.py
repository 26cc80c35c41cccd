"""Calls the access policies, once for each question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from negotiator.hooks.access import Access, AccessDecision, AccessKind, AccessQuestion
from negotiator.hooks.answers import Attributed, HookFailure
from negotiator.hooks.manager import HookManager
from negotiator.queues import QueueTree

_BATCH = 5_000


@attrs.define
class AccessCache:
    """The cached answers of a bundle's policies for one state of the queues, and the failures of policies."""

    hooks: HookManager
    settings: Mapping[str, Any]
    queues: QueueTree
    failures: dict[HookFailure, None] = attrs.field(factory=dict)
    _known: dict[AccessQuestion, Attributed[Access]] = attrs.field(factory=dict)

    def ask(self, questions: Iterable[AccessQuestion]) -> None:
        """Evaluate several questions in one call, for later use."""
        missing = [question for question in dict.fromkeys(questions) if question not in self._known]
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            answers, failures = self.hooks.access(batch, self.queues, self.settings)
            self._known.update(zip(batch, answers, strict=True))
            self.failures.update(dict.fromkeys(failures))

    def answer(self, question: AccessQuestion) -> Attributed[Access]:
        """Return the deciding answer to one question."""
        known = self._known.get(question)
        if known is None:
            self.ask([question])
            known = self._known[question]
        return known

    def submit(self, user: str, groups: tuple[str, ...], path: str) -> Attributed[Access]:
        """Return whether a user may submit to a queue, which may not exist yet."""
        return self.answer(AccessQuestion(user, groups, AccessKind.SUBMIT, path))


def is_granted(answer: Attributed[Access]) -> bool:
    """True if a deciding answer grants access."""
    return answer.record.decision is AccessDecision.GRANT
