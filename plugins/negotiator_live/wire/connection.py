"""Connects to a daemon, over a shared port if its address has one."""

from __future__ import annotations

import math
import socket
from typing import Final

from negotiator_live.wire.channel import Channel
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import UnreachableError, timed_out
from negotiator_live.wire.exchange import Deadline, Exchange

_CLIENT: Final = "negotiator"
_BUFFER: Final = 1 << 20


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
