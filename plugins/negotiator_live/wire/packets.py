"""Packets on a socket: a byte (1 at the end of a message), the length of the rest as 4 bytes, the payload.

A ``PacketCipher`` encrypts payloads in both directions, for either role. Until one is set, digests of all that was sent and
received are computed: they authenticate the handshake. Source: ``reli_sock.cpp`` (``RcvMsg::rcv_packet``,
``SndMsg::snd_packet``). What a daemon may send is limited: daemons are peers, not friends.
"""

from __future__ import annotations

import hashlib
import socket
import struct
from typing import Final, Protocol

from negotiator_live.wire.errors import UnreachableError, closed, malformed, timed_out
from negotiator_live.wire.exchange import Deadline, Exchange

MAX_MESSAGE: Final = 16 << 20
"""Bytes of one message, headers of packets included; answers to queries have the limit of ``MAX_ANSWER``."""

MAX_ANSWER: Final = 4 << 30
"""Bytes of one answer to a query; it is read piece by piece."""

MAX_AD: Final = 4 << 20
"""Bytes of one ad."""

MAX_STRING: Final = 1 << 20
"""Bytes of one string."""

MAX_ATTRIBUTES: Final = 10_000
"""Attributes of one ad."""


MAX_PACKET: Final = 1 << 20
"""Bytes of a payload that HTCondor accepts."""

CUT: Final = 1 << 16
"""Bytes of a payload that are sent at most."""

_HEADER: Final = struct.Struct(">BI")
_RECEIVED: Final = 1 << 18  # bytes that are read from the socket at once
_ENDS: Final = (0, 1)


class PacketCipher(Protocol):
    """Encrypts and decrypts the packets of one connection, in their order."""

    def header(self, end: int, size: int) -> bytes:
        """Return the header of the next packet to be sent, for a payload of ``size`` bytes."""

    def seal(self, header: bytes, payload: bytes) -> bytes:
        """Return what is sent after the header."""

    def open(self, header: bytes, body: bytes) -> bytes | None:
        """Return the payload of a packet, None if it was not sealed with this session's key."""


class PacketSocket:
    """The packets of a connection, within a deadline."""

    def __init__(self, connected: socket.socket, exchange: Exchange, deadline: Deadline) -> None:
        self.socket = connected
        self.exchange = exchange
        self.deadline = deadline
        self.answered = False
        """True once a packet came, since the exchange began."""
        self.cipher: PacketCipher | None = None
        self._pending = b""
        self._place = 0
        self._in_handshake = True
        self.restart_digests()

    def restart_digests(self) -> None:
        """Forget what was sent and received so far: a handshake begins after the connection through a shared port."""
        self._sent, self._received = hashlib.sha256(), hashlib.sha256()

    def end_handshake(self) -> None:
        """Digest no more: the connection stays in the clear."""
        self._in_handshake = False

    @property
    def digests(self) -> tuple[bytes, bytes]:
        """SHA-256 of all bytes in the clear that were sent, and received."""
        return self._sent.digest(), self._received.digest()

    def peer_address(self) -> tuple[str, int]:
        """Return the address and port of the other side.

        :raises ConnectionClosedError: the connection was closed.
        """
        try:
            host, port = self.socket.getpeername()[:2]
        except OSError:
            raise closed(self.exchange, answered=self.answered, in_handshake=self._in_handshake) from None
        return str(host), int(port)

    def own_address(self) -> tuple[str, int]:
        """Return the address and port of this side.

        :raises ConnectionClosedError: the connection was closed, or is none of the internet protocol.
        """
        try:
            host, port = self.socket.getsockname()[:2]
        except (OSError, ValueError):
            raise closed(self.exchange, answered=self.answered, in_handshake=self._in_handshake) from None
        return str(host), int(port)

    @property
    def has_ended(self) -> bool:
        """True if the other side closed a connection of which nothing is expected now."""
        if self._place < len(self._pending):
            return False
        self.socket.settimeout(0)
        try:
            return not self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def send(self, message: bytes) -> None:
        """Send a message, in as many packets as it needs."""
        packets = bytearray()
        for start in range(0, len(message), CUT) or (0,):
            payload = message[start : start + CUT]
            end = int(start + CUT >= len(message))
            if self.cipher is None:
                packet = _HEADER.pack(end, len(payload)) + payload
                if self._in_handshake:
                    self._sent.update(packet)
                packets += packet
            else:
                header = self.cipher.header(end, len(payload))
                packets += header + self.cipher.seal(header, payload)
        try:
            self._await("sending")
            self.socket.sendall(packets)
        except TimeoutError:
            raise timed_out(self.exchange, self.deadline, "sending") from None
        except OSError as error:
            raise self._lost(error) from None

    def receive(self) -> tuple[bool, bytes]:
        """Return whether the next packet ends its message, and its payload."""
        header = self._take(_HEADER.size)
        end, size = _HEADER.unpack(header)
        if end not in _ENDS or size > MAX_PACKET:
            raise malformed(self.exchange, f"invalid header of a packet (end {end}, {size} bytes)")
        body = self._take(size)
        self.answered = True
        if self.cipher is None:
            if self._in_handshake:
                self._received.update(header)
                self._received.update(body)
            return end == 1, body
        payload = self.cipher.open(header, body)
        if payload is None:
            raise malformed(self.exchange, "a packet was not encrypted with the key of this session")
        return end == 1, payload

    def _take(self, count: int) -> bytes:
        """Return the next bytes of the connection."""
        start, end = self._place, self._place + count
        if end > len(self._pending):
            parts = [self._pending[start:]]
            missing = end - len(self._pending)
            while missing > 0:
                parts.append(self._read(max(missing, _RECEIVED)))
                missing -= len(parts[-1])
            self._pending = b"".join(parts)
            start, end = 0, count
        self._place = end
        return self._pending[start:end]

    def _read(self, most: int) -> bytes:
        try:
            self._await("waiting")
            data = self.socket.recv(most)
        except TimeoutError:
            raise timed_out(self.exchange, self.deadline, "waiting") from None
        except OSError as error:
            raise self._lost(error) from None
        if not data:
            raise closed(self.exchange, answered=self.answered, in_handshake=self._in_handshake)
        return data

    def _await(self, doing: str) -> None:
        """Let the next operation of the socket last until the deadline."""
        remaining = self.deadline.remaining()
        if remaining <= 0:
            raise timed_out(self.exchange, self.deadline, doing)
        self.socket.settimeout(remaining)

    def _lost(self, error: OSError) -> Exception:
        if isinstance(error, ConnectionError):
            return closed(self.exchange, answered=self.answered, in_handshake=self._in_handshake)
        return UnreachableError(self.exchange, f"the connection broke: {error.strerror or error}")
