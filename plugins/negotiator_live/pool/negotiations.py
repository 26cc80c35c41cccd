"""All negotiations of a pool: with each schedd that has idle jobs, one for each of its submitters."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from negotiator.plugin import Decisions, Delivery, DeliveryStatus, PoolAds, PoolControl
from negotiator_live.ads.statistics import NegotiatedSubmitters
from negotiator_live.pool.answers import NegotiationAnswers
from negotiator_live.pool.concurrently import concurrently
from negotiator_live.pool.daemons import report
from negotiator_live.pool.negotiation import Negotiation, NegotiationTerms
from negotiator_live.pool.requests import job_text
from negotiator_live.pool.submitters import Submitter
from negotiator_live.security.client import SecureClient


class Negotiations:
    """The negotiations of the present cycle. Connections to schedds are kept from cycle to cycle."""

    def __init__(self, client: SecureClient, control: PoolControl) -> None:
        """Begin without submitters."""
        self._client, self._control = client, control
        self._by_submitter: dict[Submitter, Negotiation] = {}
        self._failed: set[str] = set()  # submitters of this cycle
        self._seconds = 0.0

    def fetch(self, submitters: Sequence[Submitter], terms: NegotiationTerms, ads: PoolAds) -> None:
        """Negotiate with these submitters from now on, and add their requests; a schedd that fails is a problem.

        No further negotiation begins once the negotiator is to end.
        """
        begun = time.monotonic()
        self._take_over(submitters, terms)
        self._failed.clear()
        for negotiation, error in concurrently(list(self._by_submitter.values()), self._fetch_one):
            self._control.note_progress()
            submitter = negotiation.submitter
            if error is not None:
                self._failed.add(submitter.name)
                report(ads, f"schedd {submitter.schedd}", error)
            elif negotiation.requests:
                ads.add(
                    f"schedd {submitter.schedd}", (job_text(each, submitter) for each in negotiation.requests)
                )
        self._seconds = time.monotonic() - begun

    def _fetch_one(self, negotiation: Negotiation) -> None:
        if not self._control.is_ending:
            negotiation.fetch()

    def deliver(self, decisions: Decisions) -> Iterator[Delivery]:
        """Send the matches and rejections to the schedds, all at the same time; yield what became of each match."""
        answers = {key: NegotiationAnswers(each, decisions) for key, each in self._by_name().items()}
        for match in decisions.matches:
            answer = answers.get((match.schedd, match.submitter))
            if answer is None or not answer.add_match(match):
                yield Delivery(match, DeliveryStatus.FAILED, "the schedd did not offer the job in this cycle")
        for rejection in decisions.rejections:
            if (answer := answers.get((rejection.schedd, rejection.submitter))) is not None:
                answer.add_rejection(rejection)
        for answer, error in concurrently(list(answers.values()), NegotiationAnswers.send):
            self._control.note_progress()
            if error is not None:
                self._failed.add(answer.negotiation.submitter.name)
            yield from answer.deliveries()

    def statistics(self) -> NegotiatedSubmitters:
        """Return whom this cycle negotiated with."""
        submitters = list(self._by_submitter)
        return NegotiatedSubmitters(
            names=frozenset(each.name for each in submitters),
            schedds=len({each.address for each in submitters}),
            idle_jobs=sum(each.idle for each in submitters),
            failed=tuple(self._failed),
            seconds=self._seconds,
        )

    def close(self) -> None:
        """Close the connections to all schedds; they take back what was not answered."""
        for negotiation in self._by_submitter.values():
            negotiation.close()
        self._by_submitter = {}

    def _take_over(self, submitters: Sequence[Submitter], terms: NegotiationTerms) -> None:
        """Keep the connections of these submitters only."""
        before, self._by_submitter = self._by_submitter, {}
        for each in submitters:
            negotiation = before.pop(each, None) or Negotiation(each, terms, self._client)
            negotiation.submitter, negotiation.terms = each, terms
            self._by_submitter[each] = negotiation
        for negotiation in before.values():
            negotiation.close()

    def _by_name(self) -> dict[tuple[str, str], Negotiation]:
        """Return the negotiations that wait for an answer, by schedd and submitter in lower case."""
        return {
            (each.submitter.schedd.lower(), each.submitter.name.lower()): each
            for each in self._by_submitter.values()
            if each.is_open
        }
