"""Keys of sessions: how they are agreed on, and how they are kept from showing."""

from __future__ import annotations

import base64
import binascii
from typing import Final, Never

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_SIZE: Final = 32
"""Bytes of a key of AES-256."""


class SessionKey:
    """The key of a session. It does not show itself in messages, dumps and tracebacks."""

    __slots__ = ("__key",)

    def __init__(self, key: bytes) -> None:
        self.__key = key

    def reveal(self) -> bytes:
        """Return the key."""
        return self.__key

    def __repr__(self) -> str:
        return "<SessionKey>"

    def __reduce_ex__(self, _protocol: object) -> Never:
        raise TypeError("a key cannot be copied or serialised")


def derived_key(secret: bytes, salt: bytes = b"htcondor", info: bytes = b"keygen") -> SessionKey:
    """Return the key that HKDF with SHA-256 derives from a secret."""
    return SessionKey(HKDF(hashes.SHA256(), KEY_SIZE, salt, info).derive(secret))


class KeyExchange:
    """One side of an exchange by ECDH on P-256; the private key is used once."""

    __slots__ = ("__private", "public")

    def __init__(self) -> None:
        self.__private: ec.EllipticCurvePrivateKey | None = ec.generate_private_key(ec.SECP256R1())
        point = self.__private.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        self.public = base64.b64encode(point).decode("ascii")
        """What the other side needs, in base64."""

    def agreed_key(self, public: str) -> SessionKey | None:
        """Return the key that both sides derive, None if the other side's ``public`` is invalid; drop the private key."""
        private, self.__private = self.__private, None
        if private is None:
            return None
        try:
            point = base64.b64decode(public, validate=True)
            peer = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
        except (ValueError, binascii.Error):
            return None
        return derived_key(private.exchange(ec.ECDH(), peer))
