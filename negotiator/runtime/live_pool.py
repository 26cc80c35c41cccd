"""The live pool of a bundle: its ads for each cycle, and the matches that it hands out.

In shadow mode the pool keeps its own negotiator: cycles hand out nothing, and charge nobody.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import attrs

from negotiator.bundle import Bundle
from negotiator.bundle.reuse import ReusePlan
from negotiator.bundle.rules import bundle_rules, job_conditions
from negotiator.classad import Table
from negotiator.cycle.admit import SLOT_MATCHED
from negotiator.cycle.autoclusters import significant_attributes
from negotiator.cycle.claim_reuse import ReuseReport, reuse_of_matches
from negotiator.cycle.result import CycleResult
from negotiator.errors import PoolError
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.delivery import Delivery, DeliveryStatus
from negotiator.hooks.failures import describe_error, failed_line
from negotiator.hooks.fields import check_exactly
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.overruns import Eviction, EvictionOutcome
from negotiator.hooks.plugin_output import running_plugin
from negotiator.hooks.pool_source import Decisions, LivePool, ObservedPool, PoolControl, PoolSource
from negotiator.hooks.reports import CycleSummary
from negotiator.pool import ClaimVault, PoolAds, PoolReading, Snapshot
from negotiator.runtime.cycle_pool import CyclePool, OpenedPool, Shown, called, called_within

_log = logging.getLogger(__name__)


@attrs.frozen(eq=False)
class _BundleMeaning:
    """What a bundle means for claims and running jobs: whether any rule judges jobs, and the conditions of those over jobs alone."""

    bundle: Bundle
    plan: ReusePlan
    has_rules: bool
    conditions: tuple[str, ...]
    _significant: WeakKeyDictionary[Table, frozenset[str]] = attrs.field(factory=WeakKeyDictionary)

    @classmethod
    def of(cls, bundle: Bundle) -> _BundleMeaning:
        return cls(bundle, ReusePlan.of(bundle), bool(bundle_rules(bundle).rules), job_conditions(bundle))

    def significant_attributes(self, slots: Table) -> frozenset[str]:
        """Return the significant attributes with these slots; those of a frozen table are found once."""
        found = self._significant.get(slots)
        if found is None:
            found = self._significant[slots] = significant_attributes(slots, self.bundle)
        return found


class ServedPool(CyclePool):
    """A live pool that this negotiator serves."""

    can_evict = True

    def __init__(self, bundle: Callable[[], Bundle], control: PoolControl) -> None:
        """Serve the pool of a bundle.

        :param bundle: returns the bundle that is in force.
        :param control: carries out what the daemons of the pool request.
        """
        self._bundle = bundle
        self._pool = OpenedPool(bundle, LivePool, lambda source, settings: source.open(settings, control))
        self._before: tuple[LivePool, PoolReading] | None = None
        self._means: _BundleMeaning | None = None

    def read(self) -> tuple[Snapshot, ClaimVault]:
        """Return the ads of the pool at present, and the claim ids of its slots.

        :raises PoolError: no cycle can run with what could be fetched, or the bundle has no live pool.
        :raises PluginFailureError: the plugin failed otherwise.
        """
        source, pool = self._pool.get()
        means = self._meaning()
        before, self._before = self._before, None  # of a cycle that fails nothing is taken over
        reading = before[1] if before is not None and before[0] is pool else None
        ads = PoolAds(
            means.significant_attributes,
            reading,
            lambda attributes: attributes if means.has_rules else frozenset(),
            means.conditions,
            awaits_claims=self.awaits_claims,
        )
        called_within(pool.longest_step, source, pool.fetch, ads)
        self._before = pool, ads.reading
        self.unanswered = tuple(ads.unanswered)
        snapshot = ads.snapshot()
        self.reuse = ReuseReport.of(means.plan, snapshot)
        return snapshot, ads.claims

    def settle(self, result: CycleResult, vault: ClaimVault, shown: Shown) -> Sequence[Delivery]:  # noqa: ARG002 - the pool gets them in any case
        """Hand out the matches of a cycle, in their order, and return what became of each."""
        source, pool = self._pool.get()
        found: dict[str, Delivery] = {}
        discarded = {job: each.reason for each in result.discarded for job in each.jobs}
        kept = (each.reason.text for each in result.discarded if each.reason.code == SLOT_MATCHED)
        plan = self._meaning().plan
        decisions = Decisions(
            *(result.matches, result.rejections, discarded, vault),
            kept=next(kept, ""),
            reuse=reuse_of_matches(plan, result.matches),
            policy=plan.policy,
        )
        failure = "the plugin returned no Delivery of the match"
        try:
            for each in pool.deliver(decisions):
                check_exactly(each, Delivery, "a Delivery")
                found[each.match.id] = each
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything; matches were handed out before it
            raise_if_interrupted(error)
            _log.debug("plugin %s", source.plugin, exc_info=error)
            failure = f"plugin {source.plugin}: {describe_error(error)}"
        return [
            found.get(match.id) or Delivery(match, DeliveryStatus.UNKNOWN, failure)
            for match in result.matches
        ]

    def evict(self, evictions: Sequence[Eviction]) -> Sequence[EvictionOutcome]:
        """Ask for the end of running jobs; what the plugin leaves out was not asked for."""
        if not evictions:
            return ()
        source, pool = self._pool.get()
        found: list[EvictionOutcome] = []
        known = {id(each) for each in evictions}
        try:
            with running_plugin(f"evict of the source {source.record.name}", pool.longest_step):
                for each in pool.evict(evictions):
                    check_exactly(each, EvictionOutcome, "an EvictionOutcome")
                    if id(each.eviction) in known:
                        known.remove(id(each.eviction))
                        found.append(each)
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything; jobs were asked to end before it
            raise_if_interrupted(error)
            _log.debug("plugin %s", source.plugin, exc_info=error)
            failure = f"plugin {source.plugin}: {describe_error(error)}"
            left = (each for each in evictions if id(each) in known)
            found += (EvictionOutcome(each, accepted=False, text=failure) for each in left)
        return found

    def cycle_ended(self, summary: CycleSummary) -> tuple[HookFailure, ...]:
        """Let the pool publish the result of a cycle; a failure changes nothing else."""
        if not self._pool.is_open:
            return ()
        source, pool = self._pool.get()
        try:
            with running_plugin(f"cycle_ended of the source {source.record.name}", pool.longest_step):
                pool.cycle_ended(summary)
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, and nothing depends on it
            raise_if_interrupted(error)
            line = failed_line(error, pool.cycle_ended)
            hook = f"cycle_ended of the source {source.record.name}"
            return (HookFailure(source.plugin, source.version, hook, describe_error(error), line),)
        return ()

    def _meaning(self) -> _BundleMeaning:
        """Return what the bundle in force means for the pool."""
        bundle = self._bundle()
        if self._means is None or self._means.bundle is not bundle:
            self._means = _BundleMeaning.of(bundle)
        return self._means

    def close_if_changed(self) -> bool:
        """Close the pool if the bundle in force has another one, or other settings for it; return whether it did."""
        return self._pool.close_if_changed()

    def close(self) -> None:
        """End all connections; the next cycle opens the pool again."""
        self._before = None
        self._pool.close()


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
