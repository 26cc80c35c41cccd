"""Who may send which command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from negotiator_live.security.server.authorization import AuthorizationTable
from negotiator_live.security.server.peer import Level, Peer
from negotiator_live.wire.commands import DaemonCommand

#: The method of the session that all daemons of one condor_master have.
FAMILY: Final = "FAMILY"


#: What condor_master's daemons may do at each other, whatever the lists say (``DaemonCore::Inherit``).
_OF_FAMILY: Final = frozenset(Level) - {Level.CONFIG}


#: Levels with which a command may be sent, too.
_ALTERNATIVES: Final = {DaemonCommand.RESCHEDULE: (Level.ADVERTISE_SCHEDD, Level.ADMINISTRATOR)}


@attrs.frozen
class CommandAccess:
    """The levels of the commands of a server, and who has which level. Implements ``Authorizer``.

    ``authenticated`` are the levels whose users must authenticate, whoever they are. ``resumable_commands`` may be sent in a
    session that is resumed. ``keys`` are the keys of ``htcondor:`` that name the users of a level, for hints; without one it is
    HTCondor's list.
    """

    levels: Mapping[DaemonCommand, Level]
    table: AuthorizationTable
    resumable_commands: frozenset[DaemonCommand]
    authenticated: frozenset[Level] = frozenset()
    keys: Mapping[Level, str] = attrs.field(factory=dict)

    def is_served(self, command: int) -> bool:
        """True if the server has the command."""
        return command in self.levels

    def needs_name(self, command: int, host: str) -> bool:
        """True if only authenticated peers may send the command from an address."""
        return not self.allows(Peer(host=host), command)

    def allows(self, peer: Peer, command: int) -> bool:
        """True if a peer may send the command."""
        return any(self._has(peer, level) for level in self._levels(command))

    def limited(self, peer: Peer, command: int) -> Peer:
        """Return the peer with the levels that a session may have that begins with this command.

        As with HTCondor's daemons, a claim (CLAIMTOBE) is good for the level of the command alone.
        """
        return peer.limited_to(self._levels(command)) if peer.method == "CLAIMTOBE" else peer

    def hint(self, peer: Peer, command: int) -> str:
        """Return what to configure so that a peer may send the command."""
        level = self.levels[DaemonCommand(command)]
        if not peer.may_use(level):
            return f"its token or its session is not good for {level}"
        if self.keys.get(level):
            name = peer.user or "* (which allows it to anybody)"
            return f"add {name} to {self.keys[level]} of htcondor: in pool.yaml to allow it"
        if level in self.keys:
            return f"nobody has {level} authorization at a negotiator"
        place = f"{peer.user or '*'}/{peer.host or '*'}"
        return (
            f"add {place} to ALLOW_{level} in HTCondor's configuration to allow it, and look at DENY_{level}"
        )

    def may_resume(self, command: int) -> bool:
        """True if the command may be sent in a session that is resumed."""
        return command in self.resumable_commands

    def resumable(self, peer: Peer) -> Iterable[int]:
        """Return the commands that a peer may send when it resumes its session."""
        return sorted(each for each in self.resumable_commands if self.allows(peer, each))

    def _levels(self, command: int) -> tuple[Level, ...]:
        known = DaemonCommand(command)
        return (self.levels[known], *_ALTERNATIVES.get(known, ()))

    def _has(self, peer: Peer, level: Level) -> bool:
        if not peer.may_use(level):
            return False
        if peer.method == FAMILY and level in _OF_FAMILY:
            return True
        if level in self.authenticated and not peer.user:
            return False
        return self.table.allows(peer.user, peer.host, level)
