"""All commands of the daemon: their handlers, and the authorization that each needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from negotiator_live.daemon import account_changes, account_queries, configuration, control
from negotiator_live.daemon.request import CommandHandler
from negotiator_live.security.server.peer import Level
from negotiator_live.wire.commands import DaemonCommand

HANDLERS: Final[Mapping[DaemonCommand, CommandHandler]] = {
    **account_changes.HANDLERS,
    **account_queries.HANDLERS,
    **configuration.QUERIES,
    **configuration.CHANGES,
    **configuration.LOGS,
    **{command: handler for command, (_, handler) in control.HANDLERS.items()},
}
"""What carries out each command."""

LEVELS: Final[Mapping[DaemonCommand, Level]] = {
    **dict.fromkeys(account_changes.HANDLERS, Level.ADMINISTRATOR),
    **dict.fromkeys((*account_queries.HANDLERS, *configuration.QUERIES), Level.READ),
    **dict.fromkeys(configuration.CHANGES, Level.DAEMON),
    **dict.fromkeys(configuration.LOGS, Level.ADMINISTRATOR),
    **{command: level for command, (level, _) in control.HANDLERS.items()},
}
"""The authorization that each command needs."""

_WITHOUT_MESSAGE: Final = frozenset({*control.HANDLERS, DaemonCommand.RESET_ALL_USAGE})

RESUMABLE: Final = frozenset(
    command for command in LEVELS if command not in _WITHOUT_MESSAGE or command in control.HARMLESS
)
"""The commands that may be sent in a session that is resumed: whose message shows that the peer has the key, or harmless ones."""
