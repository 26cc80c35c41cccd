"""A TCP proxy in front of a socket, which can swallow everything without closing a connection, as a broken network does."""

import socket
import threading
from contextlib import contextmanager


class SwallowingProxy:
    """Forwards bytes in both directions until ``swallow`` is called, and again after ``forward``."""

    def __init__(self, target):
        self._target, self._open = target, []
        self._forwarding = threading.Event()
        self._forwarding.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def swallow(self):
        """Forward nothing more; who sends or connects gets no answer."""
        self._forwarding.clear()

    def forward(self):
        """Forward the bytes of new connections again."""
        self._forwarding.set()

    def close(self):
        """Close all connections."""
        for each in (self._listener, *self._open):
            each.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._target)
            self._open += [client, server]
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=(one, other), daemon=True).start()

    def _copy(self, source, sink):
        try:
            while content := source.recv(1 << 16):
                if self._forwarding.is_set():
                    sink.sendall(content)
            if self._forwarding.is_set():
                sink.close()
        except OSError:
            return


@contextmanager
def swallowing_proxy(target):
    """Run a proxy in front of a socket of a path while the block runs."""
    proxy = SwallowingProxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
