"""The source ``htcondor``: the ads of a live HTCondor pool, and matches for its schedds; or a pool that another negotiator serves, as tools read it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from negotiator.plugin import (
    Ad,
    CommandError,
    CycleSummary,
    Decisions,
    Delivery,
    Eviction,
    EvictionOutcome,
    LivePool,
    ObservedPool,
    PoolAds,
    PoolControl,
    PoolError,
)
from negotiator_live.ads.advertiser import Advertiser, own_address
from negotiator_live.ads.negotiator_ad import AdvertisedCycle, NegotiatorIdentity
from negotiator_live.collector import SCHEDDS, SLOTS, SUBMITTERS, SUBMITTERS_WITH_CAPABILITIES
from negotiator_live.daemon.daemon import DaemonListener
from negotiator_live.master import child
from negotiator_live.pool.answers import is_offline
from negotiator_live.pool.concurrently import concurrently
from negotiator_live.pool.cycle_log import CycleLog
from negotiator_live.pool.daemons import COLLECTOR, PoolDaemons, StartdNotices, report
from negotiator_live.pool.job_queries import JobQuery, job_queries
from negotiator_live.pool.negotiation import NegotiationTerms
from negotiator_live.pool.negotiations import Negotiations
from negotiator_live.pool.running import RunningClaims
from negotiator_live.pool.slots import fetch_slots
from negotiator_live.pool.submitters import SubmitterAds, ads_of
from negotiator_live.settings import ConfiguredPool
from negotiator_live.wire.errors import DaemonError

_MARGIN: Final = 5.0  # seconds
_FREE_SLOTS_SECONDS: Final = 300.0
"""After these, ads of free slots are fetched again though no job is idle: startds send them as often."""


class HTCondorPool(LivePool):
    """A live HTCondor pool, with a port of its own where the settings say so, or the one that condor_master gave it."""

    def __init__(self, pool: ConfiguredPool, control: PoolControl, *, informs_startds: bool = False) -> None:
        """Open a pool.

        :param control: carries out the commands of tools and schedds.
        :param informs_startds: matches are sent to the startds of their slots, too.
        :raises PoolError: the port cannot be used.
        """
        self._settings, self._control = pool.keys, control
        daemons = PoolDaemons.of(pool)
        self._client = daemons.client
        self._collector = attrs.evolve(daemons.collector, note_progress=control.note_progress)
        self._running = RunningClaims(daemons.client, self._collector, pool.keys.timeout)
        self._refreshed = 0.0  # when the ads of all slots were as the collector had them
        self._offline: list[Ad] = []  # slots that are offline, and were matched in this cycle
        # A schedd whose connection was closed since the last cycle gets a second one.
        self.longest_step = 2 * pool.keys.timeout + _MARGIN
        address = own_address(pool.host_address)
        self._listener: DaemonListener | None = None
        inherited, log = child.begin(control)
        self._log = CycleLog(log)
        notices = StartdNotices(daemons.client, pool.keys.timeout) if informs_startds else None
        self._negotiations = Negotiations(daemons.client, control, self._log, notices)
        own = pool, control, address.primary.host, self._negotiator_ads
        if pool.keys.listen:
            self._listener = DaemonListener.open(*own)
        elif inherited is not None and inherited.commands is not None:
            self._listener = DaemonListener.inherited(inherited.commands, inherited.family, *own)
        if self._listener is not None:
            address = self._listener.address
        self._advertiser = Advertiser(
            self._collector,
            NegotiatorIdentity(name=pool.keys.daemon_name, address=str(address)),
            pool.configuration.value("NEGOTIATOR_ADDRESS_FILE"),
            sessions=self._sessions,
        )
        self._log.listens(address)
        if self._listener is not None:
            # Before an answer, so that tools find again the negotiator whose port is opened with other settings. The fetch
            # tries again, and reports what went wrong.
            with contextlib.suppress(DaemonError, OSError):
                self._advertiser.send()
            self._listener.begin()  # last, for peers may connect at once

    def fetch(self, ads: PoolAds) -> None:
        """Fetch the ads of slots, schedds and submitters, and the requests of all submitters.

        :raises PoolError: the collector does not answer, or the negotiator is to end.
        """
        self._log.begins()
        try:
            self._fetch(ads)
        except BaseException:
            self._log.fails()
            raise

    def _fetch(self, ads: PoolAds) -> None:
        if not self._advertiser.is_advertised:
            try:
                self._advertiser.send()
            except (DaemonError, OSError) as error:
                report(ads, COLLECTOR, error)
        self._end_if_wanted()
        submitters = list(self._collector.query(SUBMITTERS_WITH_CAPABILITIES))
        schedds = list(self._collector.query(SCHEDDS))
        found = SubmitterAds.of(ads_of(submitters), ads_of(schedds))
        self._end_if_wanted()
        now = time.monotonic()
        is_due = now - self._refreshed >= _FREE_SLOTS_SECONDS
        decides = bool(found.submitters) or ads.awaits_claims or is_due
        fetch_slots(self._collector, ads, decides=decides)
        self._refreshed = now if decides else self._refreshed
        self._end_if_wanted()
        self._running.fetch(ads_of(schedds), ads)
        self._end_if_wanted()
        ads.add(COLLECTOR, submitters, kind="Submitter")
        ads.add(COLLECTOR, schedds, kind="Scheduler")
        for problem in found.problems:
            report(ads, COLLECTOR, problem)
        settings = self._settings
        attributes = ads.significant_attributes()
        terms = NegotiationTerms(settings.daemon_name, attributes, settings.requests, settings.timeout)
        self._log.fetched(len(ads.reading.slots), found.submitters, attributes)
        self._negotiations.fetch(found.submitters, terms, ads)
        self._end_if_wanted()

    def _end_if_wanted(self) -> None:
        """Raise PoolError if the negotiator is to end: the schedds take back their requests when the connections are closed."""
        if self._control.is_ending:
            raise PoolError("the negotiator ends while the pool is read")

    def deliver(self, decisions: Decisions) -> Iterable[Delivery]:
        """Send the matches and rejections to the schedds, all at the same time."""
        self._offline = [match.slot_ad for match in decisions.matches if is_offline(match)]
        return self._negotiations.deliver(decisions)

    def evict(self, evictions: Sequence[Eviction]) -> Iterable[EvictionOutcome]:
        """Let startds end running jobs that break a rule, as the bundle says."""
        return self._running.evict(evictions)

    def cycle_ended(self, summary: CycleSummary) -> None:
        """Publish the statistics of a cycle in the Negotiator ad, the accounts in Accounting ads, and the matches with offline slots.

        :raises DaemonError: the collector cannot be reached, or denies the command.
        :raises StateError: the accounts cannot be read.
        """
        self._log.ends()
        if self._offline:
            self._advertiser.send_offline(self._offline)
            self._offline = []
        negotiated = self._negotiations.statistics()
        self._advertiser.add_cycle(AdvertisedCycle.of(summary, negotiated))
        self._advertiser.send()
        with contextlib.suppress(CommandError):  # the order keeps no accounts
            self._advertiser.send_accounts(self._control.accounts(), negotiated.names)

    def _sessions(self) -> int:
        return len(self._client.sessions) + (0 if self._listener is None else self._listener.sessions)

    def _negotiator_ads(self) -> Sequence[Mapping[str, str]]:
        return [self._advertiser.current_ad()]

    def close(self) -> None:
        """Close the port, remove the Negotiator ad, and close the connections to all schedds."""
        if self._listener is not None:
            self._listener.close()
        with contextlib.suppress(PoolError):  # without a collector there is no ad either; or it expires
            self._advertiser.withdraw()
        self._negotiations.close()
        self._client.sessions.clear()


class ObservedHTCondorPool(ObservedPool):
    """The ads of an HTCondor pool, read with READ authorization."""

    def __init__(self, pool: ConfiguredPool) -> None:
        """Observe a pool; nothing is connected yet."""
        self._daemons = PoolDaemons.of(pool)
        self._timeout = pool.keys.timeout

    def fetch(self, ads: PoolAds) -> None:
        """Fetch the ads of slots, schedds, submitters and jobs, without claim ids.

        :raises PoolError: the collector does not answer.
        """
        collector = self._daemons.collector
        for kind in (SUBMITTERS, SLOTS):
            ads.add(COLLECTOR, collector.query(kind))
        schedds = list(collector.query(SCHEDDS))
        ads.add(COLLECTOR, schedds)
        queries, problems = job_queries(ads_of(schedds), self._daemons.client, self._timeout)
        for problem in problems:
            report(ads, COLLECTOR, problem)
        for query, error in concurrently(queries, JobQuery.fetch):
            if error is not None:
                report(ads, f"schedd {query.schedd}", error)
            elif query.texts:
                ads.add(f"schedd {query.schedd}", query.texts)

    def close(self) -> None:
        """Forget the security sessions."""
        self._daemons.client.sessions.clear()
