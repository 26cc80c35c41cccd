"""The present overview of a pool, read again when something has changed."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from typing import Final

import attrs

from negotiator.app.overview import PoolOverview, inputs, pool_overview, with_present_health
from negotiator.app.pool_view import PoolView, require_pool
from negotiator.errors import NegotiatorError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.failures import describe_error
from negotiator.pool.secrets import redact
from negotiator.service.answers import NotReadError
from negotiator.service.explanations import Explanations
from negotiator.service.history import PoolCount, PoolHistory
from negotiator.service.kept_answers import KeptAnswers

#: Seconds between two looks for changes.
_EVERY: Final = 5.0


@attrs.frozen(eq=False)
class ShownPool:
    """What requests are answered from: an overview, which never changes, and the answers that were made of it.

    ``explanations`` are about the same reading of the pool.
    """

    overview: PoolOverview
    explanations: Explanations
    answers: KeptAnswers = attrs.field(factory=KeptAnswers, init=False)


@attrs.define(eq=False)
class Overviews:
    """Reads the pool in a thread of its own, so that requests never wait for it; they get the last one that was read.

    ``failure`` is why the last reading failed, empty if it did not: the overview before it stays. ``when_read`` is called after
    each reading.
    """

    targets: CommandTargets
    clock: Callable[[], float] = time.time
    when_read: Callable[[], None] = lambda: None
    shown: ShownPool | None = attrs.field(default=None, init=False)
    failure: str = attrs.field(default="", init=False)
    history: PoolHistory = attrs.field(factory=PoolHistory, init=False)
    _inputs: object = attrs.field(default=None, init=False)
    _reading: threading.Lock = attrs.field(factory=threading.Lock, init=False)
    _stopped: threading.Event = attrs.field(factory=threading.Event, init=False)
    _thread: threading.Thread | None = attrs.field(default=None, init=False)

    @property
    def present(self) -> ShownPool:
        """What requests are answered from; :raises NotReadError: the pool has not been read yet."""
        if self.shown is None:
            raise NotReadError(self.failure or "the pool has not been read yet")
        return self.shown

    def start(self) -> None:
        """Read the pool once, and then in a thread whenever files have changed."""
        self.refresh()
        self._thread = threading.Thread(target=self._run, name="overviews", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; a reading that has begun is waited for."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def refresh(self) -> None:
        """Read the pool if something has changed since the last time; the health of the negotiator in any case."""
        with self._reading:
            found = inputs(self.targets)
            is_read_anew = found != self._inputs or bool(self.failure)
            self._inputs = found
            self._update(read_anew=is_read_anew)
            if is_read_anew:
                self.when_read()
            if self.shown is not None:
                contents = self.shown.overview.contents
                running = sum(bool(each.running) for each in contents.applications)
                self.history.add(PoolCount(self.clock(), running, contents.running_jobs))

    def _update(self, *, read_anew: bool) -> None:
        """Show the pool, or why it cannot be read."""
        shown = self.shown
        try:
            if shown is None or read_anew:
                require_pool(self.targets)
                overview = pool_overview(PoolView.load(self.targets))
            else:
                overview = with_present_health(shown.overview, self.targets)
        except NegotiatorError as error:
            self.failure = redact(str(error))
        except Exception as error:  # noqa: BLE001 - a mistake of ours must not end the thread: the last overview stays
            traceback.print_exc()
            self.failure = redact(f"internal error: {describe_error(error)}")
        else:
            self.failure = ""
            if shown is None or overview is not shown.overview:
                same = None if shown is None or read_anew else shown.explanations
                self.shown = ShownPool(overview, same or Explanations(self.targets, overview))

    def _run(self) -> None:
        while not self._stopped.wait(_EVERY):
            self.refresh()
