"""CEDAR messages for tests: channels over a pair of sockets, and the bytes of packets."""

import socket
import struct
from contextlib import contextmanager

from negotiator_live.security.client import SecureClient
from negotiator_live.security.policy import ClientPolicy, Requirement
from negotiator_live.wire.addresses import DaemonAddress
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.exchange import DaemonKind, Deadline, Exchange

ADDRESS = DaemonAddress.parse("<127.0.0.1:9618>")
IN_THE_CLEAR = SecureClient(ClientPolicy(negotiation=Requirement.NEVER))
EXCHANGE = Exchange(DaemonKind.COLLECTOR, "cm.example.org", ADDRESS, DaemonCommand.QUERY_STARTD_ADS)


@contextmanager
def channels(seconds=20.0):
    """Yield both ends of a connection."""
    ours, theirs = socket.socketpair()
    with (
        Channel(ours, EXCHANGE, Deadline(seconds)) as one,
        Channel(theirs, EXCHANGE, Deadline(seconds)) as other,
    ):
        yield one, other


@contextmanager
def receiving(data, seconds=20.0):
    """Yield a channel whose other side sent these bytes and closed the connection."""
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    with theirs:
        theirs.sendall(data)
    with Channel(ours, EXCHANGE, Deadline(seconds)) as channel:
        yield channel


def packet(payload, end=1):
    """Return a packet in the clear."""
    return struct.pack(">BI", end, len(payload)) + payload


def integer(value):
    """Return an integer as it is sent."""
    return struct.pack(">q", value)


def ad(*texts, count=None, types=(b"", b"")):
    """Return an ad as it is sent in the clear."""
    strings = b"".join(each + b"\0" for each in (*texts, *types))
    return integer(len(texts) if count is None else count) + strings


def answer(*ads):
    """Return the packet of an answer to a query."""
    return packet(b"".join(integer(1) + each for each in ads) + integer(0))
