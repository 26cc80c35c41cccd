"""A pool of a plugin behind its guard: opened for a bundle, closed for another one, named in every failure."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

import attrs

from negotiator.bundle import Bundle
from negotiator.errors import PluginFailureError, PoolError
from negotiator.hooks.answers import Attributed
from negotiator.hooks.failures import describe_error, failed_line
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.plugin_output import running_plugin
from negotiator.hooks.pool_source import LivePool, ObservedPool, PoolSource

Pool = TypeVar("Pool", LivePool, ObservedPool)
P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger(__name__)


@attrs.define(eq=False)
class OpenedPool(Generic[Pool]):
    """The pool of the bundle that is in force; opened when it is used first, and again for other settings.

    :param bundle: returns the bundle that is in force.
    :param kind: the class that the plugin's pool must have.
    :param opener: opens the pool of a source with settings.
    """

    bundle: Callable[[], Bundle]
    kind: type  # the abstract class, which type[Pool] excludes
    opener: Callable[[PoolSource, Any], Pool]
    _opened: tuple[Attributed[PoolSource], object, Pool] | None = attrs.field(default=None, init=False)

    def get(self) -> tuple[Attributed[PoolSource], Pool]:
        """Return the pool and its source.

        :raises PoolError: the bundle has none, or it cannot be opened.
        :raises PluginFailureError: the plugin failed otherwise.
        """
        bundle = self.bundle()
        source, settings = bundle.source.chosen, bundle.source.settings
        if source is None:
            raise PoolError("the bundle has no live pool: write source: NAME in pool.yaml, such as htcondor")
        if self._opened is not None and self._opened[:2] != (source, settings):
            self.close()
        if self._opened is None:
            pool = called(source, self.opener, source.record, settings)
            if not isinstance(pool, self.kind):
                raise PluginFailureError(
                    f"plugin {source.plugin}: the source {source.record.name}: expected a pool of the class"
                    f" {self.kind.__name__}, got {type(pool).__name__}"
                )
            self._opened = source, settings, pool
        return source, self._opened[2]

    @property
    def is_open(self) -> bool:
        """True if ``get`` was called, and not ``close`` since."""
        return self._opened is not None

    def close_if_changed(self) -> bool:
        """Close the pool if the bundle in force has another one, or other settings for it; return whether it did.

        So what the new bundle forbids ends at once: who may send commands, and where they are accepted. New code of the same
        plugin waits for the next cycle.
        """
        if self._opened is None:
            return False
        now, (before, settings, _) = self.bundle().source, self._opened
        is_same = now.chosen is not None and _identity(now.chosen) == _identity(before)
        if is_same and settings == now.settings:
            return False
        self.close()
        return True

    def close(self) -> None:
        """End all connections; ``get`` opens them again."""
        if self._opened is None:
            return
        (source, _, pool), self._opened = self._opened, None
        try:
            pool.close()
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, and nothing depends on it
            raise_if_interrupted(error)
            _log.debug("plugin %s", source.plugin, exc_info=error)


def _identity(source: Attributed[PoolSource]) -> tuple[str, str]:
    """Return the plugin and the name of a source, which a reload of its code leaves as they are."""
    return source.plugin, source.record.name


def called(source: Attributed[PoolSource], function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function of a source's plugin; see ``called_within``."""
    return called_within(0.0, source, function, *args, **kwargs)


def called_within(
    longest_step: float,
    source: Attributed[PoolSource],
    function: Callable[P, R],
    *args: P.args,
    **kwargs: P.kwargs,
) -> R:
    """Call a function of a source's plugin; a failure names the plugin. A signal ends the process if it does not return.

    :param longest_step: the seconds that it may then take without progress.
    :raises PoolError: the function raised that.
    :raises PluginFailureError: it raised anything else.
    """
    try:
        with running_plugin(f"the source {source.record.name} of the plugin {source.plugin}", longest_step):
            return function(*args, **kwargs)
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
