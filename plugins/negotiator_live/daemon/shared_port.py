"""Connections that condor_shared_port passes on to the daemons behind the pool's port.

The peer connects to condor_shared_port, which sends the open connection over a local socket. Source: ``shared_port_endpoint.cpp``.
"""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path
from typing import Final

import attrs

from negotiator.plugin import PoolError, printable
from negotiator_live.daemon.listener import ConnectionServer
from negotiator_live.wire.addresses import AddressError, DaemonAddress

_PASS_SOCKET: Final = 76
#: The whole message before a connection: its last packet, with the command alone.
_MESSAGE: Final = b"\1" + (8).to_bytes(4, "big") + _PASS_SOCKET.to_bytes(8, "big")
_PATIENCE: Final = 5.0  # seconds
_ADDRESS: Final = re.compile(r'^\s*MyAddress\s*=\s*"(<[^"\s]*>)"\s*$', re.MULTILINE | re.IGNORECASE)
_LONGEST: Final = 1 << 16
#: Of a private network, whose addresses do not name this daemon.
_PRIVATE: Final = frozenset({"PrivAddr", "PrivNet"})


def shared_port_address(ad_file: str, shared_port_id: str) -> DaemonAddress:
    """Return the address of a daemon behind the shared port.

    :param ad_file: of condor_shared_port (``SHARED_PORT_DAEMON_AD_FILE``).
    :raises PoolError: it cannot be read, or has no address.
    """
    try:
        with Path(ad_file).open(encoding="utf-8", errors="replace") as opened:
            found = _ADDRESS.search(opened.read(_LONGEST))
        address = DaemonAddress.parse(found[1] if found else "")
    except (OSError, AddressError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PoolError(
            f"the address of condor_shared_port is not in {printable(ad_file)} ({reason}): see whether it runs, or set"
            " USE_SHARED_PORT = False and restart condor_master"
        ) from error
    public = {name: text for name, text in address.parameters.items() if name not in _PRIVATE}
    return attrs.evolve(address, parameters={**public, "sock": shared_port_id, "noUDP": ""})


def serving_passed(serve: ConnectionServer) -> ConnectionServer:
    """Return what serves the connection that condor_shared_port sends over the one that it gets."""

    def passed(connection: socket.socket, _host: str, _port: int) -> None:
        received = received_socket(connection)
        if received is None:
            return
        with received:
            try:
                host, port = received.getpeername()[:2]
            except OSError:
                return  # the peer is gone
            serve(received, str(host), int(port))

    return passed


def received_socket(connection: socket.socket) -> socket.socket | None:
    """Return the TCP connection that is sent over a local one; None if none comes in time."""
    connection.settimeout(_PATIENCE)
    try:
        if _received(connection, len(_MESSAGE)) != _MESSAGE:
            return None
        _, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
    except OSError:
        return None
    if not descriptors:
        return None
    try:
        received = socket.socket(fileno=descriptors[0])
    except OSError:  # another kind of file
        os.close(descriptors[0])
        return None
    if received.family in {socket.AF_INET, socket.AF_INET6} and received.type == socket.SOCK_STREAM:
        return received
    received.close()
    return None


def _received(connection: socket.socket, size: int) -> bytes:
    """Return so many bytes: not one more, for the descriptor comes with the next one."""
    found = b""
    while len(found) < size and (more := connection.recv(size - len(found))):
        found += more
    return found
