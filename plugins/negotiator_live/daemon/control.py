"""The commands that control the negotiator itself, and those that do nothing but test a connection.

Source: ``daemon_core_main.cpp``.
"""

from __future__ import annotations

import secrets
from typing import Final

from negotiator_live.daemon.request import CommandHandler, CommandRequest
from negotiator_live.security.server.peer import Level
from negotiator_live.wire.commands import DaemonCommand

_INSTANCE: Final = secrets.token_hex(8).encode("ascii")


def reschedule(request: CommandRequest) -> None:
    """Start the next cycle now: a schedd has new jobs."""
    request.end_without_message()
    request.control.start_cycle()


def reconfigure(request: CommandRequest) -> None:
    """Load the bundle again, and with it HTCondor's configuration, which tools ask for too."""
    request.end_without_message()
    request.control.reload(request.user)


def stop(request: CommandRequest) -> None:
    """End the negotiator: the present cycle ends before its next turn."""
    request.end_without_message()
    request.control.stop()


def nothing(request: CommandRequest) -> None:
    """Do nothing: the peer learns whether it may send such a command."""
    request.end_without_message()


def instance(request: CommandRequest) -> None:
    """Send a number that stays as long as this process lives."""
    request.end_without_message()
    request.channel.put_bytes(_INSTANCE)
    request.channel.end_message()


_COMMAND: Final = DaemonCommand
HANDLERS: Final[dict[DaemonCommand, tuple[Level, CommandHandler]]] = {
    _COMMAND.RESCHEDULE: (Level.DAEMON, reschedule),
    _COMMAND.DC_RECONFIG: (Level.ADMINISTRATOR, reconfigure),
    _COMMAND.DC_RECONFIG_FULL: (Level.ADMINISTRATOR, reconfigure),
    _COMMAND.DC_OFF_GRACEFUL: (Level.ADMINISTRATOR, stop),
    _COMMAND.DC_OFF_PEACEFUL: (Level.ADMINISTRATOR, stop),
    _COMMAND.DC_OFF_FAST: (Level.ADMINISTRATOR, stop),
    _COMMAND.DC_OFF_FORCE: (Level.ADMINISTRATOR, stop),
    _COMMAND.DC_QUERY_INSTANCE: (Level.ALLOW, instance),
    _COMMAND.DC_NOP: (Level.ALLOW, nothing),
    _COMMAND.DC_NOP_READ: (Level.READ, nothing),
    _COMMAND.DC_NOP_WRITE: (Level.WRITE, nothing),
    _COMMAND.DC_NOP_NEGOTIATOR: (Level.NEGOTIATOR, nothing),
    _COMMAND.DC_NOP_ADMINISTRATOR: (Level.ADMINISTRATOR, nothing),
    _COMMAND.DC_NOP_OWNER: (Level.ADMINISTRATOR, nothing),
    _COMMAND.DC_NOP_CONFIG: (Level.CONFIG, nothing),
    _COMMAND.DC_NOP_DAEMON: (Level.DAEMON, nothing),
    _COMMAND.DC_NOP_ADVERTISE_STARTD: (Level.ADVERTISE_STARTD, nothing),
    _COMMAND.DC_NOP_ADVERTISE_SCHEDD: (Level.ADVERTISE_SCHEDD, nothing),
    _COMMAND.DC_NOP_ADVERTISE_MASTER: (Level.ADVERTISE_MASTER, nothing),
}
"""The handlers of these commands, and the authorization that each needs."""

HARMLESS: Final = frozenset(
    command for command, (_, handler) in HANDLERS.items() if handler in {nothing, instance, reschedule}
)
"""The commands that anybody may repeat who has seen them on the network."""
