"""Accepts connections, from a listening socket or through condor_shared_port, and serves a bounded number of them at the same time.

A peer of condor_shared_port connects to that, which sends the open connection over a local socket. Each connection is a handshake and a
command; failures are logged. Source: ``shared_port_endpoint.cpp``.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import select
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import attrs

from negotiator.plugin import NegotiatorError, PoolControl, PoolError, printable
from negotiator_live.daemon.access import CommandAccess
from negotiator_live.daemon.commands import HANDLERS
from negotiator_live.daemon.request import AdsReader, CommandRequest
from negotiator_live.security.errors import UnknownSessionError
from negotiator_live.security.server.handshake import AcceptedCommand, SecureServer
from negotiator_live.wire.addresses import AddressError, DaemonAddress, Endpoint
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import ConnectionClosedError, DaemonError
from negotiator_live.wire.exchange import DaemonKind, Deadline, Exchange

AT_ONCE: Final = 16
"""Connections that are served at the same time: a peer that stalls costs one of them for one timeout."""

WAITING: Final = 64
"""Connections that wait to be served; further ones are closed at once."""

_BACKLOG: Final = 128
_PAUSE: Final = 0.05  # seconds after a connection that could not be accepted

#: Serves a connection from a host and a port.
ConnectionServer = Callable[[socket.socket, str, int], None]
_PASS_SOCKET: Final = 76
#: The whole message before a connection: its last packet, with the command alone.
_MESSAGE: Final = b"\1" + (8).to_bytes(4, "big") + _PASS_SOCKET.to_bytes(8, "big")
_PATIENCE: Final = 5.0  # seconds
_ADDRESS: Final = re.compile(r'^\s*MyAddress\s*=\s*"(<[^"\s]*>)"\s*$', re.MULTILINE | re.IGNORECASE)
_LONGEST: Final = 1 << 16
#: Of a private network, whose addresses do not name this daemon.
_PRIVATE: Final = frozenset({"PrivAddr", "PrivNet"})
MAX_REQUEST: Final = 1 << 18
"""Bytes of a message of a peer."""
_ANSWER: Final = 0.5  # of the time of a connection: how long a command waits for its answer


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address; port 0 is any that is free.

    :raises OSError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=_BACKLOG)


class Listener:
    """Accepts connections in a thread of its own, from ``begin`` until it is closed. Takes over the socket.

    All threads start at the beginning: no connection needs one that the machine then refuses. Another descriptor of the same
    socket stays usable after the end.
    """

    def __init__(self, listening: socket.socket, serve: ConnectionServer) -> None:
        self._listening, self._serve = listening, serve
        self._listening.setblocking(False)  # the peer of a connection may be gone before it is accepted
        self._waking, self._wakes = socket.socketpair()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._closed = threading.Event()
        self._accepted: queue.SimpleQueue[tuple[socket.socket, str, int] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._accept, name="commands", daemon=True)

    def begin(self) -> None:
        """Accept connections from now on.

        :raises RuntimeError: the threads cannot be started.
        """
        for number in range(AT_ONCE):
            threading.Thread(target=self._work, name=f"command_{number}", daemon=True).start()
        self._thread.start()

    @property
    def endpoint(self) -> tuple[str, int]:
        """The host and the port where the socket listens."""
        host, port = self._listening.getsockname()[:2]
        return str(host), int(port)

    def close(self) -> None:
        """Accept no more connections, and end those that are being served."""
        with self._lock:
            self._closed.set()
            still_open = list(self._open)
        self._wakes.close()
        for each in still_open:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        if self._thread.is_alive():
            self._thread.join()
        for _ in range(AT_ONCE):
            self._accepted.put(None)
        self._waking.close()
        self._listening.close()
        for each in still_open:
            each.close()

    def _accept(self) -> None:
        waiting = select.poll()
        waiting.register(self._listening, select.POLLIN)
        waiting.register(self._waking, select.POLLIN)
        while True:
            waiting.poll()
            if self._closed.is_set():
                return
            try:
                connection, address = self._listening.accept()
            except OSError:
                time.sleep(_PAUSE)  # the peer is gone, or there are too many open files
                continue
            with self._lock:
                is_refused = self._closed.is_set() or len(self._open) >= AT_ONCE + WAITING
                if not is_refused:
                    self._open.add(connection)
            if is_refused:
                connection.close()
            else:
                host, port = (
                    address[:2] if isinstance(address, tuple) else ("", 0)
                )  # a local socket has a name
                self._accepted.put((connection, str(host), int(port)))

    def _work(self) -> None:
        while (accepted := self._accepted.get()) is not None:
            self._served(*accepted)

    def _served(self, connection: socket.socket, host: str, port: int) -> None:
        try:
            if not self._closed.is_set():
                self._serve(connection, host, port)
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()


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


@attrs.frozen
class CommandServer:
    """Carries out the commands of peers; may be used by several threads.

    ``timeout`` are the seconds for one connection. ``report`` logs a sentence about a peer. ``negotiator_ads`` returns the ads
    of this program.
    """

    secure: SecureServer
    access: CommandAccess
    control: PoolControl
    report: Callable[[str], None]
    negotiator_ads: AdsReader
    timeout: float = 20.0
    _turn: threading.Semaphore = attrs.field(factory=lambda: threading.Semaphore(1), init=False)

    def serve(self, connection: socket.socket, host: str, port: int) -> None:
        """Serve a connection from a peer at this address, and close it. Nothing is raised."""
        address = DaemonAddress(Endpoint(host, port))
        exchange = Exchange(DaemonKind.CLIENT, "", address, DaemonCommand.DC_AUTHENTICATE)
        with Channel(connection, exchange, Deadline(self.timeout)) as channel:
            channel.incoming.limit = MAX_REQUEST
            try:
                accepted = self.secure.accept(channel, self.access)
                if accepted is not None:
                    self._run(accepted, channel)
            except UnknownSessionError:
                pass  # the client begins a new one
            except ConnectionClosedError as error:
                if channel.packets.answered:  # not a mere look whether the port is open
                    self.report(str(error))
            except DaemonError as error:
                self.report(str(error))
            except NegotiatorError as error:
                self.report(f"{channel.exchange}: {printable(str(error))}")
            except Exception as error:  # noqa: BLE001 - whatever a peer sends, it costs its connection only
                self.report(
                    f"{channel.exchange}: internal error: {type(error).__name__}: {printable(str(error))}"
                )

    def _run(self, accepted: AcceptedCommand, channel: Channel) -> None:
        wait = self.timeout * _ANSWER
        request = CommandRequest(accepted, channel, self.control, wait, self.negotiator_ads, self._turn)
        HANDLERS[accepted.command](request)
