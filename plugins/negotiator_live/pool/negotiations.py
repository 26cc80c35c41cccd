"""All negotiations of a pool: with each schedd that has idle jobs, one for each of its submitters."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, zip_longest

import attrs

from negotiator.plugin import Decisions, Delivery, DeliveryStatus, PoolAds, PoolControl
from negotiator_live.ads.negotiator_ad import NegotiatedSubmitters
from negotiator_live.pool.answers import NegotiationAnswers
from negotiator_live.pool.concurrently import concurrently
from negotiator_live.pool.cycle_log import CycleLog
from negotiator_live.pool.daemons import StartdNotices, report
from negotiator_live.pool.negotiation import Negotiation, NegotiationTerms
from negotiator_live.pool.requests import job_text
from negotiator_live.pool.slow_schedds import SlowSchedds
from negotiator_live.pool.submitters import Submitter
from negotiator_live.security.client import SecureClient
from negotiator_live.wire.errors import DaemonError, TimedOutError


class Negotiations:
    """The negotiations of the present cycle. Connections to schedds are kept from cycle to cycle."""

    def __init__(
        self,
        client: SecureClient,
        control: PoolControl,
        log: CycleLog,
        notices: StartdNotices | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin without submitters.

        :param notices: tells startds of matches; None if they are not told.
        :param clock: returns seconds that only increase.
        """
        self._client, self._control, self._log, self._clock = client, control, log, clock
        self._notices = notices
        self._by_submitter: dict[Submitter, Negotiation] = {}
        self._slow = SlowSchedds(control, clock)
        self._in_cycle: list[Negotiation] = []  # that wait for the outcome of this cycle
        self._failed: set[str] = set()  # submitters of this cycle
        self._seconds = self._processor_seconds = 0.0

    def fetch(self, submitters: Sequence[Submitter], terms: NegotiationTerms, ads: PoolAds) -> None:
        """Negotiate with these submitters from now on, and add their requests; a schedd that fails is a problem.

        A schedd that was slow is asked in the background, and adds what it has answered since the last cycle.
        No further negotiation begins once the negotiator is to end.
        """
        begun, used = self._clock(), time.process_time()
        self._slow.begin_cycle()
        self._take_over(submitters, terms)
        self._failed.clear()
        self._in_cycle = []
        problems: dict[tuple[str, str], None] = {}  # each schedd's once, whatever number of submitters it has
        by_address: dict[str, list[Negotiation]] = defaultdict(list)
        for each in self._by_submitter.values():
            by_address[str(each.submitter.address)].append(each)
        slow = {address for address in by_address if not self._slow.is_waited_for(address)}
        asked = [found for address, found in by_address.items() if address not in slow]
        # The first submitter of each schedd first: one that hangs must not keep the threads from the others.
        calls = [
            _NegotiationStep(each, each.fetch) for each in chain.from_iterable(zip_longest(*asked)) if each
        ]
        hanging: dict[str, DaemonError] = {}
        answered: set[Negotiation] = set()
        for call, error in concurrently(calls, lambda call: self._fetch_one(call, hanging)):
            self._note(call, error)
            if error is None:
                answered.add(call.negotiation)
            else:
                problems[call.negotiation.submitter.schedd, str(error)] = None
        for address in sorted(slow):
            found = by_address[address]
            late, why = self._slow.ask(address, found, terms.timeout)
            answered.update(late)
            if why:
                self._failed.update(each.submitter.name for each in found)
                problems[found[0].submitter.schedd, why] = None
        for negotiation in self._by_submitter.values():
            if negotiation in answered and negotiation.is_open:
                submitter = negotiation.submitter
                self._in_cycle.append(negotiation)
                texts = (job_text(each, submitter) for each in negotiation.requests)
                ads.add(f"schedd {submitter.schedd}", texts)
        for schedd, text in problems:
            report(ads, f"schedd {schedd}", text)
        self._seconds, self._processor_seconds = self._clock() - begun, time.process_time() - used
        self._log.prefetched(len(self._by_submitter), len(self._failed))

    def _carry_out(self, call: _NegotiationStep) -> None:
        """Carry out a part of a negotiation, and measure it."""
        begun = self._clock()
        try:
            call.function()
        finally:
            call.seconds = self._clock() - begun

    def _note(self, call: _NegotiationStep, error: DaemonError | None) -> None:
        self._control.note_progress()
        submitter, terms = call.negotiation.submitter, call.negotiation.terms
        self._slow.note(str(submitter.address), call.seconds, terms.timeout, error)
        if error is not None:
            self._failed.add(submitter.name)

    def _fetch_one(self, call: _NegotiationStep, hanging: dict[str, DaemonError]) -> None:
        """Fetch the requests of a submitter, unless its schedd has let the time limit of another one pass in this cycle."""
        address = str(call.negotiation.submitter.address)
        if self._control.is_ending:
            return
        if address in hanging:
            raise hanging[address]
        try:
            self._carry_out(call)
        except TimedOutError as error:
            hanging[address] = error
            raise

    def deliver(self, decisions: Decisions) -> Iterator[Delivery]:
        """Send the matches and rejections to the schedds, all at the same time; yield what became of each match."""
        answers = {
            key: NegotiationAnswers(each, decisions, self._notices) for key, each in self._by_name().items()
        }
        for place, match in enumerate(decisions.matches):
            answer = answers.get((match.schedd, match.submitter))
            if answer is None or not answer.add_match(match, place):
                yield Delivery(match, DeliveryStatus.FAILED, "the schedd did not offer the job in this cycle")
        for rejection in decisions.rejections:
            if (answer := answers.get((rejection.schedd, rejection.submitter))) is not None:
                answer.add_rejection(rejection)
        self._log.decided()
        decided = sorted(answers.values(), key=lambda answer: answer.place)
        calls = [_NegotiationStep(answer.negotiation, answer.send) for answer in decided]
        for (call, error), answer in zip(concurrently(calls, self._carry_out), decided, strict=True):
            self._note(call, error)
            self._log.answered(answer.log_lines)
            yield from answer.deliveries()
        if self._notices is not None:
            self._notices.send()

    def statistics(self) -> NegotiatedSubmitters:
        """Return whom this cycle negotiated with."""
        submitters = list(self._by_submitter)
        return NegotiatedSubmitters(
            names=frozenset(each.name for each in submitters),
            schedds=len({each.address for each in submitters}),
            idle_jobs=sum(each.idle for each in submitters),
            failed=tuple(self._failed),
            seconds=self._seconds,
            processor_seconds=self._processor_seconds,
        )

    def close(self) -> None:
        """Close the connections to all schedds; they take back what was not answered."""
        self._slow.close(self._by_submitter.values())
        self._by_submitter = {}
        if self._notices is not None:
            self._notices.close()

    def _take_over(self, submitters: Sequence[Submitter], terms: NegotiationTerms) -> None:
        """Keep the connections of these submitters only. A thread that uses a negotiation goes on with the terms that it has."""
        before, self._by_submitter = self._by_submitter, {}
        for each in submitters:
            negotiation = before.pop(each, None) or Negotiation(each, terms, self._client)
            if not self._slow.is_asked(negotiation):
                negotiation.submitter, negotiation.terms = each, terms
            self._by_submitter[each] = negotiation
        self._slow.close(before.values())

    def _by_name(self) -> dict[tuple[str, str], Negotiation]:
        """Return the negotiations that wait for the outcome of the cycle, by schedd and submitter in lower case."""
        return {(each.submitter.schedd.lower(), each.submitter.name.lower()): each for each in self._in_cycle}


@attrs.define(eq=False)
class _NegotiationStep:
    """A part of a negotiation, and the seconds that it took."""

    negotiation: Negotiation
    function: Callable[[], None]
    seconds: float = 0.0
