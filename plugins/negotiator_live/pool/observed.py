"""A pool that another negotiator serves, as condor_status and condor_q read it."""

from __future__ import annotations

from negotiator.plugin import ObservedPool, PoolAds
from negotiator_live.collector import SCHEDDS, SLOTS, SUBMITTERS
from negotiator_live.pool.concurrently import concurrently
from negotiator_live.pool.daemons import COLLECTOR, PoolDaemons, report
from negotiator_live.pool.job_queries import JobQuery, job_queries
from negotiator_live.pool.submitters import ads_of
from negotiator_live.settings import ConfiguredPool


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
