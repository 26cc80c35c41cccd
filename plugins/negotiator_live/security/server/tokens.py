"""Verifies a client by its token: both sides show that they know the token's signature, which is not sent (AKEP2).

The server signs the token again with the pool's key. Source: ``condor_auth_passwd.cpp`` (version 2 of its protocol).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import time
from collections.abc import Callable
from typing import Any, Final

import attrs

from negotiator_live.security.cipher import SessionKey, derived_key
from negotiator_live.security.methods import GOOD, LONGEST_MAC, NONCE, get_bytes, put_bytes, token_mac
from negotiator_live.security.server.peer import Level, Peer, is_user
from negotiator_live.security.server.signing_keys import SigningKeys
from negotiator_live.security.tokens import SEED_K
from negotiator_live.wire.channel import Channel

_ERROR: Final = -1
_LONGEST: Final = 1 << 14  # characters of a token
_SCOPE: Final = "condor:/"
_ALGORITHM: Final = "HS256"


@attrs.frozen
class _Claims:
    """What a token says, once its signature is known to be right."""

    subject: str
    scopes: tuple[str, ...]

    def peer(self) -> Peer:
        """Return who its owner is, limited to the levels of the scopes."""
        peer = Peer(self.subject, "IDTOKENS")
        levels = [each.removeprefix(_SCOPE) for each in self.scopes if each.startswith(_SCOPE)]
        known = Level.__members__
        return peer.limited_to(known[each] for each in levels if each in known) if levels else peer


@attrs.frozen
class TokenVerifier:
    """Accepts tokens of a trust domain that one of the pool's keys signed.

    ``clock`` returns the seconds since the epoch.
    """

    keys: SigningKeys
    trust_domain: str
    clock: Callable[[], float] = time.time
    random_bytes: Callable[[int], bytes] = os.urandom

    def verify(self, channel: Channel) -> Peer | None:
        """Return the owner of the client's token; None if it has not proved to have one.

        :raises DaemonError: the client does not keep to the protocol.
        """
        status = channel.get_int()
        channel.get_int()  # the length of the name, which the string has too
        name, signed = channel.get_string(), channel.get_string()
        theirs = get_bytes(channel, NONCE)
        channel.end_received()
        claims = self._claims(signed)
        key = self._shared_key(signed)
        is_good = status == GOOD and claims is not None and key is not None and len(theirs) == NONCE
        ours = self.random_bytes(NONCE)
        self._challenge(channel, name, theirs, ours, key if is_good else None)
        proof = self._proof(channel, name, ours)
        if not is_good or claims is None or key is None or proof is None or name != claims.subject:
            return None
        expected = token_mac(key, name.encode() + b"\0" + ours)
        return claims.peer() if hmac.compare_digest(proof, expected) else None

    def _challenge(
        self, channel: Channel, name: str, theirs: bytes, ours: bytes, key: SessionKey | None
    ) -> None:
        """Send both names, both nonces and the MAC of them; without a key, that the token is not accepted."""
        own = f"condor_pool@{self.trust_domain}"
        channel.put_int(GOOD if key else _ERROR)
        for text in (name, own) if key else ("", ""):
            channel.put_int(len(text.encode()))
            channel.put_string(text)
        mac = token_mac(key, f"{name} {own}".encode() + b"\0" + theirs + ours) if key else b""
        for data in (theirs, ours, mac) if key else (b"", b"", b""):
            put_bytes(channel, data)
        channel.end_message()

    @staticmethod
    def _proof(channel: Channel, name: str, nonce: bytes) -> bytes | None:
        """Return the client's MAC of this side's nonce; None if it gave up, or answered to something else."""
        status = channel.get_int()
        channel.get_int()
        same, echo, proof = channel.get_string(), get_bytes(channel, NONCE), get_bytes(channel, LONGEST_MAC)
        channel.end_received()
        return proof if status == GOOD and same == name and hmac.compare_digest(echo, nonce) else None

    def _shared_key(self, signed: str) -> SessionKey | None:
        """Return the key K that the signature of a token leads to; None if no key of this pool signs such tokens."""
        header = _json(signed.partition(".")[0])
        key_id = header.get("kid")
        if header.get("alg") != _ALGORITHM or not isinstance(key_id, str):
            return None
        signing = self.keys.find(key_id)
        if signing is None:
            return None
        signature = hmac.digest(signing.reveal(), signed.encode(), hashlib.sha256)
        return derived_key(signature, SEED_K + signed.encode(), b"master ka")

    def _claims(self, signed: str) -> _Claims | None:
        """Return what a token says; None if it is malformed, of another trust domain, or not valid at this time."""
        if len(signed) > _LONGEST or not signed.isascii() or signed.count(".") != 1:
            return None
        payload = _json(signed.partition(".")[2])
        subject, scope = payload.get("sub"), payload.get("scope", "")
        if not isinstance(subject, str) or not isinstance(scope, str) or not payload.get("jti"):
            return None
        if not is_user(subject) or payload.get("iss") != self.trust_domain:
            return None
        if payload.get("cap") or not self._is_valid_now(payload):
            return None
        return _Claims(subject, tuple(scope.split()))

    def _is_valid_now(self, payload: dict[str, Any]) -> bool:
        now = self.clock()
        begins, expires = payload.get("nbf", now), payload.get("exp", now + 1)
        return _is_number(begins) and _is_number(expires) and begins <= now < expires


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _json(part: str) -> dict[str, Any]:
    """Return the object that a part of a token stands for; an empty one if it stands for none."""
    try:
        text = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
        found = json.loads(text)
    except (ValueError, binascii.Error, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
