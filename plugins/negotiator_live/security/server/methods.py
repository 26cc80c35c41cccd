"""Authenticates clients by the methods that both sides have, one after the other.

Source: ``authentication.cpp``.
"""

from __future__ import annotations

from typing import Final

import attrs

from negotiator_live.security.policy import AuthMethod
from negotiator_live.security.server.filesystem import FilesystemVerifier
from negotiator_live.security.server.peer import Peer, is_user
from negotiator_live.security.server.tokens import TokenVerifier
from negotiator_live.wire.channel import Channel

_NONE: Final = 0
_CLAIMS: Final = 1


@attrs.frozen
class Verifiers:
    """How clients can prove who they are. ``accepts_claims``: also by CLAIMTOBE, which proves nothing."""

    filesystem: FilesystemVerifier | None = None
    tokens: TokenVerifier | None = None
    accepts_claims: bool = False

    def usable(self, methods: tuple[AuthMethod, ...]) -> tuple[AuthMethod, ...]:
        """Return which methods this server has, in their order."""
        have = {
            AuthMethod.FS: self.filesystem is not None,
            AuthMethod.IDTOKENS: self.tokens is not None and bool(self.tokens.keys.names()),
            AuthMethod.CLAIMTOBE: self.accepts_claims,
        }
        return tuple(method for method in methods if have[method])

    def authenticate(self, channel: Channel, methods: tuple[AuthMethod, ...]) -> Peer | None:
        """Let the client try methods until one succeeds, and return who it is; None if it has no further one.

        :raises DaemonError: the client does not keep to the protocol.
        """
        remaining = methods
        while True:
            offered = channel.get_int()
            channel.end_received()
            chosen = next((method for method in remaining if offered & method), None)
            channel.put_int(_NONE if chosen is None else chosen)
            channel.end_message()
            if chosen is None:
                return None
            peer = self._verified(channel, chosen)
            if peer is not None:
                channel.put_int(0)  # no session key is sent: one is agreed on
                channel.end_message()
                return peer
            remaining = tuple(method for method in remaining if method is not chosen)

    def _verified(self, channel: Channel, method: AuthMethod) -> Peer | None:
        if method is AuthMethod.FS and self.filesystem is not None:
            return self.filesystem.verify(channel)
        if method is AuthMethod.IDTOKENS and self.tokens is not None:
            return self.tokens.verify(channel)
        return _claimed(channel)


def _claimed(channel: Channel) -> Peer | None:
    """Return who a client claims to be (``condor_auth_claim.cpp``)."""
    claims = channel.get_int() == _CLAIMS
    user = channel.get_string() if claims else ""
    channel.end_received()
    accepted = is_user(user)
    if claims:
        channel.put_int(_CLAIMS if accepted else 0)
        channel.end_message()
    return Peer(user, "CLAIMTOBE") if accepted else None
