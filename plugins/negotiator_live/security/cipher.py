"""AES-256-GCM for the packets of a connection, for either role, and keys of sessions: how they are agreed on, and kept from showing.

Each direction has a random 16-byte IV, which is sent with its first packet; the number of the packet is added to its first
four bytes. The header of a packet is authenticated with it, and with the first one the digests of the handshake too.
Source: ``condor_crypt_aesgcm.cpp``, ``reli_sock.cpp``.
"""

from __future__ import annotations

import base64
import binascii
import os
import struct
from collections.abc import Callable
from typing import Final, Never

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_SIZE: Final = 32
"""Bytes of a key of AES-256."""
_IV: Final = 16
_TAG: Final = 16
_HEADER: Final = struct.Struct(">BI")
_COUNTER: Final = struct.Struct(">I")
_MOST_PACKETS: Final = 0xFFFFFFFF  # an IV must not be used again


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


class AesGcmCipher:
    """Encrypts what is sent, decrypts what is received.

    :param digests: SHA-256 of all bytes that this side sent, and received, before.
    :param random_bytes: makes the IV.
    """

    __slots__ = ("__aead", "_iv", "_peer_iv", "_received", "_received_digests", "_sent", "_sent_digests")

    def __init__(
        self, key: SessionKey, digests: tuple[bytes, bytes], random_bytes: Callable[[int], bytes] = os.urandom
    ) -> None:
        sent, received = digests
        self.__aead = AESGCM(key.reveal())
        self._sent_digests, self._received_digests = sent + received, received + sent
        self._iv, self._peer_iv = random_bytes(_IV), b""
        self._sent = self._received = 0

    def header(self, end: int, size: int) -> bytes:
        """Return the header of the next packet to be sent, for a payload of ``size`` bytes."""
        return _HEADER.pack(end, size + _TAG + (0 if self._sent else _IV))

    def seal(self, header: bytes, payload: bytes) -> bytes:
        """Return what is sent after the header.

        :raises OverflowError: the connection had as many packets as one key serves.
        """
        first = self._sent == 0
        authenticated = self._sent_digests + header if first else header
        sealed = self.__aead.encrypt(_numbered(self._iv, self._sent), payload, authenticated)
        self._sent += 1
        return self._iv + sealed if first else sealed

    def open(self, header: bytes, body: bytes) -> bytes | None:
        """Return the payload of a packet, None if it was not sealed with this key, or not as the next packet."""
        first = self._received == 0
        if first:
            self._peer_iv, body = body[:_IV], body[_IV:]
            header = self._received_digests + header
        if len(self._peer_iv) < _IV or len(body) < _TAG or self._received >= _MOST_PACKETS:
            return None
        try:
            payload = self.__aead.decrypt(_numbered(self._peer_iv, self._received), body, header)
        except InvalidTag:
            return None
        self._received += 1
        return payload

    def __repr__(self) -> str:
        return f"<AesGcmCipher after {self._sent} packets sent, {self._received} received>"


def _numbered(iv: bytes, number: int) -> bytes:
    if number >= _MOST_PACKETS:
        raise OverflowError("a connection has had too many packets for one key")
    (base,) = _COUNTER.unpack(iv[:4])
    return _COUNTER.pack((base + number) & 0xFFFFFFFF) + iv[4:]
