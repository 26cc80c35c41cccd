"""Who may send which command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from negotiator_live.security.server.peer import Level, Peer
from negotiator_live.security.users import ANYBODY, matches
from negotiator_live.wire.commands import DaemonCommand


@attrs.frozen
class CommandAccess:
    """The levels of the commands of a server, and the users that have each level. Implements ``Authorizer``.

    ``users`` are patterns by setting: ``readers``, ``daemons`` and ``administrators``. ``resumable_commands`` may be sent in a
    session that is resumed.
    """

    levels: Mapping[DaemonCommand, Level]
    users: Mapping[str, tuple[str, ...]]
    resumable_commands: frozenset[DaemonCommand]

    def is_served(self, command: int) -> bool:
        """True if the server has the command."""
        return command in self.levels

    def needs_name(self, command: int) -> bool:
        """True if only authenticated peers may send the command."""
        return not self._has("", self.levels[DaemonCommand(command)])

    def allows(self, peer: Peer, command: int) -> bool:
        """True if a peer may send the command."""
        level = self.levels[DaemonCommand(command)]
        return peer.may_use(level) and self._has(peer.user, level)

    def limited(self, peer: Peer, command: int) -> Peer:
        """Return the peer with the levels that a session may have that begins with this command.

        As with HTCondor's daemons, a claim (CLAIMTOBE) is good for the level of the command alone.
        """
        level = self.levels[DaemonCommand(command)]
        return peer.limited_to([level]) if peer.method == "CLAIMTOBE" else peer

    def hint(self, peer: Peer, command: int) -> str:
        """Return what to configure so that a peer may send the command."""
        level = self.levels[DaemonCommand(command)]
        if not peer.may_use(level):
            return f"its token or its session is not good for {level}"
        settings = _SETTINGS[level]
        if not settings:
            return f"nobody has {level} authorization at a negotiator"
        name = peer.user or f"{ANYBODY} (which allows it to anybody)"
        return f"add {name} to {settings[0]} of htcondor: in pool.yaml to allow it"

    def may_resume(self, command: int) -> bool:
        """True if the command may be sent in a session that is resumed."""
        return command in self.resumable_commands

    def resumable(self, peer: Peer) -> Iterable[int]:
        """Return the commands that a peer may send when it resumes its session."""
        return sorted(each for each in self.resumable_commands if self.allows(peer, each))

    def _has(self, user: str, level: Level) -> bool:
        if level is Level.ALLOW:
            return True
        return any(matches(user, self.users[setting]) for setting in _SETTINGS[level])


_OF_DAEMONS: Final = ("daemons", "administrators")
#: The settings with the users of each level; the first one is the usual one.
_SETTINGS: Final[Mapping[Level, tuple[str, ...]]] = {
    Level.ALLOW: (),
    Level.READ: ("readers", *_OF_DAEMONS),
    Level.WRITE: _OF_DAEMONS,
    Level.DAEMON: _OF_DAEMONS,
    Level.ADVERTISE_SCHEDD: _OF_DAEMONS,
    Level.ADMINISTRATOR: ("administrators",),
    Level.NEGOTIATOR: (),
    Level.CONFIG: (),
    Level.ADVERTISE_STARTD: (),
    Level.ADVERTISE_MASTER: (),
}
