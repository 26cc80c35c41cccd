"""The live pool of a bundle behind its guard: reads its ads for each cycle, and hands out the matches."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

import attrs

from negotiator.bundle import Bundle
from negotiator.cycle.result import CycleResult
from negotiator.cycle.significant_attributes import significant_attributes
from negotiator.errors import PluginFailureError, PoolError
from negotiator.hooks.answers import Attributed, HookFailure
from negotiator.hooks.delivery import Delivery, DeliveryStatus
from negotiator.hooks.failures import describe_error, failed_line
from negotiator.hooks.fields import check_exactly
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.pool_control import PoolControl
from negotiator.hooks.pool_source import Decisions, LivePool, PoolContext, PoolSource
from negotiator.hooks.summary import CycleSummary
from negotiator.pool import ClaimVault, PoolAds, PoolReading, Snapshot
from negotiator.records import Problem

R = TypeVar("R")

_log = logging.getLogger(__name__)


@attrs.define(eq=False)
class ServedPool:
    """A live pool, opened for one bundle and opened again for a new one with other settings.

    ``unanswered`` are the parts of the pool that did not answer when it was last read.

    :param bundle: returns the bundle that is in force.
    :param control: carries out what the daemons of the pool request.
    :param is_observed: the pool is only observed; ``read`` and ``settle`` are never called.
    """

    bundle: Callable[[], Bundle]
    control: PoolControl
    is_observed: bool = False
    unanswered: Sequence[Problem] = attrs.field(default=(), init=False)
    _opened: tuple[Attributed[PoolSource], PoolContext, LivePool] | None = attrs.field(
        default=None, init=False
    )
    _before: PoolReading | None = attrs.field(default=None, init=False)

    def read(self) -> tuple[Snapshot, ClaimVault]:
        """Return the ads of the pool at present, and the claim ids of its slots.

        :raises PoolError: no cycle can run with what could be fetched, or the bundle has no live pool.
        :raises PluginFailureError: the plugin failed otherwise.
        """
        source, pool = self._pool()
        bundle = self.bundle()
        ads = PoolAds(lambda slots: significant_attributes(slots, bundle), self._before)
        self._before = None  # of a cycle that fails nothing is taken over
        _called(source, pool.fetch, ads)
        self._before = ads.reading
        self.unanswered = tuple(ads.unanswered)
        return ads.snapshot(), ads.claims

    def observe(self, ads: PoolAds) -> None:
        """Add the ads of the pool as anybody may read them, with its jobs; no claim ids are fetched.

        :raises PoolError: the pool cannot be observed, or the bundle has no live pool.
        :raises PluginFailureError: the plugin failed otherwise.
        """
        source, pool = self._pool()
        _called(source, pool.observe, ads)
        self.unanswered = tuple(ads.unanswered)
        ads.claims.clear()

    def settle(self, result: CycleResult, vault: ClaimVault) -> Sequence[Delivery]:
        """Hand out the matches of a cycle, in their order, and return what became of each."""
        source, pool = self._pool()
        found: dict[str, Delivery] = {}
        discarded = {job: each.reason for each in result.discarded for job in each.jobs}
        decisions = Decisions(result.matches, result.rejections, discarded, vault)
        failure = "the plugin did not say what became of the match"
        try:
            for each in _called(source, pool.deliver, decisions):
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

    def cycle_ended(self, summary: CycleSummary) -> tuple[HookFailure, ...]:
        """Let the pool publish the result of a cycle; a failure changes nothing else."""
        if self._opened is None:
            return ()
        source, _, pool = self._opened
        try:
            pool.cycle_ended(summary)
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, and nothing depends on it
            raise_if_interrupted(error)
            line = failed_line(error, pool.cycle_ended)
            hook = f"cycle_ended of the source {source.record.name}"
            return (HookFailure(source.plugin, source.version, hook, describe_error(error), line),)
        return ()

    def close_if_changed(self) -> bool:
        """Close the pool if the bundle in force has another one, or other settings for it; return whether it did.

        So what the new bundle forbids ends at once: who may send commands, and where they are accepted. New code of the same
        plugin waits for the next cycle.
        """
        if self._opened is None:
            return False
        now, (before, context, _) = self.bundle().source, self._opened
        is_same = now.chosen is not None and _identity(now.chosen) == _identity(before)
        if is_same and context == PoolContext(now.settings, self.is_observed):
            return False
        self.close()
        return True

    def close(self) -> None:
        """End all connections; the next call opens the pool again."""
        if self._opened is None:
            return
        (source, _, pool), self._opened = self._opened, None
        self._before = None
        try:
            pool.close()
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, and nothing depends on it
            raise_if_interrupted(error)
            _log.debug("plugin %s", source.plugin, exc_info=error)

    def _pool(self) -> tuple[Attributed[PoolSource], LivePool]:
        """Return the pool of the bundle that is in force."""
        bundle = self.bundle()
        source = bundle.source.chosen
        if source is None:
            raise PoolError("the bundle has no live pool: write source: NAME in pool.yaml")
        context = PoolContext(bundle.source.settings, self.is_observed)
        if self._opened is not None and self._opened[:2] != (source, context):
            self.close()
        if self._opened is None:
            pool = _called(source, source.record.open, context, self.control)
            if not isinstance(pool, LivePool):
                raise PluginFailureError(
                    f"plugin {source.plugin}: open of the source {source.record.name}: expected a LivePool, got"
                    f" {type(pool).__name__}"
                )
            self._opened = source, context, pool
        return source, self._opened[2]


def _identity(source: Attributed[PoolSource]) -> tuple[str, str]:
    """Return the plugin and the name of a source, which a reload of its code leaves as they are."""
    return source.plugin, source.record.name


def _called(source: Attributed[PoolSource], function: Callable[..., R], *args: object) -> R:
    """Call a function of the plugin; what it raises names it.

    :raises PoolError: it raised that.
    :raises PluginFailureError: it raised anything else.
    """
    try:
        return function(*args)
    except PoolError:
        raise
    except BaseException as error:
        raise_if_interrupted(error)
        line = failed_line(error, function)
        where = f" ({line})" if line else ""
        name = source.record.name
        raise PluginFailureError(
            f"plugin {source.plugin}: the source {name} failed: {describe_error(error)}{where}"
        ) from error
