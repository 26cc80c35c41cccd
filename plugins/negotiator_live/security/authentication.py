"""Authenticates this client to a daemon by the methods that both have, one after the other.

Source: ``authentication.cpp``.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import attrs

from negotiator_live.security.methods import FilesystemMethod, authenticate_with_token, claim_to_be
from negotiator_live.security.policy import AuthMethod, methods_in
from negotiator_live.security.tokens import Token, TokenFiles
from negotiator_live.wire.ads import WireAd
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.errors import malformed

_NONE: Final = 0


@attrs.frozen
class Credentials:
    """What this client can show of itself.

    ``claimed_user`` is the name for CLAIMTOBE, such as ``condor@example.org``; "" never claims.
    """

    filesystem: FilesystemMethod | None = attrs.field(factory=FilesystemMethod)
    tokens: TokenFiles = attrs.field(factory=TokenFiles)
    claimed_user: str = ""

    @classmethod
    def with_token_file(cls, path: Path) -> Credentials:
        """Return credentials that are the tokens of one file or folder only."""
        return cls(filesystem=None, tokens=TokenFiles((path,)))

    def usable(self, allowed: Iterable[AuthMethod], token: Token | None) -> tuple[AuthMethod, ...]:
        """Return which methods can be tried, in their order."""
        have = {
            AuthMethod.FS: self.filesystem is not None,
            AuthMethod.IDTOKENS: token is not None,
            AuthMethod.CLAIMTOBE: bool(self.claimed_user),
        }
        return tuple(method for method in allowed if have[method])


def authenticate(
    channel: Channel, credentials: Credentials, allowed: tuple[AuthMethod, ...], policy: WireAd
) -> bool:
    """Authenticate by the methods of a daemon's ``policy`` that are ``allowed``; return whether one succeeded.

    A method that fails is followed by the next one.

    :raises DaemonError: the daemon does not keep to the protocol.
    """
    keys = policy.string("IssuerKeys").replace(",", " ").split()
    token = credentials.tokens.find(policy.string("TrustDomain"), keys)
    offered = methods_in(policy.string("AuthMethodsList") or policy.string("AuthMethods"))
    remaining = credentials.usable((method for method in offered if method in allowed), token)
    while remaining or not is_required(policy):
        channel.put_int(sum(remaining))
        channel.end_message()
        chosen = channel.get_int()
        channel.end_received()
        if chosen == _NONE:
            return False
        if chosen not in remaining:
            raise malformed(
                channel.exchange, f"an authentication method was chosen that was not offered ({chosen})"
            )
        if _succeeds(channel, credentials, AuthMethod(chosen), token):
            _end(channel)
            return True
        remaining = tuple(method for method in remaining if method != chosen)
    return False


def is_required(policy: WireAd) -> bool:
    """True if a daemon's ``policy`` requires that authentication succeeds."""
    return policy.get("AuthRequired", "true").lower() == "true"


def _end(channel: Channel) -> None:
    """Receive the session key, which is none: one is agreed on otherwise."""
    if channel.get_int() != 0:
        raise malformed(channel.exchange, "a session key was sent although one is agreed on")
    channel.end_received()


def _succeeds(channel: Channel, credentials: Credentials, method: AuthMethod, token: Token | None) -> bool:
    if method is AuthMethod.FS and credentials.filesystem is not None:
        return credentials.filesystem.authenticate(channel)
    if method is AuthMethod.IDTOKENS and token is not None:
        return authenticate_with_token(channel, token)
    return claim_to_be(channel, credentials.claimed_user)
