"""The methods by which this program authenticates itself to a daemon.

By a token (IDTOKENS): AKEP2, by which both sides show that they know its signature without sending it. By a claim (CLAIMTOBE): the daemon
accepts any name, for pools that trust everyone. By the file system (FS): the daemon, which must run on this host, names a directory, and who
can make it is its owner. Source: ``condor_auth_passwd.cpp`` (version 2 of its protocol), ``condor_auth_fs.cpp``.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import attrs

from negotiator_live.security.cipher import SessionKey, derived_key
from negotiator_live.security.tokens import SEED_K, Token
from negotiator_live.wire.channel import Channel

_NAME: Final = re.compile(r"FS_([0-9A-Fa-f.:\[\]]+)_(\d{1,5})_[A-Za-z0-9]+_?", re.ASCII)
_SHARED_PORT: Final = "?sock="
_FAILED: Final = -1
_SUCCESS = 1
NONCE: Final = 256
"""Bytes of a nonce."""
GOOD: Final = 0
"""The status of a side that goes on."""
LONGEST_MAC: Final = 64
"""Bytes of a MAC at most."""
_ERROR: Final = -1


@attrs.frozen
class FilesystemMethod:
    """Makes the directory that a daemon asks for, in ``directory`` only.

    ``root`` is where the daemon sees ``/``; ``owner`` is the user id that the directory gets, if this process may give it
    away (HTCondor's daemons authenticate as ``condor``).
    """

    directory: str = "/tmp"  # noqa: S108 - where HTCondor's daemons ask for it (FS_LOCAL_DIR)
    root: Path = Path("/")
    owner: int | None = None

    def authenticate(self, channel: Channel) -> bool:
        """Prove who this is.

        :raises DaemonError: the daemon does not keep to the protocol.
        """
        name = channel.get_string()
        channel.end_received()
        address = channel.packets.peer_address()
        extension = _extension(address, channel.exchange.address.shared_port_id) if name.endswith("_") else ""
        made = self._make(name, extension, address)
        try:
            channel.put_int(0 if made else _FAILED)
            if extension:
                channel.put_string(extension)
            channel.end_message()
            result = channel.get_int()
            channel.end_received()
        finally:
            if made is not None:
                with contextlib.suppress(OSError):  # the daemon may have removed it
                    made.rmdir()
        return made is not None and result == 0

    def _make(self, name: str, extension: str, address: tuple[str, int]) -> Path | None:
        """Make the directory; return None if a daemon must not request it, or it cannot be made."""
        parent, _, last = name.rpartition("/")
        found = _NAME.fullmatch(last)
        if parent != self.directory.rstrip("/") or found is None or "/" in extension:
            return None
        if not extension and (found[1].strip("[]"), int(found[2])) != address[:2]:
            return None  # it was asked for over another connection
        path = self.root / (name + extension).lstrip("/")
        try:
            path.mkdir(mode=0o700)
        except OSError:
            return None
        try:
            if self.owner is not None:
                os.chown(path, self.owner, -1)
        except OSError:
            path.rmdir()
            return None
        return path


def _extension(address: tuple[str, int], shared_port_id: str) -> str:
    """Return this side's view of the daemon's address, which binds the name to the connection."""
    host, port = address[:2]
    text = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return text + (_SHARED_PORT + shared_port_id if shared_port_id else "")


def claim_to_be(channel: Channel, user: str) -> bool:
    """Claim to be a user, such as ``condor@example.org``.

    :raises DaemonError: the daemon does not keep to the protocol.
    """
    channel.put_int(_SUCCESS)
    channel.put_string(user)
    channel.end_message()
    result = channel.get_int()
    channel.end_received()
    return result == _SUCCESS


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
