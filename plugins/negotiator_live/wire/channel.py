"""A connection to a daemon, over a shared port if its address has one: messages of integers, strings and ads, in both directions and for both roles."""

from __future__ import annotations

import math
import socket
import struct
from collections.abc import Mapping
from typing import Final, Self

from negotiator_live.wire.ads import SECRET_MARKER, WireAd, is_attribute_name
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import UnreachableError, UnsendableError, malformed, timed_out
from negotiator_live.wire.exchange import Deadline, Exchange
from negotiator_live.wire.incoming import IncomingMessages
from negotiator_live.wire.packets import MAX_AD, MAX_ATTRIBUTES, MAX_MESSAGE, PacketCipher, PacketSocket

_INT: Final = struct.Struct(">q")
_FRACTION: Final = 2_147_483_647  # of a real: its fraction travels as this many parts of 1
_MOST_BITS: Final = 1100  # of an exponent of a real
_NULL: Final = b"\xad"
_CLIENT: Final = "negotiator"
_BUFFER: Final = 1 << 20


class Channel:
    """Sends and receives messages until a deadline.

    A message that is sent is collected until ``end_message``. All errors are ``DaemonError``. Not for use by two threads
    at once. As a context manager it closes the connection.
    """

    def __init__(self, connected: socket.socket, exchange: Exchange, deadline: Deadline) -> None:
        self.packets = PacketSocket(connected, exchange, deadline)
        self.incoming = IncomingMessages(self.packets)
        self._outgoing = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and drop its key."""
        self.packets.cipher = None
        self.packets.socket.close()

    @property
    def exchange(self) -> Exchange:
        """The command that is being carried out."""
        return self.packets.exchange

    @property
    def deadline(self) -> Deadline:
        """When the exchange must be over."""
        return self.packets.deadline

    @property
    def is_encrypted(self) -> bool:
        """True if everything is sent encrypted."""
        return self.packets.cipher is not None

    @property
    def has_ended(self) -> bool:
        """True if the other side closed the idle connection."""
        return self.packets.has_ended

    def begin(self, exchange: Exchange, deadline: Deadline) -> None:
        """Begin another command on the same connection."""
        self.packets.exchange = exchange
        self.packets.deadline = deadline
        self.packets.answered = False
        self.incoming.limit = MAX_MESSAGE

    def encrypt(self, cipher: PacketCipher) -> None:
        """Encrypt everything from here on, in both directions."""
        self.packets.cipher = cipher

    def put_int(self, value: int) -> None:
        """Add an integer to the message."""
        self._outgoing += _INT.pack(value)

    def put_string(self, text: str) -> None:
        """Add a string to the message.

        :raises UnsendableError: it has a NUL, or is not Unicode.
        """
        try:
            raw = text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise UnsendableError(self.exchange, "a text that would be sent is not Unicode") from None
        if b"\0" in raw:
            raise UnsendableError(self.exchange, "a text that would be sent has a NUL")
        if self.is_encrypted:
            self.put_int(len(raw) + 1)
        self._outgoing += raw + b"\0"

    def put_null(self) -> None:
        """Add the string that stands for no value (``Stream::put_nullstr``)."""
        if self.is_encrypted:
            self.put_int(len(_NULL))
        self._outgoing += _NULL

    def put_bytes(self, data: bytes) -> None:
        """Add bytes to the message, whose number the other side knows."""
        self._outgoing += data

    def put_real(self, value: float) -> None:
        """Add a real to the message: a fraction of about nine digits, and an exponent of 2 (``Stream::put(double)``)."""
        fraction, exponent = math.frexp(value)
        self.put_int(int(fraction * _FRACTION))
        self.put_int(exponent)

    def put_ad(self, ad: Mapping[str, str], *, types: bool = True) -> None:
        """Add an ad to the message: the text of an expression for each name.

        :param types: add MyType and TargetType behind the attributes, as most commands do.
        :raises UnsendableError: a name is invalid, or a text has a NUL.
        """
        self.put_int(len(ad))
        for name, expression in ad.items():
            if not is_attribute_name(name):
                raise UnsendableError(self.exchange, "the name of an attribute that would be sent is invalid")
            self.put_string(f"{name} = {expression}")
        if types:
            self.put_string("")  # MyType and TargetType are among the attributes
            self.put_string("")

    def end_message(self) -> None:
        """Send the message."""
        message = bytes(self._outgoing)
        self._outgoing.clear()
        self.packets.send(message)

    def get_int(self) -> int:
        """Return the next integer of the message that is being received."""
        return self.incoming.integer()

    def get_real(self) -> float:
        """Return the next real of the message: the shortest decimal that the sender may have meant.

        :raises MalformedMessageError: its fraction or its exponent is out of range.
        """
        fraction, exponent = self.get_int(), self.get_int()
        if abs(fraction) > _FRACTION or abs(exponent) > _MOST_BITS:
            raise malformed(self.exchange, "a real is out of range")
        if fraction == 0:
            return 0.0
        # The sender cuts the fraction: 500.0 arrives as 499.9999998.
        low, high = (
            math.ldexp(each / _FRACTION, min(exponent, 1023)) for each in (abs(fraction), abs(fraction) + 1)
        )
        return math.copysign(_shortest(low, high), fraction)

    def get_string(self) -> str:
        """Return the next string of the message."""
        return self.incoming.string()

    def get_bytes(self, count: int, most: int) -> bytes:
        """Return the next bytes of the message.

        :raises MalformedMessageError: there are to be more than ``most``.
        """
        if not 0 <= count <= most:
            raise malformed(self.exchange, f"invalid number of bytes ({count})")
        return self.incoming.take(count)

    def get_ad(self, *, types: bool = True) -> WireAd:
        """Return the next ad of the message.

        :param types: its MyType and TargetType follow the attributes.
        """
        count = self.get_int()
        if not 0 <= count <= MAX_ATTRIBUTES:
            raise malformed(self.exchange, f"invalid number of attributes ({count})")
        size, expressions = 0, {}
        for _ in range(count):
            text = self.get_string()
            if text == SECRET_MARKER:
                text = self.get_string()
            name, equals, expression = text.partition("=")
            name = name.strip()
            if not equals or not is_attribute_name(name):
                raise malformed(self.exchange, "an attribute of an ad is not of the form name = expression")
            expressions[name] = expression.strip()
            size += len(text)
            if size > MAX_AD:
                raise malformed(self.exchange, f"an ad has more than {MAX_AD} bytes")
        for name in ("MyType", "TargetType") if types else ():  # sent here by old versions only
            text = self.get_string()
            if is_attribute_name(text):
                expressions.setdefault(name, f'"{text}"')
        return WireAd(expressions)

    @property
    def has_more(self) -> bool:
        """True if the message that is being received has more bytes."""
        return self.incoming.has_more

    def end_received(self) -> None:
        """Finish the message that is being received."""
        self.incoming.end()


def _shortest(low: float, high: float) -> float:
    """Return the number with the fewest digits in an interval."""
    middle = low + (high - low) / 2
    candidates = (float(f"{middle:.{digits}g}") for digits in range(1, 17))
    return next((each for each in candidates if low <= each <= high), low)


def connect(exchange: Exchange, deadline: Deadline) -> Channel:
    """Return a connection to the daemon; no command was sent yet.

    :raises DaemonError: it cannot be reached in time.
    """
    channel = Channel(_connected(exchange, deadline), exchange, deadline)
    if shared := exchange.address.shared_port_id:
        try:
            _pass_on(channel, shared)
        except BaseException:
            channel.close()
            raise
    return channel


def _connected(exchange: Exchange, deadline: Deadline) -> socket.socket:
    problems = []
    for endpoint in exchange.address.endpoints:
        remaining = deadline.remaining()
        if remaining <= 0:
            raise timed_out(exchange, deadline, "connecting")
        try:
            connected = socket.create_connection((endpoint.host, endpoint.port), remaining)
        except TimeoutError:
            problems.append(f"{endpoint}: timed out")
        except (OSError, UnicodeError) as error:
            problems.append(f"{endpoint}: {getattr(error, 'strerror', None) or error}")
        else:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
            return connected
    raise UnreachableError(
        exchange,
        f"no connection ({', '.join(problems)})",
        f"see whether the {exchange.daemon} runs and a firewall lets this host connect",
    )


def _pass_on(channel: Channel, name: str) -> None:
    channel.put_int(DaemonCommand.SHARED_PORT_CONNECT)
    channel.put_string(name)
    channel.put_string(_CLIENT)
    channel.put_int(math.ceil(channel.deadline.remaining()))
    channel.put_int(0)  # further arguments
    channel.end_message()
    channel.packets.restart_digests()
