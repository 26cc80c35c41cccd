"""Shadow mode: cycles over the pool of another negotiator, which hand out nothing and charge nobody."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from negotiator.bundle import Bundle
from negotiator.cycle.result import CycleResult
from negotiator.errors import PoolError
from negotiator.hooks.delivery import Delivery, DeliveryStatus
from negotiator.hooks.pool_source import ObservedPool, PoolSource
from negotiator.pool import ClaimVault, PoolAds, Snapshot
from negotiator.runtime.cycle_pool import CyclePool, Shown
from negotiator.runtime.opened_pool import OpenedPool, called


class ShadowPool(CyclePool):
    """A live pool that another negotiator serves: read as anybody may read it, without its claim ids."""

    is_shadow = True

    def __init__(self, bundle: Callable[[], Bundle]) -> None:
        """Observe the pool of a bundle.

        :param bundle: returns the bundle that is in force.
        """
        self._pool = OpenedPool(bundle, ObservedPool, _observed)

    def read(self) -> tuple[Snapshot, ClaimVault]:
        """Return the ads of the pool at present, with its jobs.

        :raises PoolError: the pool cannot be observed, or the bundle has no live pool.
        :raises PluginFailureError: the plugin failed otherwise.
        """
        ads = PoolAds()
        self.observe(ads)
        return ads.snapshot(), ClaimVault()

    def observe(self, ads: PoolAds) -> None:
        """Add the ads of the pool; the exceptions are those of ``read``."""
        source, pool = self._pool.get()
        called(source, pool.fetch, ads)
        self.unanswered = tuple(ads.unanswered)
        ads.claims.clear()

    def settle(self, result: CycleResult, vault: ClaimVault, shown: Shown) -> Sequence[Delivery]:  # noqa: ARG002 - nothing is handed out
        """Withhold all matches."""
        return [Delivery(match, DeliveryStatus.WITHHELD) for match in result.matches]

    def close_if_changed(self) -> bool:
        """Close the pool if the bundle in force has another one, or other settings for it; return whether it did."""
        return self._pool.close_if_changed()

    def close(self) -> None:
        """End all connections; the next cycle opens the pool again."""
        self._pool.close()


def _observed(source: PoolSource, settings: Any) -> ObservedPool:
    if source.observe is None:
        raise PoolError(f"the pools of the source {source.name} cannot be observed, only served")
    return source.observe(settings)


def uncharged(result: CycleResult, quiet: CycleResult) -> CycleResult:
    """Return a result whose matches are charged to nobody after the cycle.

    :param quiet: of a cycle with the same state over the same pool without idle jobs: accounts follow what the pool uses.
    """
    if result.state is None or quiet.state is None:
        return attrs.evolve(result, journal=())
    state = attrs.evolve(result.state, order_rows=quiet.state.order_rows)
    return attrs.evolve(result, journal=(), state=state)
