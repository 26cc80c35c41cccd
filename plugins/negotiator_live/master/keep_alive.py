"""Keeps condor_master from ending this process as one that hangs, as long as it works.

condor_master ends a child whose last DC_CHILDALIVE is longer ago than the seconds that this command has. Source:
``daemon_keep_alive.cpp``. condor_negotiator sends it between two cycles only; this program also while a cycle makes progress.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final

import attrs

from negotiator.plugin import PoolControl
from negotiator_live.master.inheritance import Inheritance
from negotiator_live.security.client import SecureClient
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import DaemonError
from negotiator_live.wire.exchange import DaemonKind, Deadline, Exchange

_EARLIER: Final = 30.0  # seconds that a third of the timeout is shortened by, as HTCondor does
_SHORTEST: Final = 1.0
_LOOK: Final = 5.0  # seconds at most between two looks whether the negotiator made progress
_LOOKS: Final = 10  # within the timeout at least
_PATIENCE: Final = 60.0


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
