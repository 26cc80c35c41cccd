"""Shadow mode: cycles over the pool of another negotiator, which hand out nothing and charge nobody."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
import numpy as np

from negotiator.cycle.jobs import IDLE
from negotiator.cycle.result import CycleResult
from negotiator.hooks.delivery import Delivery, DeliveryStatus
from negotiator.pool import ClaimVault, PoolAds, Snapshot
from negotiator.runtime.live_pool import ServedPool


@attrs.frozen
class ObservedPool:
    """Reads a live pool without its claim ids."""

    pool: ServedPool

    def __call__(self) -> tuple[Snapshot, ClaimVault]:
        """Return the pool at present.

        :raises PoolError: it cannot be observed.
        """
        ads = PoolAds()
        self.pool.observe(ads)
        return ads.snapshot(), ClaimVault()


@attrs.define
class ShadowSettler:
    """Withholds all matches, after the decisions were shown; ``show`` and ``error`` are those of ``Offline``."""

    show: Callable[[CycleResult], bool]
    error: OSError | None = None

    def settle(self, result: CycleResult, vault: ClaimVault) -> Sequence[Delivery]:  # noqa: ARG002 - there is no claim
        """Show the decisions; nobody gets a match."""
        try:
            self.show(result)
        except OSError as error:
            self.error = error
        return [Delivery(match, DeliveryStatus.WITHHELD) for match in result.matches]


def without_idle_jobs(snapshot: Snapshot) -> Snapshot:
    """Return the pool as if nobody asked for a slot."""
    idle = snapshot.jobs.numbers("JobStatus", default=IDLE) == IDLE
    return attrs.evolve(snapshot, jobs=snapshot.jobs.take(np.flatnonzero(~idle)))


def uncharged(result: CycleResult, quiet: CycleResult) -> CycleResult:
    """Return a result whose matches are charged to nobody after the cycle.

    :param quiet: of a cycle with the same state over the same pool without idle jobs: accounts follow what the pool uses.
    """
    if result.state is None or quiet.state is None:
        return attrs.evolve(result, journal=())
    state = attrs.evolve(result.state, order_rows=quiet.state.order_rows)
    return attrs.evolve(result, journal=(), state=state)
