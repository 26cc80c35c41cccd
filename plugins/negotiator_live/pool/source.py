"""The source ``htcondor``: the ads of a live HTCondor pool, and matches for its schedds."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Final, TypeVar

import attrs

from negotiator.plugin import (
    CommandError,
    CycleSummary,
    Decisions,
    Delivery,
    DeliveryStatus,
    LivePool,
    PoolAds,
    PoolControl,
    Problem,
    Severity,
    Source,
)
from negotiator_live.ads.advertiser import Advertiser
from negotiator_live.ads.negotiator_ad import NegotiatorIdentity
from negotiator_live.ads.own_address import own_address
from negotiator_live.ads.statistics import AdvertisedCycle, NegotiatedSubmitters
from negotiator_live.collector import (
    SCHEDDS,
    SLOTS,
    SUBMITTERS,
    SUBMITTERS_WITH_CAPABILITIES,
    Collector,
)
from negotiator_live.daemon.daemon import DaemonListener
from negotiator_live.pool.answers import NegotiationAnswers
from negotiator_live.pool.negotiation import Negotiation, NegotiationTerms
from negotiator_live.pool.observed import JobQuery, job_queries
from negotiator_live.pool.requests import job_text
from negotiator_live.pool.slots import fetch_slots
from negotiator_live.pool.submitters import Submitter, SubmitterAds, ads_of
from negotiator_live.security.authentication import Credentials
from negotiator_live.security.client import SecureClient
from negotiator_live.security.policy import AuthMethod, ClientPolicy
from negotiator_live.security.tokens import TokenFiles
from negotiator_live.settings import CondorPool, Method
from negotiator_live.wire.errors import DaemonError

T = TypeVar("T")

_AT_ONCE: Final = 32
"""Negotiations at the same time: a schedd that hangs delays no other."""


class HTCondorPool(LivePool):
    """A live HTCondor pool. Connections to schedds are kept from cycle to cycle."""

    def __init__(self, pool: CondorPool, control: PoolControl | None = None) -> None:
        """Open a pool.

        :param control: carries out the commands of tools and schedds; None for a pool that is only observed.
        :raises PoolError: the port of ``listen`` cannot be used.
        """
        self._control = control
        self._client = _client(pool)
        self._collector = Collector(pool.address, self._client, timeout=pool.timeout)
        self._terms = NegotiationTerms(pool.name, frozenset(), pool.requests, pool.timeout)
        self._negotiations: dict[Submitter, Negotiation] = {}
        self._failed: set[str] = set()  # submitters of this cycle
        self._request_seconds = 0.0
        self._negotiates = False  # a pool that is only observed gets no ad
        self._daemon: DaemonListener | None = None
        if pool.listen and control is not None:
            own_host = own_address(pool.address).primary.host
            self._daemon = DaemonListener.open(pool, control, own_host, self._negotiator_ads)
            self._advertiser = self._made_advertiser()  # before several threads use it
            self._daemon.begin()  # last, for peers may connect at once

    def fetch(self, ads: PoolAds) -> None:
        """Fetch the ads of slots, schedds and submitters, and the requests of all submitters.

        :raises PoolError: the collector does not answer.
        """
        self._negotiates = True
        if not self._advertiser.is_advertised:
            try:
                self._advertiser.send()
            except (DaemonError, OSError) as error:
                ads.add_problem(_problem("collector", str(error)))
        fetch_slots(self._collector, ads)
        submitters = list(self._collector.query(SUBMITTERS_WITH_CAPABILITIES))
        ads.add("collector", submitters)
        ads.add("collector", self._collector.query(SCHEDDS))
        found = SubmitterAds.of(ads_of(submitters))
        for problem in found.problems:
            ads.add_problem(_problem("collector", problem))
        self._terms = attrs.evolve(self._terms, job_attributes=ads.significant_attributes())
        self._take_over(found.submitters)
        self._fetch_requests(ads)

    def _fetch_requests(self, ads: PoolAds) -> None:
        begun = time.monotonic()
        self._failed.clear()
        for negotiation, error in self._each(list(self._negotiations.values()), Negotiation.fetch):
            if error is not None:
                self._failed.add(negotiation.submitter.name)
                ads.add_problem(_problem(f"schedd {negotiation.submitter.schedd}", str(error)))
                continue
            requests = (job_text(each, negotiation.submitter) for each in negotiation.requests)
            if negotiation.requests:
                ads.add(f"schedd {negotiation.submitter.schedd}", requests)
        self._request_seconds = time.monotonic() - begun

    def observe(self, ads: PoolAds) -> None:
        """Fetch the ads of slots, schedds, submitters and jobs, without claim ids; needs READ authorization only.

        :raises PoolError: the collector does not answer.
        """
        for kind in (SUBMITTERS, SLOTS):
            ads.add("collector", self._collector.query(kind))
        schedds = list(self._collector.query(SCHEDDS))
        ads.add("collector", schedds)
        queries, problems = job_queries(ads_of(schedds), self._client, self._terms.timeout)
        for problem in problems:
            ads.add_problem(_problem("collector", problem))
        for query, error in self._each(queries, JobQuery.fetch):
            if error is not None:
                ads.add_problem(_problem(f"schedd {query.schedd}", str(error)))
            elif query.texts:
                ads.add(f"schedd {query.schedd}", query.texts)

    def deliver(self, decisions: Decisions) -> Iterable[Delivery]:
        """Send the matches and rejections to the schedds, all at the same time."""
        answers = {
            key: NegotiationAnswers(negotiation, decisions) for key, negotiation in self._by_name().items()
        }
        for match in decisions.matches:
            answer = answers.get((match.schedd, match.submitter))
            if answer is None or not answer.add_match(match):
                yield Delivery(match, DeliveryStatus.FAILED, "the schedd did not offer the job in this cycle")
        for rejection in decisions.rejections:
            if (answer := answers.get((rejection.schedd, rejection.submitter))) is not None:
                answer.add_rejection(rejection)
        for answer, error in self._each(list(answers.values()), NegotiationAnswers.send):
            if error is not None:
                self._failed.add(answer.negotiation.submitter.name)
            yield from answer.deliveries()

    def cycle_ended(self, summary: CycleSummary) -> None:
        """Publish the statistics of a cycle in the Negotiator ad, and the accounts in Accounting ads.

        :raises DaemonError: the collector cannot be reached, or denies the command.
        :raises StateError: the accounts cannot be read.
        """
        if not self._negotiates:
            return
        submitters = [each.submitter for each in self._negotiations.values()]
        negotiated = NegotiatedSubmitters(
            submitters=len({each.name for each in submitters}),
            schedds=len({each.address for each in submitters}),
            idle_jobs=sum(each.idle for each in submitters),
            failed=tuple(self._failed),
            seconds=self._request_seconds,
        )
        self._advertiser.add_cycle(AdvertisedCycle.of(summary, negotiated))
        self._advertiser.send()
        if self._control is not None:
            with contextlib.suppress(CommandError):  # the order keeps no accounts
                accounts = self._control.accounts()
                self._advertiser.send_accounts(accounts, {each.name for each in submitters})

    def _negotiator_ads(self) -> Sequence[Mapping[str, str]]:
        return [self._advertiser.current_ad()]

    @cached_property
    def _advertiser(self) -> Advertiser:
        """Advertises this program; made late, for it looks up the name of this host."""
        return self._made_advertiser()

    def _made_advertiser(self) -> Advertiser:
        address = own_address(self._collector.address) if self._daemon is None else self._daemon.address
        return Advertiser(self._collector, NegotiatorIdentity(name=self._terms.name, address=str(address)))

    def close(self) -> None:
        """Close the port, remove the Negotiator ad, and close the connections to all schedds."""
        if self._daemon is not None:
            self._daemon.close()
        if self._negotiates:
            with contextlib.suppress(DaemonError):  # without a collector there is no ad either; or it expires
                self._advertiser.withdraw()
        for negotiation in self._negotiations.values():
            negotiation.close()
        self._negotiations = {}
        self._client.sessions.clear()

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
    methods = tuple(AuthMethod[each] for each in pool.methods)
    return SecureClient(
        ClientPolicy(pool.authentication, pool.encryption, pool.integrity, methods=methods), credentials
    )


def _problem(daemon: str, message: str) -> Problem:
    return Problem(Severity.WARNING, Source(daemon), message)
