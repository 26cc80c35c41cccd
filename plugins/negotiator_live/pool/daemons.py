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
from negotiator_live.settings import ConfiguredPool

COLLECTOR = "collector"
_CLAIMED_USER = "negotiator"  # by CLAIMTOBE, which proves nothing


@attrs.frozen
class PoolDaemons:
    """A client of the pool's daemons with the security that the settings require, and the collector."""

    client: SecureClient
    collector: Collector

    @classmethod
    def of(cls, pool: ConfiguredPool) -> PoolDaemons:
        """Return the daemons of a pool; nothing is connected yet."""
        methods, keys = pool.methods("CLIENT"), pool.keys
        credentials = Credentials(
            tokens=TokenFiles((Path(keys.token),)) if keys.token else TokenFiles(),
            claimed_user=_CLAIMED_USER if AuthMethod.CLAIMTOBE in methods else "",
        )
        policy = ClientPolicy(*pool.requirements("CLIENT"), methods=methods)
        client = SecureClient(policy, credentials)
        return cls(client, Collector(pool.find_collector, client, timeout=keys.timeout))


def report(ads: PoolAds, daemon: str, error: object) -> None:
    """Report a daemon that did not answer, such as ``schedd NAME``; its ads are missing in this cycle."""
    ads.add_problem(Problem(Severity.WARNING, Source(daemon), str(error)))
