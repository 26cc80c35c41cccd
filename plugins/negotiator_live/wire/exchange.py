"""The daemon, address, command and deadline of an exchange, for its errors."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from typing import Final

import attrs

from negotiator.plugin import printable
from negotiator_live.wire.addresses import DaemonAddress
from negotiator_live.wire.commands import DaemonCommand

TIMEOUT: Final = 60.0
"""Seconds for one exchange, if the caller does not choose."""


class DaemonKind(StrEnum):
    """The daemons of a pool that a negotiator speaks to, and the tools that speak to it."""

    COLLECTOR = "collector"
    SCHEDD = "schedd"
    STARTD = "startd"
    MASTER = "master"
    CLIENT = "client"

    @property
    def log(self) -> str:
        """Return the usual name of the daemon's log."""
        return {
            "collector": "CollectorLog",
            "schedd": "SchedLog",
            "startd": "StartLog",
            "master": "MasterLog",
        }.get(self, "log")


@attrs.frozen
class Deadline:
    """The moment at which an exchange must be over."""

    seconds: float
    clock: Callable[[], float] = attrs.field(default=time.monotonic, repr=False)
    end: float = attrs.field(init=False, repr=False)

    @end.default
    def _end(self) -> float:
        return self.clock() + self.seconds

    def remaining(self) -> float:
        """Return the seconds that remain; 0 or less after the deadline."""
        return self.end - self.clock()


@attrs.frozen
class Exchange:
    """A command to a daemon (or from one); printed it is the place of an error."""

    daemon: DaemonKind
    name: str
    address: DaemonAddress
    command: DaemonCommand

    def __str__(self) -> str:
        name = f" {printable(self.name)}" if self.name else ""
        return f"{self.daemon}{name} at {self.address.shown}, command {self.command.name}"
