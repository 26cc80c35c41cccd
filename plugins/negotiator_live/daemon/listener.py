"""Accepts connections from a listening socket, whoever opened that, and serves a bounded number of them at the same time."""

from __future__ import annotations

import contextlib
import queue
import select
import socket
import threading
import time
from collections.abc import Callable
from typing import Final

AT_ONCE: Final = 16
"""Connections that are served at the same time: a peer that stalls costs one of them for one timeout."""

WAITING: Final = 64
"""Connections that wait to be served; further ones are closed at once."""

_BACKLOG: Final = 128
_PAUSE: Final = 0.05  # seconds after a connection that could not be accepted

#: Serves a connection from a host and a port.
ConnectionServer = Callable[[socket.socket, str, int], None]


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
