"""The source ``htcondor``: the ads of a live HTCondor pool, and matches for its schedds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

import attrs

from negotiator.plugin import (
    Decisions,
    Delivery,
    DeliveryStatus,
    LivePool,
    Match,
    PoolAds,
    PoolContext,
    Problem,
    Rejection,
    Severity,
    Source,
    unparse,
)
from negotiator_live.collector import SCHEDDS, SLOT_CLAIMS, SLOTS, SUBMITTERS_WITH_CAPABILITIES, Collector
from negotiator_live.pool.negotiation import Negotiation, NegotiationTerms
from negotiator_live.pool.requests import job_text
from negotiator_live.pool.significant import read_by_slots
from negotiator_live.pool.submitters import Submitter, SubmitterAds, ads_of
from negotiator_live.security.authentication import Credentials
from negotiator_live.security.client import SecureClient
from negotiator_live.security.policy import ClientPolicy, methods_in
from negotiator_live.security.tokens import TokenFiles
from negotiator_live.settings import CondorPool, LivePoolSettings, Method
from negotiator_live.wire.ads import WireAd
from negotiator_live.wire.errors import DaemonError

T = TypeVar("T")

_AT_ONCE: Final = 32
"""Schedds that are spoken to at the same time: one that hangs delays nobody else."""

_NO_SLOT: Final = "no slot remains for the job in this cycle"


class HTCondorPool(LivePool):
    """A live HTCondor pool. Connections to schedds are kept from cycle to cycle."""

    def __init__(self, context: PoolContext) -> None:
        settings = context.settings
        pool = settings.htcondor if isinstance(settings, LivePoolSettings) else CondorPool()
        self._client = _client(pool)
        self._collector = Collector(pool.address, self._client, timeout=pool.timeout)
        self._job_attributes = context.job_attributes
        self._terms = NegotiationTerms(pool.name, self._job_attributes, pool.requests, pool.timeout)
        self._negotiations: dict[Submitter, Negotiation] = {}

    def fetch(self, ads: PoolAds, now: float) -> None:  # noqa: ARG002 - daemons send their present ads
        """Fetch the ads of slots, schedds and submitters, and the requests of all submitters.

        :raises PoolError: the collector does not answer.
        """
        found = SubmitterAds.of(ads_of(self._added(ads, self._collector.query(SUBMITTERS_WITH_CAPABILITIES))))
        ads.add("collector", self._collector.query(SCHEDDS))
        slots = self._added(ads, self._collector.query(SLOTS))
        ads.add("collector", self._collector.query(SLOT_CLAIMS))
        for problem in found.problems:
            ads.add_problem(_problem("collector", problem))
        self._terms = attrs.evolve(self._terms, job_attributes=self._job_attributes | read_by_slots(slots))
        self._take_over(found.submitters)
        for negotiation, error in self._each(list(self._negotiations.values()), Negotiation.fetch):
            if error is not None:
                ads.add_problem(_problem(f"schedd {negotiation.submitter.schedd}", str(error)))
                continue
            requests = (job_text(each, negotiation.submitter) for each in negotiation.requests)
            if negotiation.requests:
                ads.add(f"schedd {negotiation.submitter.schedd}", requests)

    def deliver(self, decisions: Decisions) -> Iterable[Delivery]:
        """Send the matches and rejections to the schedds, all at the same time."""
        answers = {key: _Answers(negotiation, decisions) for key, negotiation in self._by_name().items()}
        lost = []
        for match in decisions.matches:
            answer = answers.get((match.schedd, match.submitter))
            if answer is None or not answer.add(match):
                lost.append(
                    Delivery(match, DeliveryStatus.FAILED, "the schedd did not offer the job in this cycle")
                )
        for rejection in decisions.rejections:
            if (answer := answers.get((rejection.schedd, rejection.submitter))) is not None:
                answer.rejections.append(rejection)
        yield from lost
        for answer, _ in self._each(list(answers.values()), _Answers.send):
            yield from answer.deliveries()

    def close(self) -> None:
        """Close the connections to all schedds."""
        for negotiation in self._negotiations.values():
            negotiation.close()
        self._negotiations = {}
        self._client.sessions.clear()

    def _added(self, ads: PoolAds, blocks: Iterable[str]) -> Sequence[str]:
        """Add ads, and return them."""
        found = list(blocks)
        ads.add("collector", found)
        return found

    def _take_over(self, submitters: Sequence[Submitter]) -> None:
        """Keep the connections of these submitters only."""
        before, self._negotiations = self._negotiations, {}
        for each in submitters:
            negotiation = before.pop(each, None) or Negotiation(each, self._terms, self._client)
            negotiation.submitter, negotiation.terms = each, self._terms
            self._negotiations[each] = negotiation
        for negotiation in before.values():
            negotiation.close()

    def _by_name(self) -> dict[tuple[str, str], Negotiation]:
        """Return the negotiations that wait for an answer, by schedd and submitter in lower case."""
        return {
            (each.submitter.schedd.lower(), each.submitter.name.lower()): each
            for each in self._negotiations.values()
            if each.is_open
        }

    @staticmethod
    def _each(parts: Sequence[T], function: Callable[[T], None]) -> Iterator[tuple[T, DaemonError | None]]:
        """Call a function with all parts at the same time; yield each with the error that it raised, in their order."""

        def called(part: T) -> DaemonError | None:
            try:
                function(part)
            except DaemonError as error:
                return error
            return None

        if parts:
            with ThreadPoolExecutor(min(len(parts), _AT_ONCE)) as threads:
                yield from zip(parts, threads.map(called, parts), strict=True)


def _client(pool: CondorPool) -> SecureClient:
    """Return a client of the pool's daemons with the security that the settings require."""
    credentials = Credentials(
        tokens=TokenFiles((Path(pool.token),)) if pool.token else TokenFiles(),
        claimed_user=pool.name if Method.CLAIMTOBE in pool.methods else "",
    )
    methods = methods_in(" ".join(pool.methods))
    return SecureClient(
        ClientPolicy(pool.authentication, pool.encryption, pool.integrity, methods=methods), credentials
    )


