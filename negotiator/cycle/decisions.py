"""What a cycle decided about each job, in a compact form that is recorded with the cycle: for comparing cycles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Self

import attrs
import numpy as np

from negotiator.cycle.jobs import NOT_SERVED, JobRanges
from negotiator.cycle.result import CycleResult, RequestOutcome
from negotiator.hooks.order import ShareUse
from negotiator.records import Reason

_FAILURES = 20  # texts that are kept
_LONGEST = 300  # characters of a sentence: it may have an expression of a job


@attrs.frozen
class RuleReason:
    """Why a job got no slot: the rule and its place, and one of its sentences; what differs from job to job is left out."""

    plugin: str
    rule: str
    source: str
    code: str
    verdict: str
    text: str

    @classmethod
    def of(cls, reason: Reason) -> Self:
        """Return what is kept of a reason."""
        origin = reason.provenance
        source = str(origin.source) if origin.source else ""
        text = reason.text if len(reason.text) <= _LONGEST else f"{reason.text[:_LONGEST]}…"
        return cls(origin.plugin, origin.rule, source, reason.code, str(reason.verdict), text)

    @property
    def identity(self) -> tuple[str, ...]:
        """What is equal for the same rule in another version of the bundle."""
        return self.plugin, self.rule, self.code, self.verdict


@attrs.frozen(eq=False)
class DecidedRequest:
    """What became of the jobs of one request.

    ``decisive`` is the reason of those without a slot; ``policies`` the reasons of rules of policies that took candidates from it. ``matches`` are
    ids of jobs, and names of slots. ``left`` are the jobs without a slot; those of ads that stand for several jobs are instead in ``copies``, with their
    numbers. Discarded jobs are requests without user, queue and matches.
    """

    schedd: str  # in lower case
    user: str = ""
    queue: str = ""
    decisive: RuleReason | None = None
    policies: tuple[RuleReason, ...] = ()
    matches: tuple[tuple[str, str], ...] = ()
    left: JobRanges = attrs.field(factory=JobRanges)
    copies: tuple[tuple[str, int], ...] = ()


@attrs.frozen(eq=False)
class CycleDecisions:
    """The decisions of a cycle. ``failures`` are the first of those of plugins, ``stops`` counts time limits that were reached.

    Jobs that a gate discarded are missing if it discarded too many to name them (``DiscardedAds.jobs``), and so are jobs that are not idle.
    """

    digest: str  # of the bundle
    requests: tuple[DecidedRequest, ...]
    shares: tuple[ShareUse, ...] = ()
    failures: tuple[str, ...] = ()
    stops: int = 0

    @classmethod
    def of(cls, result: CycleResult) -> Self:
        """Return the decisions of a result."""
        return cls(
            digest=result.digest,
            requests=(*map(_request, result.outcomes), *_discarded(result)),
            shares=result.shares,
            failures=tuple(map(str, result.failures[:_FAILURES])),
            stops=len(result.reached),
        )

    def encode(self) -> bytes:
        """Return the canonical form, JSON in ASCII; each reason is in it once."""
        reasons: dict[RuleReason, int] = {}

        def place(reason: RuleReason) -> int:
            return reasons.setdefault(reason, len(reasons))

        requests = [
            [
                each.schedd,
                each.user,
                each.queue,
                None if each.decisive is None else place(each.decisive),
                list(map(place, each.policies)),
                each.matches,
                each.left.bounds.tolist(),
                each.copies,
            ]
            for each in self.requests
        ]
        values = {
            "digest": self.digest,
            "reasons": [attrs.astuple(each) for each in reasons],
            "requests": requests,
            "shares": [attrs.asdict(each) for each in self.shares],
            "failures": self.failures,
            "stops": self.stops,
        }
        return json.dumps(values, separators=(",", ":")).encode("ascii")

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Return the decisions that were encoded.

        :raises ValueError, TypeError, KeyError, IndexError: they are damaged.
        """
        values = json.loads(data)
        reasons = [RuleReason(*map(str, each)) for each in values["reasons"]]
        return cls(
            digest=str(values["digest"]),
            requests=tuple(_decoded(each, reasons) for each in values["requests"]),
            shares=tuple(ShareUse(**each) for each in values["shares"]),
            failures=tuple(map(str, values["failures"])),
            stops=int(values["stops"]),
        )


def _request(outcome: RequestOutcome) -> DecidedRequest:
    request, rejection = outcome.request, outcome.rejection
    return DecidedRequest(
        schedd=request.schedd.lower(),
        user=request.user or request.submitter,
        queue=request.queue,
        decisive=None if rejection is None else RuleReason.of(rejection.reason),
        policies=tuple(map(RuleReason.of, outcome.policies)),
        matches=tuple((match.job, match.slot) for match in outcome.matches),
        left=JobRanges() if outcome.copies_left else outcome.jobs_left,
        copies=outcome.copies_left,
    )


def _discarded(result: CycleResult) -> Iterator[DecidedRequest]:
    for each in result.discarded:
        if each.reason.provenance.rule in NOT_SERVED:
            continue
        decisive = RuleReason.of(each.reason)
        jobs: dict[str, list[str]] = {}
        for schedd, job in each.jobs:
            jobs.setdefault(schedd, []).append(job)
        for schedd, ids in jobs.items():
            numbers = np.array([each.split(".") for each in ids], np.int64)
            yield DecidedRequest(schedd, decisive=decisive, left=JobRanges.of(numbers[:, 0], numbers[:, 1]))


def _decoded(values: list[Any], reasons: list[RuleReason]) -> DecidedRequest:
    schedd, user, queue, decisive, policies, matches, left, copies = values
    return DecidedRequest(
        schedd=str(schedd),
        user=str(user),
        queue=str(queue),
        decisive=None if decisive is None else reasons[decisive],
        policies=tuple(reasons[place] for place in policies),
        matches=tuple((str(job), str(slot)) for job, slot in matches),
        left=JobRanges(np.array(left, np.int64).reshape(-1, 3)),
        copies=tuple((str(job), int(count)) for job, count in copies),
    )
