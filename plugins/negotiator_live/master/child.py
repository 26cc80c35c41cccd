"""What condor_master expects of this process, whatever its pool is: signs of life, and logs that do not grow for ever.

condor_master ends a child whose last DC_CHILDALIVE is longer ago than the seconds that this command has. Source:
``daemon_keep_alive.cpp``. condor_negotiator sends it between two cycles only; this program also while a cycle makes progress.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Final

import attrs

from negotiator.plugin import PoolControl
from negotiator_live.master.daemon_log import DaemonLog, LogFile, daemon_log
from negotiator_live.master.handover import handover
from negotiator_live.master.inheritance import Inheritance
from negotiator_live.security.client import SecureClient
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import DaemonError
from negotiator_live.wire.exchange import DaemonKind, Deadline, Exchange

_lock = threading.Lock()
_names: set[str] = set()
_EARLIER: Final = 30.0  # seconds that a third of the timeout is shortened by, as HTCondor does
_SHORTEST: Final = 1.0
_LOOK: Final = 5.0  # seconds at most between two looks whether the negotiator made progress
_LOOKS: Final = 10  # within the timeout at least
_PATIENCE: Final = 60.0
_LOG_PAUSE: Final = 1.0  # seconds between two looks at the size of the log


def repeat(name: str, pause: float, work: Callable[[], object]) -> None:
    """Call a function again and again in a thread of this name, with pauses of so many seconds. It is started once."""

    def run() -> None:
        while True:
            work()
            time.sleep(pause)

    with _lock:
        if name not in _names:
            threading.Thread(target=run, name=name, daemon=True).start()
            _names.add(name)


@attrs.define(eq=False)
class KeepAlive:
    """Decides when to send, and sends.

    It sends a third of the timeout after the last time, and only if the negotiator made progress since.

    :param monotonic: returns seconds from any beginning.
    """

    inherited: Inheritance
    control: PoolControl
    client: SecureClient = attrs.field(factory=SecureClient)
    monotonic: Callable[[], float] = time.monotonic
    _sent: float | None = attrs.field(default=None, init=False)

    @property
    def pause(self) -> float:
        """The seconds between two looks."""
        return min(_LOOK, self.inherited.not_responding_timeout / _LOOKS)

    def look(self) -> bool:
        """Send if it is time, and return whether that was done; a failure is reported, and the next look tries again."""
        now = self.monotonic()
        interval = max(self.inherited.not_responding_timeout / 3 - _EARLIER, _SHORTEST)
        if self._sent is not None:
            passed = now - self._sent
            if passed < interval or self.control.idle_seconds() >= passed:
                return False
        try:
            self._send()
        except DaemonError as error:
            self.control.notice(str(error))
            return False
        self._sent = now
        return True

    def _send(self) -> None:
        seconds = self.inherited.not_responding_timeout
        exchange = Exchange(DaemonKind.MASTER, "", self.inherited.master, DaemonCommand.DC_CHILDALIVE)
        deadline = Deadline(min(_PATIENCE, float(seconds)))
        with self.client.open(exchange, deadline, self.inherited.session) as channel:
            channel.put_int(os.getpid())
            channel.put_int(seconds)
            channel.put_real(0.0)  # the share of time that it waited for the lock of its log
            channel.end_message()


def begin(control: PoolControl) -> tuple[Inheritance | None, DaemonLog]:
    """Begin it, for as long as the process lives.

    Return what condor_master passed on, None if it did not start this process, and the log for lines of the pool.
    """
    received = handover()
    pool_log = daemon_log(received)
    if received is None:
        return None, pool_log
    logs = [LogFile.of(received)] if received.log else []
    if pool_log.match_log is not None:
        logs.append(pool_log.match_log)
    if logs:
        repeat("log", _LOG_PAUSE, lambda: _look(logs, control))
    inherited = Inheritance.of(received)
    if inherited is not None:
        sender = KeepAlive(inherited, control)
        repeat("keep_alive", sender.pause, sender.look)
    return inherited, pool_log


def _look(logs: list[LogFile], control: PoolControl) -> None:
    for log in logs:
        try:
            log.look()
        except OSError as error:
            control.notice(
                f"{log.path}: the log cannot be replaced: {error.strerror or error}: it goes on in the old one"
            )
