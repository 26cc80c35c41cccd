"""Reads messages: integers and strings from the packets of a connection, within limits."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from negotiator_live.wire.errors import malformed
from negotiator_live.wire.packets import MAX_MESSAGE, MAX_STRING

if TYPE_CHECKING:
    from negotiator_live.wire.packets import PacketSocket

_INT: Final = struct.Struct(">q")
_PACKET: Final = 5  # bytes of a header, counted so that empty packets have an end


class IncomingMessages:
    """The messages of a connection, one after the other."""

    def __init__(self, packets: PacketSocket) -> None:
        self._packets = packets
        self._buffer = bytearray()
        self._place = 0
        self._size = 0
        self._is_last = False
        self.limit = MAX_MESSAGE
        """Bytes that the message may have."""

    @property
    def is_encrypted(self) -> bool:
        """True if strings have their length before them."""
        return self._packets.cipher is not None

    def integer(self) -> int:
        """Return the next integer."""
        self._need(_INT.size)
        (value,) = _INT.unpack_from(self._buffer, self._place)
        self._place += _INT.size
        return int(value)

    def string(self) -> str:
        """Return the next string."""
        raw = self.raw_string()
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise malformed(self._packets.exchange, "a string is not UTF-8") from None

    def raw_string(self) -> bytes:
        """Return the next string as bytes, without the NUL at its end."""
        return self._string_with_length() if self.is_encrypted else self._string_to_nul()

    def _string_with_length(self) -> bytes:
        size = self.integer()
        if not 0 < size <= MAX_STRING:
            raise malformed(self._packets.exchange, f"invalid length of a string ({size})")
        self._need(size)
        text = bytes(self._buffer[self._place : self._place + size])
        if text.find(b"\0") != size - 1:
            raise malformed(self._packets.exchange, "a string has a NUL within, or none at its end")
        self._place += size
        return text[:-1]

    def _string_to_nul(self) -> bytes:
        looked = self._place
        while (end := self._buffer.find(b"\0", looked)) < 0:
            looked = len(self._buffer)
            if looked - self._place > MAX_STRING:
                raise malformed(self._packets.exchange, f"a string has more than {MAX_STRING} bytes")
            before = self._place
            self._fill()
            looked -= before - self._place
        text = bytes(self._buffer[self._place : end])
        self._place = end + 1
        return text

    def take(self, count: int) -> bytes:
        """Return the next bytes."""
        self._need(count)
        data = bytes(self._buffer[self._place : self._place + count])
        self._place += count
        return data

    @property
    def has_more(self) -> bool:
        """True if the message has more bytes; waits for the next packet if that is not known."""
        while self._place == len(self._buffer) and not self._is_last:
            self._fill()
        return self._place < len(self._buffer)

    def end(self) -> None:
        """Finish the message: it must have nothing more."""
        while not self._is_last:
            self._fill()
        if self._place < len(self._buffer):
            raise malformed(
                self._packets.exchange,
                f"a message has {len(self._buffer) - self._place} bytes more than expected",
            )
        self._buffer.clear()
        self._place = self._size = 0
        self._is_last = False

    def piece(self, least: int) -> tuple[bool, bytes]:
        """Return whether the message ends here, and its next bytes: at least so many unless it ends."""
        while not self._is_last and len(self._buffer) - self._place < least:
            self._fill()
        data = bytes(self._buffer[self._place :])
        self._buffer.clear()
        self._place = 0
        return self._is_last, data

    def _need(self, count: int) -> None:
        while len(self._buffer) - self._place < count:
            self._fill()

    def _fill(self) -> None:
        """Append the next packet of the message."""
        if self._is_last:
            raise malformed(self._packets.exchange, "a message is shorter than expected")
        if self._place > len(self._buffer) // 2:
            del self._buffer[: self._place]
            self._place = 0
        self._is_last, payload = self._packets.receive()
        self._size += _PACKET + len(payload)
        if self._size > self.limit:
            raise malformed(self._packets.exchange, f"a message has more than {self.limit} bytes")
        self._buffer += payload
