"""What the answers of all access policies come to."""

from __future__ import annotations

from negotiator import __version__
from negotiator.hooks.access import Access, Decision
from negotiator.hooks.answers import Answers, Stamped

_CORE = "negotiator"
_NOBODY = Stamped(Access(Decision.ABSTAIN, "default", "no policy gives access"), _CORE, __version__)


def decide_access(count: int, answers: Answers[Access]) -> tuple[Stamped[Access], ...]:
    """For each of ``count`` questions the answer that decides: who forbids it, else who grants it, else a denial.

    A policy that failed forbids everything.
    """
    if answers.failures:
        failure = answers.failures[0]
        broken = Access(Decision.FORBID, "plugin_error", str(failure))
        return (Stamped(broken, failure.plugin, failure.version),) * count
    policies = [
        answers.records[start : start + count] for start in range(0, len(answers.records), count or 1)
    ]
    return tuple(_decisive([policy[place] for policy in policies]) for place in range(count))


def _decisive(said: list[Stamped[Access]]) -> Stamped[Access]:
    for decision in (Decision.FORBID, Decision.GRANT):
        found = next((each for each in said if each.record.decision is decision), None)
        if found is not None:
            return found
    return said[0] if said else _NOBODY
