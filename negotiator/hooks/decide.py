"""Combines the answers of all access policies."""

from __future__ import annotations

from negotiator import __version__
from negotiator.hooks.access import Access, AccessDecision
from negotiator.hooks.answers import Answers, Attributed
from negotiator.records import CORE

_NO_POLICY = Attributed(
    Access(AccessDecision.ABSTAIN, "default", "no policy gives access"), CORE, __version__
)


def decide_access(count: int, answers: Answers[Access]) -> tuple[Attributed[Access], ...]:
    """Return the decisive answer to each of ``count`` questions: one that forbids, else one that grants, else a denial.

    If a policy failed, everything is forbidden.
    """
    if answers.failures:
        failure = answers.failures[0]
        broken = Access(AccessDecision.FORBID, "plugin_error", failure.reproducible)
        return (Attributed(broken, failure.plugin, failure.version),) * count
    if len(answers.records) == count:  # one policy: its answers decide
        return answers.records
    policies = [
        answers.records[start : start + count] for start in range(0, len(answers.records), count or 1)
    ]
    return tuple(_decisive([policy[place] for policy in policies]) for place in range(count))


def _decisive(answers: list[Attributed[Access]]) -> Attributed[Access]:
    for decision in (AccessDecision.FORBID, AccessDecision.GRANT):
        decisive = next((each for each in answers if each.record.decision is decision), None)
        if decisive is not None:
            return decisive
    return answers[0] if answers else _NO_POLICY
