"""The daemons of a pool as its settings describe them: the collector, and how to connect to all others."""

from __future__ import annotations

from pathlib import Path

import attrs

from negotiator.plugin import PoolAds, Problem, Severity, Source
from negotiator_live.collector import Collector
from negotiator_live.security.authentication import Credentials
from negotiator_live.security.client import SecureClient
from negotiator_live.security.policy import AuthMethod, ClientPolicy
from negotiator_live.security.tokens import TokenFiles
from negotiator_live.settings import CondorPool, Method

COLLECTOR = "collector"


@attrs.frozen
class PoolDaemons:
    """A client of the pool's daemons with the security that the settings require, and the collector."""

    client: SecureClient
    collector: Collector

    @classmethod
    def of(cls, pool: CondorPool) -> PoolDaemons:
        """Return the daemons of a pool; nothing is connected yet."""
        credentials = Credentials(
            tokens=TokenFiles((Path(pool.token),)) if pool.token else TokenFiles(),
            claimed_user=pool.name if Method.CLAIMTOBE in pool.methods else "",
        )
        methods = tuple(AuthMethod[each] for each in pool.methods)
        policy = ClientPolicy(pool.authentication, pool.encryption, pool.integrity, methods=methods)
        client = SecureClient(policy, credentials)
        return cls(client, Collector(pool.address, client, timeout=pool.timeout))


def report(ads: PoolAds, daemon: str, error: object) -> None:
    """Report a daemon that did not answer, such as ``schedd NAME``; its ads are missing in this cycle."""
    ads.add_problem(Problem(Severity.WARNING, Source(daemon), str(error)))
