"""Waits until this negotiator leads with a shared state, runs it, and waits again if another one has taken over."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import attrs

from negotiator.app.exclusive import hold_lock
from negotiator.bundle import Bundle
from negotiator.errors import LeadershipLostError, StateError
from negotiator.hooks.state_location import StateLocation
from negotiator.records.text import utc_time
from negotiator.runtime.cycle_timer import CycleTrigger
from negotiator.runtime.state import Leader, StateStore
from negotiator.runtime.status_file import NegotiatorStatus, write_status

_LONGEST_POLL: Final = 3.0  # seconds between two attempts to lead
_ATTEMPTS: Final = 5  # within the timeout of the database
_ENDINGS: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGQUIT") if hasattr(signal, name)
)


@attrs.define(eq=False)
class Standby:
    """Leads with a shared state as soon as no other negotiator does.

    :param bundle: the policy bundle now; the one that is in force is loaded when this negotiator leads.
    :param clock: returns the time in seconds since the epoch.
    :param trigger: ends the wait, and the cycles, if a signal ends the process.
    :param report: called with a sentence when this negotiator begins to wait, to lead, and when it leads no more.
    """

    location: StateLocation
    bundle: Bundle
    clock: Callable[[], float]
    report: Callable[[str], None]
    trigger: CycleTrigger
    _reported: str = attrs.field(default="", init=False)

    def run(self, lead: Callable[[StateStore], bool]) -> bool:
        """Call ``lead`` with the state while this negotiator leads; return its result, or True if a signal ended the wait.

        :raises StateError: the state cannot be used at the start, or for another reason than lost leadership.
        """
        with _ending_by_signals(self.trigger):
            while (store := self._wait()) is not None:
                with store:
                    if self._reported:
                        self._report(f"{self.location}: this negotiator leads from now on")
                        self._reported = ""
                    try:
                        return lead(store)
                    except StateError as error:
                        if not _is_lost(error):
                            raise
                        self._report(f"{error}: it waits as standby", standby="it has lost the shared state")
        return True

    def _wait(self) -> StateStore | None:
        """Return the state once this negotiator leads with it; None if a signal ends the process before."""
        store = None if self._reported else self._open()
        try:
            while not self.trigger.is_ending:
                try:
                    store = store or self._open()
                    if store.hold_lock():
                        leading, store = store, None
                        return leading
                    self._stand_by(store.leader)
                except StateError as error:
                    if store is not None:
                        store.close()
                        store = None
                    self._report(str(error), failure=str(error))
                self.trigger.wait(self._poll)
        finally:
            if store is not None:
                store.close()
        return None

    def _open(self) -> StateStore:
        """Open the state, and lock the folder: no other process may write the files there.

        :raises StateError: it cannot be used.
        """
        store = StateStore.open(self.location)
        try:
            hold_lock(store.hold_folder, f"{self.location.folder}: another negotiator uses this folder")
        except BaseException:
            store.close()
            raise
        return store

    @property
    def _poll(self) -> float:
        timeout = self.location.database.timeout if self.location.database else _LONGEST_POLL
        return min(_LONGEST_POLL, timeout / _ATTEMPTS)

    def _stand_by(self, leader: Leader | None) -> None:
        if leader is None:
            return  # nobody any more
        since = utc_time(leader.since)
        text = f"process {leader.process} on {leader.host} leads since {since}"
        self._report(f"{self.location}: standby: {text}", standby=text)

    def _report(self, text: str, *, standby: str = "", failure: str = "") -> None:
        """Report what has changed, and write it into the status."""
        if text == self._reported:
            return
        self._reported = text
        self.report(text)
        now = NegotiatorStatus.of_this_process(self.clock(), self.bundle.digest, 0.0)
        try:
            write_status(self.location.folder, attrs.evolve(now, standby=standby, failure=failure))
        except OSError as error:
            self.report(f"{self.location.folder}: cannot write the status: {error.strerror or error}")


def _is_lost(error: BaseException | None) -> bool:
    """True if an exception, or a cause of it, is lost leadership."""
    while error is not None and not isinstance(error, LeadershipLostError):
        error = error.__cause__
    return error is not None


@contextmanager
def _ending_by_signals(trigger: CycleTrigger) -> Iterator[None]:
    """Let the signals that end a negotiator end a wait for the trigger; while cycles run, their timer handles them.

    SIGHUP has no effect: the bundle is loaded when this negotiator leads.
    """

    def end(*_: Any) -> None:
        trigger.is_ending = True
        trigger.wake()

    handlers = {signal.SIGHUP: lambda *_: None, **dict.fromkeys(_ENDINGS, end)}
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, handler) for number, handler in handlers.items() if is_main}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
