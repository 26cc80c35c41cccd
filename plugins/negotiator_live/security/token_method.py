"""Authentication by a token: AKEP2, by which both sides show that they know its signature without sending it.

Source: ``condor_auth_passwd.cpp`` (version 2 of its protocol).
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable
from typing import Final

import attrs

from negotiator_live.security.keys import SessionKey, derived_key
from negotiator_live.security.token_seeds import SEED_K
from negotiator_live.security.tokens import Token
from negotiator_live.wire.channel import Channel

NONCE: Final = 256
"""Bytes of a nonce."""

GOOD: Final = 0
"""The status of a side that goes on."""

LONGEST_MAC: Final = 64
"""Bytes of a MAC at most."""

_ERROR: Final = -1


@attrs.frozen
class _Challenge:
    """What the daemon answers: both names, both nonces, and a MAC of them."""

    status: int
    client: str
    server: str
    ours: bytes
    theirs: bytes
    mac: bytes


def authenticate_with_token(
    channel: Channel, token: Token, random_bytes: Callable[[int], bytes] = os.urandom
) -> bool:
    """Prove that this side has a token, and that the daemon has the key that signed it.

    :raises DaemonError: the daemon does not keep to the protocol.
    """
    nonce = random_bytes(NONCE)
    _send_names(channel, token, nonce)
    challenge = _receive(channel)
    key = derived_key(token.signature.reveal(), SEED_K + token.signed.encode("ascii"), b"master ka")
    good = _is_valid(challenge, token.subject, nonce, key)
    _send_proof(channel, token.subject, challenge.theirs, key if good else None)
    return good


def _send_names(channel: Channel, token: Token, nonce: bytes) -> None:
    channel.put_int(GOOD)
    channel.put_int(len(token.subject.encode()))
    channel.put_string(token.subject)
    channel.put_string(token.signed)
    put_bytes(channel, nonce)
    channel.end_message()


def _receive(channel: Channel) -> _Challenge:
    status = channel.get_int()
    names = []
    for _ in range(2):
        channel.get_int()  # the length, which the string has too
        names.append(channel.get_string())
    ours, theirs = get_bytes(channel, NONCE), get_bytes(channel, NONCE)
    mac = get_bytes(channel, LONGEST_MAC)
    channel.end_received()
    return _Challenge(status, names[0], names[1], ours, theirs, mac)


def _is_valid(challenge: _Challenge, client: str, nonce: bytes, key: SessionKey) -> bool:
    """True if the daemon answered to this client's nonce and knows the key."""
    names = f"{client} {challenge.server}".encode()
    expected = token_mac(key, names + b"\0" + nonce + challenge.theirs)
    return (
        challenge.status == GOOD
        and challenge.client == client
        and bool(challenge.server)
        and len(challenge.theirs) == NONCE
        and hmac.compare_digest(challenge.ours, nonce)
        and hmac.compare_digest(challenge.mac, expected)
    )


def _send_proof(channel: Channel, client: str, nonce: bytes, key: SessionKey | None) -> None:
    """Send the MAC of the daemon's nonce; without a key, that this side gives up."""
    name = client if key else ""
    channel.put_int(GOOD if key else _ERROR)
    channel.put_int(len(name.encode()))
    channel.put_string(name)
    put_bytes(channel, nonce if key else b"")
    put_bytes(channel, token_mac(key, client.encode() + b"\0" + nonce) if key else b"")
    channel.end_message()


def token_mac(key: SessionKey, data: bytes) -> bytes:
    """Return the MAC of the protocol, of some data."""
    return hmac.digest(key.reveal(), data, hashlib.sha1)


def put_bytes(channel: Channel, data: bytes) -> None:
    """Add bytes to the message, after their number."""
    channel.put_int(len(data))
    channel.put_bytes(data)


def get_bytes(channel: Channel, most: int) -> bytes:
    """Return the next bytes of the message, of which there are at most so many.

    :raises MalformedMessageError: there are more.
    """
    return channel.get_bytes(channel.get_int(), most)