@attrs.define(eq=False)
class _Answers:
    """What one schedd is told about one submitter's requests."""

    negotiation: Negotiation
    decisions: Decisions
    rejections: list[Rejection] = attrs.field(factory=list)
    _jobs: frozenset[str] = attrs.field(init=False)
    _matches: dict[str, list[Match]] = attrs.field(factory=dict, init=False)
    _sent: list[Match] = attrs.field(factory=list, init=False)
    _failed: list[tuple[Match, str]] = attrs.field(factory=list, init=False)
    _error: str = ""

    @_jobs.default
    def _offered(self) -> frozenset[str]:
        return frozenset(map(_job, self.negotiation.requests))

    def add(self, match: Match) -> bool:
        """Add a match; False if the schedd has not offered its job."""
        if match.job not in self._jobs:
            return False
        self._matches.setdefault(match.job, []).append(match)
        return True

    def send(self) -> None:
        """Send all matches and rejections, and end the negotiation."""
        negotiation = self.negotiation
        try:
            negotiation.begin_answers()
            rejected: set[str] = set()
            for request in negotiation.requests:
                matches = self._matches.get(_job(request), [])
                for match in matches:
                    self._send_match(request, match)
                cluster = request.get("AutoClusterId", "")
                if (
                    len(matches) < (request.integer("_condor_RESOURCE_COUNT") or 1)
                    and cluster not in rejected
                ):
                    rejected.add(cluster)
                    negotiation.reject(request, self._reason(request))
            negotiation.end()
        except DaemonError as error:
            self._error = str(error)
            negotiation.close()
            raise

    def deliveries(self) -> Iterator[Delivery]:
        """Yield what became of each match, after ``send``."""
        # Where the connection broke, the schedd may have read what was sent before.
        status = DeliveryStatus.UNKNOWN if self._error else DeliveryStatus.DELIVERED
        sent = {match.id for match in self._sent}
        failed = {match.id for match, _ in self._failed}
        yield from (Delivery(match, status, self._error) for match in self._sent)
        yield from (Delivery(match, DeliveryStatus.FAILED, text) for match, text in self._failed)
        for matches in self._matches.values():
            for match in matches:
                if match.id not in sent and match.id not in failed:
                    yield Delivery(match, DeliveryStatus.FAILED, self._error)

    def _send_match(self, request: WireAd, match: Match) -> None:
        slot = match.slot_ad
        claim = self.decisions.claims.take(
            match.slot, slot.string("MyAddress") or slot.string("StartdIpAddr")
        )
        if claim is None:
            self._failed.append((match, "no claim id of the slot is left"))
            return
        self.negotiation.match(request, {name: unparse(text) for name, text in slot.items()}, claim)
        self._sent.append(match)

    def _reason(self, request: WireAd) -> str:
        """Return the reason for a request: its own, else that of another request of the submitter."""
        own = [each.reason for each in self.rejections if each.first_job == _job(request)]
        schedd = self.negotiation.submitter.schedd.lower()
        discarded = self.decisions.discarded.get((schedd, _job(request)))
        others = [each.reason for each in self.rejections]
        found = [*own, *filter(None, [discarded]), *others]
        return found[0].text if found else _NO_SLOT


def _job(request: WireAd) -> str:
    return f"{request['ClusterId']}.{request['ProcId']}"


def _problem(daemon: str, message: str) -> Problem:
    return Problem(Severity.WARNING, Source(daemon), message)
