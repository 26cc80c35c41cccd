"""Station *settle*, and the pool around it: where the ads of cycles come from, and where their matches go.

A pool of a plugin is behind a guard: it is opened for a bundle, closed for another one, and named in every failure. The ads of the last cycle are
saved in the folder of the state, for other processes that show a live pool: the canonical form of the snapshot, in gzip's format, without
claim ids, which no snapshot has.
"""

from __future__ import annotations

import gzip
import logging
import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, ParamSpec, TypeVar

import attrs

from negotiator.bundle import Bundle
from negotiator.cycle.claim_reuse import ReuseReport
from negotiator.cycle.result import CycleResult
from negotiator.defaults import SAVED_POOL
from negotiator.errors import PluginFailureError, PoolError
from negotiator.files import open_regular, replace_file
from negotiator.hooks.answers import Attributed, HookFailure
from negotiator.hooks.delivery import Delivery, DeliveryStatus
from negotiator.hooks.failures import describe_error, failed_line
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.overruns import Eviction, EvictionOutcome
from negotiator.hooks.plugin_output import running_plugin
from negotiator.hooks.pool_source import LivePool, ObservedPool, PoolSource
from negotiator.hooks.records import Match
from negotiator.hooks.reports import CycleSummary
from negotiator.pool import ClaimVault, Snapshot
from negotiator.records import Problem

Pool = TypeVar("Pool", LivePool, ObservedPool)
P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger(__name__)
_LEVEL: Final = (
    1  # the ads are seldom a tenth larger than at the highest level, which takes twenty times as long
)
_MODE: Final = 0o640
_LARGEST: Final = 4 << 30  # bytes of a snapshot


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


@attrs.frozen
class Shown:
    """Whether the decisions of a cycle were printed before its matches are handed out.

    ``is_complete``: the output has all matches, and was flushed. ``error``: the output could not be written.
    """

    is_complete: bool = False
    error: OSError | None = None


class CyclePool(ABC):
    """The pool of a running negotiator.

    ``is_shadow``: another negotiator serves the pool, so this one hands out nothing and charges nobody. ``can_evict``: running jobs
    can be asked to end. ``unanswered`` are the parts of the pool that did not answer when it was last read. ``reuse`` is what its
    schedds may do with claims; None if nobody claims anything. ``awaits_claims`` is set before each reading: there are matches
    whose claims the pool did not show yet.
    """

    is_shadow: ClassVar[bool] = False
    can_evict: ClassVar[bool] = False
    unanswered: Sequence[Problem] = ()
    reuse: ReuseReport | None = None
    awaits_claims: bool = False

    @abstractmethod
    def read(self) -> tuple[Snapshot, ClaimVault]:
        """Return the pool at present, and the claim ids of its slots.

        :raises PoolError: it cannot be read.
        :raises PluginFailureError: the plugin that reads it failed.
        """

    @abstractmethod
    def settle(self, result: CycleResult, vault: ClaimVault, shown: Shown) -> Sequence[Delivery]:
        """Hand out the matches of a cycle, in their order, and return what became of each.

        A failed delivery is part of the answer, never an exception. Only this method reads claim ids.
        """

    def evict(self, evictions: Sequence[Eviction]) -> Sequence[EvictionOutcome]:  # noqa: ARG002 - nobody can be asked
        """Ask for the end of running jobs; return what became of each request. None is asked for where nothing receives requests."""
        return ()

    def observed(self, deliveries: Sequence[Delivery]) -> tuple[Match, ...]:
        """Return the matches that observers are called with: those that were handed out."""
        return tuple(each.match for each in deliveries if each.is_handed_out)

    def cycle_ended(self, summary: CycleSummary) -> tuple[HookFailure, ...]:  # noqa: ARG002 - nothing to publish
        """Publish the result of a cycle, after its outcome is recorded; return what failed, which changes nothing else."""
        return ()

    def close_if_changed(self) -> bool:
        """Close the pool if the bundle that is in force has another one; return whether it did."""
        return False

    def close(self) -> None:  # noqa: B027 - a pool without connections has nothing to end
        """End all connections."""


@attrs.define(eq=False)
class FilePool(CyclePool):
    """A pool that ``reader`` reads from files. Its schedds and slots receive nothing: its matches are printed."""

    reader: Callable[[], Snapshot]

    def read(self) -> tuple[Snapshot, ClaimVault]:
        """Return the ads of the files, without claim ids."""
        return self.reader(), ClaimVault()

    def settle(self, result: CycleResult, vault: ClaimVault, shown: Shown) -> Sequence[Delivery]:  # noqa: ARG002 - no claim is sent
        """Return the matches as *printed* once the output was flushed, else as *unknown*."""
        status = DeliveryStatus.PRINTED if shown.is_complete else DeliveryStatus.UNKNOWN
        error = shown.error
        text = f"the output cannot be written: {error.strerror or error}" if error else ""
        return [Delivery(match, status, text) for match in result.matches]

    def observed(self, deliveries: Sequence[Delivery]) -> tuple[Match, ...]:
        """Return all matches: nobody receives them, so it does not matter which of them the output lists."""
        return tuple(each.match for each in deliveries if each.status is not DeliveryStatus.FAILED)


def save_pool(folder: Path, snapshot: Snapshot) -> None:
    """Replace the ads that are saved in the folder of a state.

    After a crash of the machine the file may be damaged, which a reader finds out: the next cycle writes it anew, so it is not worth
    the time to wait for the disk.

    :raises OSError: they cannot be written; the old file is unchanged.
    """
    content = gzip.compress(snapshot.encode(), _LEVEL, mtime=0)
    replace_file(folder / SAVED_POOL, content, mode=_MODE, durable=False)


def read_saved_pool(path: Path) -> Snapshot:
    """Return the ads that were saved.

    :raises PoolError: they cannot be read, or are damaged.
    """
    try:
        with os.fdopen(open_regular(path), "rb") as opened, gzip.GzipFile(fileobj=opened) as stream:
            data = stream.read(_LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise PoolError(f"{path}: cannot read the saved ads: {error}") from None
    if len(data) > _LARGEST:
        raise PoolError(f"{path}: the saved ads have more than {_LARGEST} bytes")
    try:
        return Snapshot.decode(data)
    except PoolError as error:
        raise PoolError(f"{path}: cannot read the saved ads: {error}") from None
