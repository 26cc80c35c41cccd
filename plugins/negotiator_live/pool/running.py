"""What runs in a pool: the ads of running jobs, as their schedds have them, and the end of those that break a rule.

A claimed slot's ad has no attributes that users wrote, so schedds are asked for those that the policies read. A job is
ended by its startd, in the session that the startd gives to the administrators of its pool through the collector.
Source: ``command_query_job_ads`` (``schedd.cpp``); ``DCStartd::vacateClaim`` (``dc_startd.cpp``); ``ATTR_REMOTE_ADMIN_CAPABILITY``
(``daemon_core.cpp``).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from negotiator.plugin import ClaimedJob, Eviction, EvictionOutcome, PoolAds
from negotiator_live.collector import AdQuery, Collector
from negotiator_live.pool.concurrently import concurrently
from negotiator_live.pool.daemons import report
from negotiator_live.pool.job_queries import JobQuery, job_queries
from negotiator_live.pool.submitters import ads_of
from negotiator_live.security.client import SecureClient
from negotiator_live.security.sessions import SecuritySession
from negotiator_live.wire.addresses import AddressError, DaemonAddress
from negotiator_live.wire.ads import WireAd, quoted
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import ConnectionClosedError, DaemonError
from negotiator_live.wire.exchange import DaemonKind, Deadline, Exchange

_CAPABILITY: Final = "_condor_PrivRemoteAdminCapability"
_MAX_CLUSTERS: Final = 200
"""Clusters that a query names; if more are needed, all running jobs are queried."""
_PLACE: Final = ("ClusterId", "ProcId", "RemoteHost", "QDate")
_NO_CAPABILITY: Final = (
    "the collector has no capability of its startd: that needs NEGOTIATOR authorization at the collector, and"
    " SEC_ENABLE_REMOTE_ADMINISTRATION at the startd"
)
_FIRST_PAUSE: Final = 60.0  # seconds
_LONGEST_PAUSE: Final = 900.0
_IS_GONE: Final = "the job does not run on the slot any more"
_HAS_SLOT: Final = "(JobStatus == 2 || JobStatus == 6 || JobStatus == 7)"


@attrs.define(eq=False)
class RunningClaims:
    """The schedds of the present cycle, asked about their running jobs."""

    client: SecureClient
    collector: Collector
    timeout: float
    clock: Callable[[], float] = time.monotonic
    _schedds: Mapping[str, JobQuery] = attrs.field(factory=dict, init=False)  # by name in lower case
    #: By schedd in lower case: ids of the known jobs that its last answer had, which a rule denied then.
    _denied: dict[str, set[str]] = attrs.field(factory=dict, init=False)
    #: Schedds that took long to answer: when they are asked again, and the seconds of that pause.
    _pauses: dict[str, tuple[float, float]] = attrs.field(factory=dict, init=False)

    def fetch(self, schedds: Iterable[WireAd], ads: PoolAds) -> None:
        """Add the ads of the running jobs that policies need: of those that run since the last cycle, and that a rule denies.

        A schedd that does not answer is a problem: of its jobs nothing is known but what their slots tell. One that took longer than
        a quarter of the time limit is left alone for a minute, and for twice as long each further time.
        """
        # Schedds with an invalid address are reported elsewhere.
        queries, _ = job_queries(schedds, self.client, self.timeout)
        self._schedds = {each.schedd.lower(): each for each in queries}
        attributes = ads.running_attributes()
        if not attributes:
            return
        running = ads.running_jobs()
        by_schedd: dict[str, dict[tuple[int, int], ClaimedJob]] = defaultdict(dict)
        for job in running:
            by_schedd[job.schedd.lower()][job.cluster, job.proc] = job
        self._denied = {schedd: ids for schedd, ids in self._denied.items() if schedd in by_schedd}
        asked = []
        for schedd, jobs in by_schedd.items():
            denied = self._denied.get(schedd, ())
            named = {each.cluster for each in jobs.values() if not each.is_known or each.global_id in denied}
            is_paused = self.clock() < self._pauses.get(schedd, (0.0, 0.0))[0]
            if schedd in self._schedds and not is_paused and (named or ads.running_conditions):
                constraint = _constraint(named, ads.running_conditions)
                query = attrs.evolve(
                    self._schedds[schedd], constraint=constraint, projection=tuple(sorted(attributes))
                )
                asked.append(query)
        answers = []
        for query, error in concurrently(asked, JobQuery.fetch):
            self._pause(query)
            if error is not None:
                report(ads, f"schedd {query.schedd}", error)
                continue
            jobs = by_schedd[query.schedd.lower()]
            found = [(f"schedd {query.schedd}", jobs[job], ad) for job, ad in query.ads() if job in jobs]
            # A denied job is queried again, by its id: it may be permitted by then.
            self._denied[query.schedd.lower()] = {job.global_id for _, job, _ in found if job.is_known}
            answers += found
        ads.put_running(running, answers)

    def _pause(self, query: JobQuery) -> None:
        _, before = self._pauses.pop(query.schedd.lower(), (0.0, 0.0))
        if query.seconds > self.timeout / 4:
            pause = min(max(_FIRST_PAUSE, 2 * before), _LONGEST_PAUSE)
            self._pauses[query.schedd.lower()] = self.clock() + pause, pause

    def evict(self, evictions: Sequence[Eviction]) -> Iterator[EvictionOutcome]:
        """Let startds end jobs that still run on their slots; yield what became of each request, in any order."""
        left, gone = self._still_running(evictions)
        yield from gone
        try:
            capabilities = self._capabilities(left)
        except DaemonError as error:
            yield from (EvictionOutcome(each, accepted=False, text=str(error)) for each in left)
            return
        orders = []
        for each in left:
            session = capabilities.get((each.overrun.slot, each.startd))
            try:
                address = DaemonAddress.parse(each.startd)
            except AddressError as invalid:
                yield EvictionOutcome(each, accepted=False, text=str(invalid))
                continue
            if session is None:
                yield EvictionOutcome(each, accepted=False, text=_NO_CAPABILITY)
            else:
                orders.append(_Vacating(each, address, session, self.client, self.timeout))
        for order, failure in concurrently(orders, _Vacating.send):
            yield EvictionOutcome(order.eviction, accepted=failure is None, text=str(failure or ""))

    def _still_running(self, evictions: Sequence[Eviction]) -> tuple[list[Eviction], list[EvictionOutcome]]:
        """Return the evictions of jobs that still run on their slots, and the outcomes of the others.

        The slot's ad may be old, and its claim may run another job by now. Users can change the RemoteHost of their jobs: where it
        is another slot, the slot's present ad decides.
        """
        by_schedd: dict[str, list[Eviction]] = defaultdict(list)
        for each in evictions:
            by_schedd[each.overrun.schedd.lower()].append(each)
        left: list[Eviction] = []
        elsewhere: list[Eviction] = []
        others, asked = [], []
        for schedd, own in by_schedd.items():
            if schedd in self._schedds:
                names = ", ".join(quoted(each.overrun.job) for each in own)
                constraint = f'{_HAS_SLOT} && member(strcat(ClusterId, ".", ProcId), {{{names}}})'
                asked.append(attrs.evolve(self._schedds[schedd], constraint=constraint, projection=_PLACE))
            else:
                text = "its schedd is unknown to the collector"
                others += [EvictionOutcome(each, accepted=False, text=text) for each in own]
        for query, error in concurrently(asked, JobQuery.fetch):
            hosts = {f"{cluster}.{proc}": ad for (cluster, proc), ad in query.ads()}
            for each in by_schedd[query.schedd.lower()]:
                ad = hosts.get(each.overrun.job)
                if ad is None:
                    text = _IS_GONE if error is None else str(error)
                    others.append(EvictionOutcome(each, accepted=False, text=text))
                else:
                    is_there = f"RemoteHost = {quoted(each.overrun.slot)}" in ad.split("\n")
                    (left if is_there else elsewhere).append(each)
        shown, error = self._jobs_of_slots(elsewhere)
        for each in elsewhere:
            if (each.overrun.slot, each.startd, each.overrun.job) in shown:
                left.append(each)
            else:
                text = _IS_GONE if error is None else str(error)
                others.append(EvictionOutcome(each, accepted=False, text=text))
        return left, others

    def _jobs_of_slots(
        self, evictions: Sequence[Eviction]
    ) -> tuple[set[tuple[str, str, str]], DaemonError | None]:
        """Return slot, address and job of the claimed slots among those of evictions, as the collector has them now."""
        if not evictions:
            return set(), None
        query = AdQuery(
            DaemonCommand.QUERY_STARTD_ADS, "Machine", _named(evictions), ("Name", "MyAddress", "JobId")
        )
        try:
            ads = list(ads_of(self.collector.query(query)))
        except DaemonError as error:
            return set(), error
        return {(ad.string("Name"), ad.string("MyAddress"), ad.string("JobId")) for ad in ads}, None

    def _capabilities(self, evictions: Sequence[Eviction]) -> dict[tuple[str, str], SecuritySession]:
        """Return the sessions in which startds accept the commands of administrators, by slot and address.

        They live for these commands alone.

        :raises DaemonError: the collector does not answer.
        """
        if not evictions:
            return {}
        query = AdQuery(
            DaemonCommand.QUERY_MULTIPLE_PVT_ADS,
            "Machine",
            _named(evictions),
            ("Name", "MyAddress", _CAPABILITY),
            private=True,
        )
        found = {}
        for ad in ads_of(self.collector.query(query)):
            session = SecuritySession.of_capability(ad.string(_CAPABILITY))
            if session is not None:
                found[ad.string("Name"), ad.string("MyAddress")] = session
        return found


@attrs.frozen(eq=False)
class _Vacating:
    """One command to a startd."""

    eviction: Eviction
    address: DaemonAddress
    session: SecuritySession = attrs.field(repr=False)
    client: SecureClient
    timeout: float

    def send(self) -> None:
        """Send it, and wait until the startd has read it.

        :raises DaemonError: the startd cannot be reached, or denies the command.
        """
        slot = self.eviction.overrun.slot
        command = DaemonCommand.VACATE_CLAIM_FAST if self.eviction.fast else DaemonCommand.VACATE_CLAIM
        exchange = Exchange(DaemonKind.STARTD, slot, self.address, command)
        with self.client.open(exchange, Deadline(self.timeout), self.session) as channel:
            channel.put_string(slot)
            channel.end_message()
            try:
                channel.get_int()  # no answer: the startd closes the connection once it has read the command
            except ConnectionClosedError:
                return


def _named(evictions: Sequence[Eviction]) -> str:
    """Return the condition of the slots of evictions; a name that would end its own string is no slot's of HTCondor."""
    names = (each.overrun.slot for each in evictions)
    return f"member(Name, {{{', '.join(quoted(each) for each in names if chr(92) not in each)}}})"


def _constraint(clusters: Collection[int], conditions: Sequence[str]) -> str:
    """Return the condition of the running jobs of some clusters, and of those that a rule denies."""
    if len(clusters) > _MAX_CLUSTERS:
        return _HAS_SLOT
    parts = [f"member(ClusterId, {{{', '.join(map(str, sorted(clusters)))}}})"] if clusters else []
    parts += [f"(ifThenElse({each}, true, false) =?= true)" for each in conditions]
    return f"{_HAS_SLOT} && ({' || '.join(parts)})"
