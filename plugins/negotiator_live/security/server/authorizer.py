"""What a server of commands answers the handshake: which commands it has, and who may send them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import attrs

from negotiator_live.security.errors import AuthorizationError
from negotiator_live.security.server.peer import Peer
from negotiator_live.wire.channel import Channel


class Authorizer(Protocol):
    """Decides who may send which command."""

    def is_served(self, command: int) -> bool:
        """True if the server has the command."""

    def needs_name(self, command: int, host: str) -> bool:
        """True if only authenticated peers may send the command from an address."""

    def allows(self, peer: Peer, command: int) -> bool:
        """True if a peer may send the command."""

    def limited(self, peer: Peer, command: int) -> Peer:
        """Return the peer with the levels that a session may have that begins with this command."""

    def hint(self, peer: Peer, command: int) -> str:
        """Return what to configure so that a peer may send the command."""

    def may_resume(self, command: int) -> bool:
        """True if the command may be sent in a session that is resumed."""

    def resumable(self, peer: Peer) -> Iterable[int]:
        """Return the commands that a peer may send when it resumes its session."""


def check_allowed(channel: Channel, authorizer: Authorizer, peer: Peer, command: int) -> None:
    """Let the errors of this connection name the peer from here on.

    :raises AuthorizationError: it may not send the command.
    """
    channel.packets.exchange = attrs.evolve(channel.exchange, name=peer.name)
    if not authorizer.allows(peer, command):
        raise AuthorizationError(channel.exchange, "PERMISSION DENIED", authorizer.hint(peer, command))
