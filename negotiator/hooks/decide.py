"""What the answers of all access policies come to."""

from __future__ import annotations

from negotiator import __version__
from negotiator.hooks.access import Access, AccessDecision
from negotiator.hooks.answers import Answers, Attributed

_CORE = "negotiator"
_NOBODY = Attributed(Access(AccessDecision.ABSTAIN, "default", "no policy gives access"), _CORE, __version__)


def decide_access(count: int, answers: Answers[Access]) -> tuple[Attributed[Access], ...]:
    """For each of ``count`` questions the answer that decides: who forbids it, else who grants it, else a denial.

    A policy that failed forbids everything.
    """
    if answers.failures:
        failure = answers.failures[0]
        broken = Access(AccessDecision.FORBID, "plugin_error", str(failure))
        return (Attributed(broken, failure.plugin, failure.version),) * count
    policies = [
        answers.records[start : start + count] for start in range(0, len(answers.records), count or 1)
    ]
    return tuple(_decisive([policy[place] for policy in policies]) for place in range(count))


def _decisive(said: list[Attributed[Access]]) -> Attributed[Access]:
    for decision in (AccessDecision.FORBID, AccessDecision.GRANT):
        found = next((each for each in said if each.record.decision is decision), None)
        if found is not None:
            return found
    return said[0] if said else _NOBODY
