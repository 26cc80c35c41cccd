"""The decisions of a cycle as records: matched jobs, denials, and ads that were set aside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import attrs

from negotiator.app.phrases import rule
from negotiator.cycle.result import CycleResult, RequestOutcome
from negotiator.hooks.reports import ReasonCount
from negotiator.library.table_rows import Cell, CellType, RecordColumns
from negotiator.records import CORE, Reason


@attrs.frozen
class MatchedJob:
    """A job and the slot that it got.

    ``job`` is its id, ``schedd`` the schedd that has it. ``preempts`` is the user whose job the match ends, empty if the slot
    was free. ``warnings`` are the reasons of rules in mode warn or dryrun that would have denied the match.

    >>> import negotiator as n
    >>> match = n.run(n.read_pool("examples/first-pool"), now=1_800_000_000).matches[0]
    >>> match.job, match.user, match.slot
    ('19.0', 'tester', 'slot7@wn00002.example.org')
    """

    job: str
    schedd: str
    user: str
    submitter: str
    queue: str
    slot: str
    rank: float
    preempts: str = ""
    warnings: tuple[Reason, ...] = ()


@attrs.frozen
class DeniedJobs:
    """Like jobs of one request that got no slot, and why.

    ``jobs`` counts them, and ``job`` is the id of the first. ``reason`` is the decisive one: it took the last slots. ``reasons``
    are all, each with the number of slots that it removed.

    >>> import negotiator as n
    >>> denial = n.run(n.read_pool("examples/first-pool"), now=1_800_000_000).denials[0]
    >>> denial.job, str(denial.verdict), denial.code
    ('10.0', 'denied', 'job_requirements')
    """

    job: str
    jobs: int
    schedd: str
    user: str
    submitter: str
    queue: str
    reason: Reason
    reasons: tuple[ReasonCount, ...] = attrs.field(default=(), repr=False)

    @property
    def verdict(self) -> str:
        """``denied``, ``waiting``, ``misconfigured`` or ``broken_plugin``."""
        return str(self.reason.verdict)

    @property
    def code(self) -> str:
        """The decisive reason for programs."""
        return self.reason.code

    @property
    def rule(self) -> str:
        """The rule of a policy with its file and line, empty if it was none."""
        return rule_text(self.reason)


@attrs.frozen
class SetAsideAds:
    """Ads that took no part in a cycle: their kind, number, reason, and the names of the first few.

    >>> import negotiator as n
    >>> result = n.run(n.read_pool("examples/first-pool"), now=1_800_000_000)
    >>> [(str(each.kind), each.ads, each.reason.text) for each in result.set_aside][:1]
    [('job', 9, 'the job is running')]
    """

    kind: str
    ads: int
    reason: Reason
    examples: tuple[str, ...] = ()


def rule_text(reason: Reason) -> str:
    """Return the rule of a policy with its file and line; empty for a reason of the core."""
    return "" if reason.provenance.plugin == CORE else rule(reason)


def matched_jobs(result: CycleResult) -> Iterator[MatchedJob]:
    """Yield the matches of a cycle, request by request."""
    for outcome in result.outcomes:
        for match in outcome.matches:
            yield MatchedJob(
                job=match.job,
                schedd=match.schedd,
                user=_user(outcome),
                submitter=match.submitter,
                queue=match.queue,
                slot=match.slot,
                rank=match.rank,
                preempts=match.preempts.user if match.preempts else "",
                warnings=match.warnings,
            )


def denied_jobs(result: CycleResult) -> Iterator[DeniedJobs]:
    """Yield the requests of a cycle with jobs that got no slot."""
    for outcome in result.outcomes:
        rejection, request = outcome.rejection, outcome.request
        if rejection is not None:
            yield DeniedJobs(
                job=rejection.first_job,
                jobs=rejection.jobs,
                schedd=request.schedd,
                user=_user(outcome),
                submitter=request.submitter,
                queue=request.queue,
                reason=rejection.reason,
                reasons=tuple(
                    ReasonCount(each.reason, each.removed, each.rejected) for each in outcome.removals
                ),
            )


def set_aside_ads(result: CycleResult) -> Iterator[SetAsideAds]:
    """Yield why ads took no part in a cycle."""
    for each in result.discarded:
        yield SetAsideAds(str(each.kind), each.count, each.reason, each.examples)


def _user(outcome: RequestOutcome) -> str:
    request = outcome.request
    return request.user or request.ad.string("Owner") or request.submitter


def _text(read: Callable[..., Cell]) -> tuple[CellType, Callable[..., Cell]]:
    return CellType.TEXT, read


MATCH_COLUMNS: Final[RecordColumns[MatchedJob]] = {
    "job": _text(lambda match: match.job),
    "schedd": _text(lambda match: match.schedd),
    "user": _text(lambda match: match.user),
    "submitter": _text(lambda match: match.submitter),
    "queue": _text(lambda match: match.queue),
    "slot": _text(lambda match: match.slot),
    "rank": (CellType.REAL, lambda match: match.rank),
    "preempts": _text(lambda match: match.preempts or None),
    "warnings": _text(lambda match: "; ".join(each.text for each in match.warnings) or None),
}

DENIAL_COLUMNS: Final[RecordColumns[DeniedJobs]] = {
    "job": _text(lambda denial: denial.job),
    "jobs": (CellType.INTEGER, lambda denial: denial.jobs),
    "schedd": _text(lambda denial: denial.schedd),
    "user": _text(lambda denial: denial.user),
    "submitter": _text(lambda denial: denial.submitter),
    "queue": _text(lambda denial: denial.queue),
    "verdict": _text(lambda denial: denial.verdict),
    "code": _text(lambda denial: denial.code),
    "reason": _text(lambda denial: denial.reason.text),
    "rule": _text(lambda denial: denial.rule or None),
}

SET_ASIDE_COLUMNS: Final[RecordColumns[SetAsideAds]] = {
    "kind": _text(lambda ads: ads.kind),
    "ads": (CellType.INTEGER, lambda ads: ads.ads),
    "verdict": _text(lambda ads: str(ads.reason.verdict)),
    "code": _text(lambda ads: ads.reason.code),
    "reason": _text(lambda ads: ads.reason.text),
    "rule": _text(lambda ads: rule_text(ads.reason) or None),
}
